"""Every method passes the shared suite."""

import pytest

pytest.register_assert_rewrite("conformance")

from conformance import Conformance  # noqa: E402

from becbo import METHODS  # noqa: E402


class TestEveryMethod(Conformance):
    @pytest.fixture(params=METHODS)
    def method(self, request: pytest.FixtureRequest) -> str:
        return request.param

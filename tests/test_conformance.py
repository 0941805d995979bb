"""Every method passes the shared suites."""

import pytest

for suite in ("conformance", "conformance_outputs"):
    pytest.register_assert_rewrite(suite)

from conformance import Conformance  # noqa: E402
from conformance_outputs import ABLE, UNABLE, OutputsConformance, Refusal  # noqa: E402

from becbo import METHODS  # noqa: E402


class TestEveryMethod(Conformance):
    @pytest.fixture(params=METHODS)
    def method(self, request: pytest.FixtureRequest) -> str:
        return request.param


class TestSeveralOutputs(OutputsConformance):
    @pytest.fixture(params=ABLE)
    def method(self, request: pytest.FixtureRequest) -> str:
        return request.param


class TestOneValueOnly(Refusal):
    @pytest.fixture(params=UNABLE)
    def method(self, request: pytest.FixtureRequest) -> str:
        return request.param


def test_the_default_method_is_able() -> None:
    assert "edge" in ABLE and UNABLE

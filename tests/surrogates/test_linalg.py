import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo.errors import BecboError
from becbo.surrogates.linalg import backward, cholesky, extend, forward, inverse, whitener

steady = settings(deadline=None, derandomize=True, max_examples=30)
sizes = given(n=st.integers(1, 8), p=st.integers(1, 4), seed=st.integers(0))


def positive_definite(n, rng):
    A = rng.normal(size=(n, n + 2))
    return A @ A.T + 0.1 * np.eye(n)


@steady
@sizes
def test_factors_and_solves(n, p, seed) -> None:
    rng = np.random.default_rng(seed)
    K, B = positive_definite(n, rng), rng.normal(size=(n, p))
    before = K.copy(), B.copy()
    L = cholesky(K)
    np.testing.assert_allclose(L, np.linalg.cholesky(K), atol=1e-12)  # hence no jitter
    np.testing.assert_allclose(L @ forward(L, B), B, atol=1e-10)
    np.testing.assert_allclose(L.T @ backward(L, B), B, atol=1e-10)
    np.testing.assert_allclose(K @ inverse(L), np.eye(n), atol=1e-9)
    np.testing.assert_array_equal(inverse(L), inverse(L).T)
    np.testing.assert_allclose(whitener(L) @ L, np.eye(n), atol=1e-10)
    np.testing.assert_array_equal(K, before[0])
    np.testing.assert_array_equal(B, before[1])


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_order_does_not_matter(order) -> None:
    rng = np.random.default_rng(0)
    K, B = positive_definite(6, rng), rng.normal(size=(6, 3))
    L = np.asarray(np.linalg.cholesky(K), order=order)
    B = np.asarray(B, order=order)
    np.testing.assert_allclose(cholesky(np.asarray(K, order=order)), L, atol=1e-12)
    np.testing.assert_allclose(forward(L, B), np.linalg.solve(L, B), atol=1e-10)
    np.testing.assert_allclose(backward(L, B), np.linalg.solve(L.T, B), atol=1e-10)
    np.testing.assert_allclose(inverse(L), np.linalg.inv(K), atol=1e-10)
    np.testing.assert_allclose(whitener(L), np.linalg.inv(L), atol=1e-10)


@steady
@sizes
def test_extended_whitener_equals_the_one_from_scratch(n, p, seed) -> None:
    K = positive_definite(n + p, np.random.default_rng(seed))
    W = extend(whitener(cholesky(K[:n, :n])), K[:n, n:], K[n:, n:])
    np.testing.assert_allclose(W, whitener(cholesky(K)), atol=1e-9)


def test_extension_by_a_repeated_point_is_finite() -> None:
    K = np.full((2, 2), 2.0)
    W = extend(whitener(cholesky(K[:1, :1])), K[:1, 1:], K[1:, 1:])
    assert np.isfinite(W).all()


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("rank", [1, 3])
def test_a_singular_matrix_gets_a_small_jitter(rank, size) -> None:
    A = np.random.default_rng(rank).normal(size=(8, rank))
    K = size * A @ A.T
    L = cholesky(K)
    np.testing.assert_array_equal(L, np.tril(L))
    np.testing.assert_allclose(L @ L.T, K, atol=2e-8 * np.diagonal(K).mean())


@pytest.mark.parametrize(("dip", "jitter"), [(1e-11, 1e-10), (1e-7, 1e-6), (1e-3, 1e-2)])
def test_the_jitter_is_the_least_of_the_ladder_that_helps(dip, jitter) -> None:
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    K = Q @ np.diag([2.0, 1.0, 1.0, -dip]) @ Q.T
    L = cholesky(K)
    added = np.diagonal(L @ L.T - K) / np.diagonal(K).mean()
    np.testing.assert_allclose(added, jitter, rtol=1e-4)


@pytest.mark.parametrize("K", [[[1.0, 3.0], [3.0, 1.0]], [[-1.0]], [[0.0]]], ids=str)
def test_an_indefinite_matrix_is_an_error(K) -> None:
    with pytest.raises(BecboError, match="not positive definite"):
        cholesky(np.array(K))

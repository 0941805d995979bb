import numpy as np
import pytest
from gradients import numeric_gradient
from hypothesis import given, settings
from hypothesis import strategies as st

from becbo.surrogates.kernels import (
    input_gradient,
    matern52,
    rbf,
    scale_gradient,
    squared_distance,
)

KERNELS = pytest.mark.parametrize("kernel", [matern52, rbf])
shapes = given(n=st.integers(1, 6), m=st.integers(1, 4), d=st.integers(1, 5), seed=st.integers(0))
steady = settings(deadline=None, derandomize=True, max_examples=40)


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize(("kernel", "name"), [(matern52, "MaternKernel"), (rbf, "RBFKernel")])
def test_matches_gpytorch(kernel, name, d) -> None:
    torch, kernels = pytest.importorskip("torch"), pytest.importorskip("gpytorch.kernels")
    rng = np.random.default_rng(d)
    A, B, scales = rng.random((7, d)), rng.random((5, d)), rng.uniform(0.05, 2.0, d)
    B[0] = A[0]
    oracle = getattr(kernels, name)(ard_num_dims=d).double()
    oracle.lengthscale = torch.tensor(scales)
    expected = oracle(torch.tensor(A), torch.tensor(B)).to_dense().detach().numpy()
    np.testing.assert_allclose(kernel(squared_distance(A, B, scales))[0], expected, atol=1e-12)


@KERNELS
@steady
@given(r2=st.floats(1e-3, 100.0))
def test_slope_is_the_derivative(kernel, r2) -> None:
    step = 1e-5 * r2
    up, down = (kernel(np.array([[r2 + s]]))[0] for s in (step, -step))
    np.testing.assert_allclose(kernel(np.array([[r2]]))[1], (up - down) / (2 * step), rtol=1e-4)


@pytest.mark.parametrize(("kernel", "slope"), [(matern52, -5 / 6), (rbf, -1 / 2)])
def test_is_smooth_at_distance_zero(kernel, slope) -> None:
    k, dk = kernel(np.array([0.0, 1e-300, 1e-12]))
    np.testing.assert_allclose(k, 1.0, atol=1e-11)
    np.testing.assert_allclose(dk, slope, atol=1e-11)


@KERNELS
def test_leaves_its_argument_alone_and_vanishes_far_away(kernel) -> None:
    r2 = np.array([0.0, 1.0, 1e8])
    k, dk = kernel(r2)
    np.testing.assert_array_equal(r2, [0.0, 1.0, 1e8])
    assert k[2] == dk[2] == 0.0


@steady
@shapes
def test_squared_distance_is_in_units_of_the_scales(n, m, d, seed) -> None:
    rng = np.random.default_rng(seed)
    A, B, scales = rng.random((m, d)), rng.random((n, d)), rng.uniform(0.1, 3.0, d)
    expected = (((A[:, None] - B) / scales) ** 2).sum(-1)
    np.testing.assert_allclose(squared_distance(A, B, scales), expected, rtol=1e-12)


@steady
@shapes
def test_scale_gradient_is_the_derivative(n, m, d, seed) -> None:
    rng = np.random.default_rng(seed)
    X, theta, M = rng.random((n, d)), rng.uniform(-2, 1, d), rng.normal(size=(n, n))
    M += M.T

    def total(t):
        return (M * squared_distance(X, X, np.exp(t))).sum()

    np.testing.assert_allclose(
        scale_gradient(X, np.exp(theta), M), numeric_gradient(total, theta), rtol=1e-6, atol=1e-6
    )


@steady
@shapes
def test_input_gradient_is_the_derivative(n, m, d, seed) -> None:
    rng = np.random.default_rng(seed)
    A, B, V = rng.random((m, d)), rng.random((n, d)), rng.normal(size=(m, n))
    scales = rng.uniform(0.1, 3.0, d)

    def rows(points):
        return (V * squared_distance(points, B, scales)).sum(1)

    np.testing.assert_allclose(
        input_gradient(A, B, scales, V), numeric_gradient(rows, A), rtol=1e-6, atol=1e-6
    )

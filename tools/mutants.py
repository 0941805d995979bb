"""One-line changes to the presets; each has to fail a test that says what it breaks.

    python tools/mutants.py        # some minutes; ends with 1 if a change survives

The tree is copied, so the checkout stays what it is.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from os import environ
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ("tests/test_presets.py", "tests/search/test_slsqp.py", "tests/surrogates/test_ensemble.py")

METHODS = "src/becbo/methods.py"
SLSQP = "src/becbo/search/slsqp.py"
RESTARTS = "src/becbo/search/restarts.py"
ENSEMBLE = "src/becbo/surrogates/ensemble.py"
ACQUISITION = "src/becbo/acquisition.py"
BAND = "src/becbo/band.py"
SCBO = "src/becbo/proposers/scbo.py"
SVM_CBO = "src/becbo/proposers/svm_cbo.py"
VARIATIONAL = "src/becbo/surrogates/variational.py"
BALLS = "src/becbo/surrogates/balls.py"

CHANGES = (
    (METHODS, "lengthscale=Range(0.5, 0.005, 4.0)", "lengthscale=Range(0.5, 0.01, 4.0)"),
    (METHODS, "lengthscale=Range(0.5, 0.005, 4.0)", "lengthscale=Range(0.5, 0.005, 2.0)"),
    (METHODS, "scale=Range(1.0, 1e-3, 1e3)", "scale=Range(1.0, 1e-2, 1e3)"),
    (METHODS, "Range(1e-4, 1e-8, 1e-3)", "Range(1e-4, 1e-6, 1e-3)"),
    (
        METHODS,
        "            scale_with_dim=False,\n            n_iterations",
        "            scale_with_dim=True,\n            n_iterations",
    ),
    (METHODS, "nugget=1e-10", "nugget=1e-6"),
    (METHODS, "n_iterations=50", "n_iterations=5"),
    (METHODS, "n_warm_iterations=20", "n_warm_iterations=2"),
    (
        METHODS,
        "improvement=OverTheBest(ExpectedImprovement, noisy),\n        band=Dyn",
        "improvement=OverTheBest(LogExpectedImprovement, noisy),\n        band=Dyn",
    ),
    (METHODS, "band=DynamicBound()", "band=MinimumProbability(0.5)"),
    (
        METHODS,
        "nets: _be_cbo(noisy, nets, band=MinimumProbability(0.5))",
        "nets: _be_cbo(noisy, nets, band=MinimumProbability(0.4))",
    ),
    (METHODS, '"band": OptimisticLatent(),', '"band": DynamicBound(),'),
    (
        METHODS,
        "            _be_cbo_code,\n            DeepEnsemble(stops_early=True),",
        "            _be_cbo_code,\n            DeepEnsemble(),",
    ),
    (METHODS, "least_std=1e-9**0.5", "least_std=1e-6**0.5"),
    (
        METHODS,
        '"improvement": OverTheBest(BOTORCH_EI, noisy),',
        '"improvement": OverTheBest(ExpectedImprovement, noisy),',
    ),
    (METHODS, '"search": SlsqpSearch(unit=1.0),', '"search": SlsqpSearch(),'),
    (METHODS, "search=RestartSearch(unit=1.0)", "search=RestartSearch()"),
    (METHODS, "                weighting=Weighted,\n", ""),
    (
        METHODS,
        "_be_cbo_code(noisy, nets, classifier=OneVariationalGP())",
        "_be_cbo_code(noisy, nets, classifier=OneGP(EP_CLASSIFIER))",
    ),
    (
        METHODS,
        "_be_cbo_code(\n                noisy, nets, improvement=OverTheBest(UpperConfidenceBound",
        "_be_cbo_code(\n                noisy, nets, improvement=OverTheBest(ExpectedImprovement",
    ),
    (ACQUISITION, "beta: float = 0.1", "beta: float = 0.2"),
    (
        METHODS,
        "improvement=OverTheBest(UpperConfidenceBound, noisy)",
        "improvement=OverTheBest(ExpectedImprovement, noisy)",
    ),
    (METHODS, 'DeepEnsemble(training="mle")', "DeepEnsemble()"),
    (METHODS, '"weighting": Weighted}', '"weighting": LogWeighted}'),
    (METHODS, '{"band": Everywhere(),', '{"band": MinimumProbability(0.5),'),
    (METHODS, '"search": RestartSearch()', '"search": BandSearch()'),
    (
        METHODS,
        "nets: _weighted(noisy, nets, classifier=OneVariationalGP())",
        "nets: _weighted(noisy, nets, classifier=OneGP(EP_CLASSIFIER))",
    ),
    (
        METHODS,
        "_be_cbo(noisy, nets, classifier=OneVariationalGP())",
        "_be_cbo(noisy, nets, classifier=OneGP(EP_CLASSIFIER))",
    ),
    (
        SCBO,
        "classifier: OneGP | OneVariationalGP = OneVariationalGP()",
        "classifier: OneGP | OneVariationalGP = OneGP()",
    ),
    (
        METHODS,
        "                search=BandSearch(),",
        "                search=BandSearch(), band=OptimisticLatent(),",
    ),
    (
        METHODS,
        "                improvement=OverTheBest(LogExpectedImprovement, noisy),",
        "                improvement=OverTheBest(ExpectedImprovement, noisy),",
    ),
    (
        VARIATIONAL,
        "PRIOR = GPClassifier(kernel=rbf, ard=False, bias=0.0)",
        "PRIOR = GPClassifier(ard=False, bias=0.0)",
    ),
    (
        VARIATIONAL,
        "PRIOR = GPClassifier(kernel=rbf, ard=False, bias=0.0)",
        "PRIOR = GPClassifier(kernel=rbf, ard=True, bias=0.0)",
    ),
    (VARIATIONAL, "free = np.zeros(3)", "free = np.ones(3)"),
    (VARIATIONAL, "n_iterations: int = 200", "n_iterations: int = 5"),
    (METHODS, "    ard=False,\n", "    ard=True,\n"),
    (METHODS, "    kernel=rbf,\n    ard", "    ard"),
    (SVM_CBO, "BETA = 1.96", "BETA = 2.0"),
    (SLSQP, "n_starts: int = 10", "n_starts: int = 5"),
    (SLSQP, "max_iterations: int = 200", "max_iterations: int = 100"),
    (SLSQP, "n_space: int = 1000", "n_space: int = 500"),
    (SLSQP, "n_edge: int = 5", "n_edge: int = 4"),
    (SLSQP, "n_best: int = 5", "n_best: int = 4"),
    (SLSQP, "np.abs(goal.boundary(X)[0])", "goal.boundary(X)[0]"),
    (SLSQP, "best = np.argsort(-a,", "best = np.argsort(a,"),
    (SLSQP, "np.vstack([results, starts])", "np.vstack([results, results])"),
    (SLSQP, "return pulled[goal.values(pulled)[1] >= 0], unit", "return pulled, unit"),
    (SLSQP, "pull_rate: float = 1e-2", "pull_rate: float = 1e-1"),
    (SLSQP, "pull_enough: float = 0.02", "pull_enough: float = 0.01"),
    (SLSQP, "pull_patience: int = 10", "pull_patience: int = 20"),
    (SLSQP, "_GAIN = 1e-4", "_GAIN = 1e-3"),
    (SLSQP, "                lowest = loss\n", "                lowest, n_stalls = loss, 0\n"),
    (SLSQP, "n_empty: int = 5", "n_empty: int = 2"),
    (SLSQP, "n_empty = 0 if len(more) else n_empty + 1", "n_empty = n_empty + (not len(more))"),
    (ENSEMBLE, "n_networks: int = 5", "n_networks: int = 4"),
    (ENSEMBLE, "n_layers: int = 4", "n_layers: int = 3"),
    (ENSEMBLE, "width_factor: int = 64", "width_factor: int = 32"),
    (ENSEMBLE, "max(1, int(math.log2(d)))", "max(1, round(math.log2(d)))"),
    (ENSEMBLE, "learning_rate: float = 3e-4", "learning_rate: float = 1e-3"),
    (ENSEMBLE, "n_steps: int = 1000", "n_steps: int = 500"),
    (ENSEMBLE, "SETTLED = 1e-5", "SETTLED = 1e-4"),
    (ENSEMBLE, "np.exp(np.linspace(0, 1, 10))", "np.exp(np.linspace(0, 1, 5))"),
    (ENSEMBLE, "JITTER = 1e-4", "JITTER = 1e-6"),
    (
        ENSEMBLE,
        "return np.sqrt(np.logaddexp(0, variance) + JITTER)",
        "return np.sqrt(variance + JITTER)",
    ),
    (
        ENSEMBLE,
        "if np.array_equal(objective.prob(F) > 0.5, feasible):",
        "if np.mean((objective.prob(F) > 0.5) == feasible) >= 0.9:",
    ),
    (
        ENSEMBLE,
        "/ max(len(F) - 1, 1)\n\n\ndef mean_and_variance_grad",
        "/ len(F)\n\n\ndef mean_and_variance_grad",
    ),
    (BAND, "return np.asarray(ndtr(u) - 0.5 + w)", "return np.asarray(ndtr(u) - 0.5)"),
    (BAND, "return mean + std\n", "return mean + 2 * std\n"),
    (RESTARTS, "n_raw: int = 512", "n_raw: int = 256"),
    (RESTARTS, "n_restarts: int = 10", "n_restarts: int = 5"),
    (RESTARTS, "n_together: int = 5", "n_together: int = 1"),
    (RESTARTS, "max_iterations: int = 200", "max_iterations: int = 100"),
    (ACQUISITION, "w: float = 2 / 3", "w: float = 1 / 2"),
    (ACQUISITION, "power: float = 5.0", "power: float = 1.0"),
    (METHODS, "beta=4.0", "beta=1.0"),
    (
        METHODS,
        "improvement=OverTheBest(TWO_DEVIATIONS, noisy),\n        band=MinimumProbability(0.5)",
        "improvement=OverTheBest(TWO_DEVIATIONS, noisy),\n        band=MinimumProbability(0.25)",
    ),
    (SCBO, "SUCCESS_TOLERANCE = 10", "SUCCESS_TOLERANCE = 3"),
    (SCBO, "MIN_FAILURE_TOLERANCE = 4", "MIN_FAILURE_TOLERANCE = 8"),
    (SCBO, "0.8, 0.5**7, 1.6", "0.8, 0.5**5, 1.6"),
    (SCBO, "0.8, 0.5**7, 1.6", "0.4, 0.5**7, 1.6"),
    (SCBO, "N_RESTART = 10", "N_RESTART = 5"),
    (SCBO, "MOVED = 20", "MOVED = 10"),
    (SVM_CBO, "PHASES = 60, 30", "PHASES = 50, 40"),
    (SVM_CBO, "N_STARTS = 30", "N_STARTS = 10"),
    (SVM_CBO, "N_CANDIDATES = 10_000", "N_CANDIDATES = 1_000"),
    (BALLS, "FAILED = 0.5", "FAILED = 0.25"),
    (ENSEMBLE, "np.exp(np.linspace(0, 1, 10))", "np.exp(np.linspace(0, 2, 10))"),
    (ENSEMBLE, "if len(losses) <= len(MOVING):", "if len(losses) < 3:"),
    (SCBO, "min(5000, max(2000, 200 * d))", "min(5000, max(1000, 100 * d))"),
    (
        METHODS,
        "_be_cbo_code(noisy, nets, band=MinimumProbability(0.5))",
        "_be_cbo_code(noisy, nets, band=MinimumProbability(0.4))",
    ),
)


def main() -> None:
    """Makes all changes, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, copy / name)
        shutil.copy(ROOT / "pyproject.toml", copy)
        survivors = [change for change in CHANGES if survives(copy, *change)]
    print(f"{len(survivors)} of {len(CHANGES)} changes survived")
    sys.exit(bool(survivors))


def survives(copy: Path, path: str, before: str, after: str) -> bool:
    """Whether all tests pass with one text of a file changed, in a copy of the tree."""
    file = copy / path
    text = file.read_text()
    if before not in text:
        raise SystemExit(f"{path} has no {before!r}; bring tools/mutants.py up to date")
    file.write_text(text.replace(before, after, 1))
    complaint = next(filter(None, (complaint_of(test, copy) for test in TESTS)), "")
    file.write_text(text)
    print(f"{before!r}: {complaint or 'SURVIVED'}", flush=True)
    return not complaint


def complaint_of(test: str, copy: Path) -> str:
    """What the first test that fails says it is about; nothing if none fails."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    place = {**environ, "PYTHONPATH": str(copy / "src")}
    done = subprocess.run([*pytest, test], cwd=copy, env=place, capture_output=True, text=True)
    said = re.search(r'"""(.*?)"""', done.stdout, re.DOTALL)
    words = " ".join(said[1].split()) if said else "it does not say"
    return words if done.returncode else ""


if __name__ == "__main__":
    main()

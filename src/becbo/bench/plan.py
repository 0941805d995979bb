"""What to run, as data: suites of problems, variants of methods, and the plan made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from becbo.errors import InvalidInput
from becbo.problems import PAPER, PARETO, PARETO_TUNING, TUNING, get
from becbo.settings import Settings

if TYPE_CHECKING:
    from becbo.outputs import Outputs
    from becbo.proposers.base import Proposer

N_INITIAL = 10  # evaluations of the initial design, in the paper and here

# How a run starts. Both draw 10 scrambled Sobol points, the same for every method of a seed.
PROTOCOLS = {
    "authors": "draw again, free of charge, until at least one of the 10 points works; where that "
    "is hopeless, the last of them is a design that works",
    "honest": "the first 10 points, whatever they return",
}


@dataclass(frozen=True)
class Variant:
    """A method under a label of its own, with its options and with what it is told.

    Attributes:
        label: what it is called in tables; also a file name.
        method: one of `becbo.METHODS`.
        options: its risk, what it is told about failures, or changed settings of its ensemble.
        measured: whether it is told the values of objectives and limits, also where a limit is
            broken; otherwise such a design fails and returns nothing.
        bad_luck: how often a feasible design fails all the same, and returns nothing.
    """

    label: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    measured: bool = False
    bad_luck: float = 0.0


@dataclass(frozen=True)
class Suite:
    """Problems and the methods usually compared on them.

    Attributes:
        earlier: labels of records that earlier versions of methods made. They cannot be run any
            more and are shown beside the others, or by an ablation in their place until two of its
            variants have run; `benchmarks/README.md` says what they did.
        reference: the unchanged method of an ablation; None: the suite is none.
    """

    name: str
    summary: str
    problems: tuple[str, ...]
    variants: tuple[Variant, ...]
    earlier: tuple[str, ...] = ()
    reference: str | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Everything that is compared, in this order."""
        return tuple(variant.label for variant in self.variants) + self.earlier


@dataclass(frozen=True)
class Run:
    """One optimisation: everything that decides its course."""

    problem: str
    label: str
    method: str
    options: Mapping[str, Any]
    seed: int
    budget: int
    protocol: str
    measured: bool = False  # as in `Variant`
    bad_luck: float = 0.0

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from the other runs of a folder."""
        return self.problem, self.label, self.seed

    def __str__(self) -> str:
        return f"{self.problem}, {self.label}, seed {self.seed}"


@dataclass(frozen=True)
class Plan:
    """Every problem with every variant and every seed."""

    problems: tuple[str, ...]
    variants: tuple[Variant, ...]
    seeds: tuple[int, ...]
    budget: int
    protocol: str

    def runs(self) -> list[Run]:
        """Seed by seed, so that an interrupted plan has compared all methods on some seeds."""
        return [
            Run(
                *(problem, v.label, v.method, v.options, seed),
                *(self.budget, self.protocol, v.measured, v.bad_luck),
            )
            for seed in self.seeds
            for v in self.variants
            for problem in self.problems
        ]


def presets(*names: str) -> tuple[Variant, ...]:
    """Methods as they are."""
    return tuple(Variant(name, name) for name in names)


def _sweep(name: str, changes: Mapping[str, Mapping[str, Any]]) -> tuple[Variant, ...]:
    """The released program's rules with changed settings of the ensemble.

    The unchanged method keeps its own name, so that suites in one folder share its runs.
    """
    return tuple(
        Variant(f"{_ABLATED}-{name}-{label}" if options else _ABLATED, _ABLATED, options)
        for label, options in changes.items()
    )


def _by_chance(*rates: float) -> tuple[Variant, ...]:
    """The default where feasible designs fail by chance: it learns the rate, is told it, or not."""
    variants = [Variant("edge-certain", "edge", {"failures": {"chance": 0.0}})]
    for rate in rates:
        name = f"edge-luck-{round(100 * rate)}"
        for label, chance in ((name, None), (f"{name}-told", rate), (f"{name}-certain", 0.0)):
            failures = {} if chance is None else {"failures": {"chance": chance}}
            variants.append(Variant(label, "edge", failures, bad_luck=rate))
    return tuple(variants)


_ABLATED = "be-cbo-code"  # whose parts the ablations change, since it is quicker than be-cbo
_MEASURED = Variant("edge-measured", "edge", measured=True)

SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (
        Suite(
            "paper",
            "the paper's comparison: 3 synthetic and 9 engineering problems",
            PAPER,
            presets(
                *("edge", "be-cbo", "be-cbo-code", "be-cbo-search", "cei", "cei-ep"),
                *("scbo", "scbo-ep", "svm-cbo", "asymmetric-entropy", "f-gp-ucb", "sobol"),
            ),
            earlier=("be-cbo-v1",),
        ),
        Suite(
            "interior",
            "the synthetic problems with the optimum moved away from the edge",
            ("townsend_interior", "simionescu_interior", "lsq_interior"),
            presets("edge", "be-cbo", "be-cbo-c", "cei", "cei-ep", "scbo", "scbo-ep"),
            earlier=("be-cbo-v1", "be-cbo-c-v1"),
        ),
        Suite(
            "highdim",
            "four more engineering problems in 10 to 14 dimensions",
            ("batch_plant", "sopwm9_10d", "sopwm11_10d", "refrigeration"),
            presets("edge", "be-cbo", "be-cbo-c", "be-cbo-code", "be-cbo-code-c"),
            earlier=("be-cbo-v1", "be-cbo-c-v1"),
        ),
        Suite(
            "ackley",
            "one function in 2 to 20 dimensions, with an ever smaller share that works",
            tuple(f"ackley_scbo_{d}d" for d in (2, 5, 10, 20)),
            presets("edge", "be-cbo", "be-cbo-c", "be-cbo-code", "be-cbo-code-c"),
            earlier=("be-cbo-v1", "be-cbo-c-v1"),
        ),
        Suite(
            "tuning",
            "other problems with known optima, for choosing settings: none of the paper's",
            TUNING,
            presets("edge", "cei", "cei-ep", "scbo", "scbo-ep", "sobol"),
        ),
        Suite(
            "chance",
            "the paper's problems where one feasible design in ten, or in four, fails by chance",
            PAPER,
            (*presets("edge"), *_by_chance(0.1, 0.25)),
        ),
        Suite(
            "chance-tuning",
            "the tuning problems with failures by chance, for choosing settings",
            TUNING,
            (*presets("edge"), *_by_chance(0.1, 0.25)),
        ),
        Suite(
            "measured",
            "the paper's problems with the values of objective and limits told, whatever they are",
            PAPER,
            (_MEASURED, *presets("sobol")),
        ),
        Suite(
            "pareto",
            "several objectives; designs that break a limit fail and return nothing",
            PARETO,
            presets("edge", "sobol"),
        ),
        Suite(
            "pareto-measured",
            "several objectives, with the values of limits told, whatever they are",
            PARETO,
            (_MEASURED, *presets("sobol")),
        ),
        Suite(
            "pareto-tuning",
            "other problems with several objectives, for choosing settings",
            PARETO_TUNING,
            (*presets("edge"), _MEASURED, *presets("sobol")),
        ),
        Suite(
            "risk",
            "the default with its risk limited to 20 % and to 5 %",
            (
                "lsq",
                "three_bar_truss",
                "welded_beam",
                "gas_transmission",
                "pressure_vessel",
                "speed_reducer",
            ),
            (
                Variant("edge", "edge"),
                Variant("edge-risk-20", "edge", {"risk": 0.2}),
                Variant("edge-risk-5", "edge", {"risk": 0.05}),
            ),
        ),
        Suite(
            "ablation-classifier",
            "deep ensemble or Gaussian process as classifier",
            PAPER,
            presets(_ABLATED, "be-cbo-code-gp"),
            earlier=("be-cbo-v1", "be-cbo-gp-ep-v1"),
            reference=_ABLATED,
        ),
        Suite(
            "ablation-training",
            "ensemble trained by variational inference or maximum likelihood",
            PAPER,
            (*presets(_ABLATED), Variant("be-cbo-code-mle", _ABLATED, {"training": "mle"})),
            earlier=("be-cbo-v1", "be-cbo-mle-v1"),
            reference=_ABLATED,
        ),
        Suite(
            "ablation-acquisition",
            "expected improvement or upper confidence bound",
            PAPER,
            presets(_ABLATED, "be-cbo-code-ucb"),
            earlier=("be-cbo-v1", "be-cbo-ucb-v1"),
            reference=_ABLATED,
        ),
        Suite(
            "ablation-band",
            "dynamic bound, C(x) as a factor, or C(x) >= 0.5",
            PAPER,
            presets(_ABLATED, "be-cbo-code-m", "be-cbo-code-c"),
            earlier=("be-cbo-v1", "be-cbo-m-v1", "be-cbo-c-v1"),
            reference=_ABLATED,
        ),
        Suite(
            "ablation-code",
            "the paper, the rules of its released program, or the search of `edge`",
            PAPER,
            presets("be-cbo", "be-cbo-code", "be-cbo-search"),
            earlier=("be-cbo-v1", "be-cbo-code-v1"),
        ),
        Suite(
            "ablation-networks",
            "number of networks in the ensemble: 3, 5 (the paper's), 8",
            PAPER,
            _sweep("networks", {"3": {"n_networks": 3}, "5": {}, "8": {"n_networks": 8}}),
            earlier=("be-cbo-networks-3-v1", "be-cbo-v1", "be-cbo-networks-8-v1"),
            reference=_ABLATED,
        ),
        # The settings count layers of weights, one more than hidden layers.
        Suite(
            "ablation-layers",
            "hidden layers of each network: 1, 2, 3 (the paper's), 4",
            PAPER,
            _sweep(
                "hidden",
                {"1": {"n_layers": 2}, "2": {"n_layers": 3}, "3": {}, "4": {"n_layers": 5}},
            ),
            earlier=(
                "be-cbo-hidden-1-v1",
                "be-cbo-hidden-2-v1",
                "be-cbo-v1",
                "be-cbo-hidden-4-v1",
            ),
            reference=_ABLATED,
        ),
        Suite(
            "ablation-width",
            "neurons per layer, as a factor of log2(d), 2 hidden layers; hidden-2 has 64",
            PAPER,
            tuple(
                # 64 is the paper's factor: the network of 2 hidden layers in the suite above.
                Variant(
                    f"{_ABLATED}-hidden-2" if factor == 64 else f"{_ABLATED}-width-{factor}",
                    _ABLATED,
                    {"n_layers": 3} if factor == 64 else {"width_factor": factor, "n_layers": 3},
                )
                for factor in (16, 32, 64, 128, 256)
            ),
            earlier=(
                "be-cbo-width-16-v1",
                "be-cbo-width-32-v1",
                "be-cbo-hidden-2-v1",
                "be-cbo-width-128-v1",
                "be-cbo-width-256-v1",
            ),
            reference=f"{_ABLATED}-hidden-2",
        ),
        Suite(
            "ablation-lr",
            "learning rate of the ensemble: 3e-5 to 3e-3; the paper's is 3e-4",
            PAPER,
            _sweep(
                "lr",
                {
                    "3e-3": {"learning_rate": 3e-3},
                    "1e-3": {"learning_rate": 1e-3},
                    "3e-4": {},
                    "1e-4": {"learning_rate": 1e-4},
                    "3e-5": {"learning_rate": 3e-5},
                },
            ),
            earlier=(
                "be-cbo-lr-3e-3-v1",
                "be-cbo-lr-1e-3-v1",
                "be-cbo-v1",
                "be-cbo-lr-1e-4-v1",
                "be-cbo-lr-3e-5-v1",
            ),
            reference=_ABLATED,
        ),
    )
}


def make_plan(
    suite: str,
    methods: Iterable[str] = (),
    problems: Iterable[str] = (),
    seeds: Iterable[int] = range(10),
    budget: int = 200,
    protocol: str = "authors",
) -> Plan:
    """The plan in a few words, checked; nothing named means all of the suite.

    `methods` are labels of any suite or any of `becbo.METHODS`, `problems` any problem names.
    """
    chosen = _suite(suite)
    if protocol not in PROTOCOLS:
        raise InvalidInput(f"unknown protocol {protocol!r}; there are {', '.join(PROTOCOLS)}")
    seeds = tuple(seeds)
    if budget < 1 or not seeds or min(seeds) < 0:
        raise InvalidInput(
            f"budget {budget} and seeds {list(seeds)}: give a budget of at least 1 evaluation, "
            "and at least one seed, from 0"
        )
    variants = tuple(_variant(chosen, name) for name in methods) or chosen.variants
    plan = Plan(tuple(problems) or chosen.problems, variants, seeds, budget, protocol)
    for problem in plan.problems:
        for variant in plan.variants:
            check(variant, problem)
    return plan


def check(variant: Variant, problem: str) -> None:
    """Refuses a problem, method or option that does not exist, or a method that cannot do it."""
    from becbo.bench.experiment import outputs_of
    from becbo.outputs import Outputs

    outputs = Outputs.of(outputs_of(get(problem), variant.measured))
    make_proposer(variant, outputs)


def make_proposer(
    variant: Variant | Run, outputs: Outputs | None = None, budget: int | None = None
) -> Proposer:
    """The method of a variant or a run, with its options."""
    from becbo.methods import build

    options = dict(variant.options)
    chosen = {name: options.pop(name) for name in ("risk", "failures") if name in options}
    settings = Settings(method=variant.method, n_initial=N_INITIAL, n_planned=budget, **chosen)
    return build(settings, outputs, **options)


def _suite(name: str) -> Suite:
    if name not in SUITES:
        raise InvalidInput(f"unknown suite {name!r}; there are {', '.join(SUITES)}")
    return SUITES[name]


def _variant(suite: Suite, name: str) -> Variant:
    everywhere = [v for other in SUITES.values() for v in other.variants]
    by_label = {variant.label: variant for variant in (*everywhere, *suite.variants)}
    return by_label.get(name, Variant(name, name))

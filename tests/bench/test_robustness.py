"""Generated histories through the methods: the script that counts what goes wrong."""

import importlib
import json
import signal
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from becbo import (
    METHODS,
    Estimate,
    Integer,
    Optimizer,
    Outcome,
    Prediction,
    Real,
    Result,
    Space,
    Trial,
)
from becbo.search.choice import EXHAUSTED

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
robustness = importlib.import_module("robustness")
odd_histories = importlib.import_module("odd_histories")

CHEAP = "sobol", "svm-cbo"
N = 5 * len(robustness.KINDS)


@pytest.mark.parametrize("make", robustness.FAMILIES.values())
def test_a_history_is_a_function_of_its_number(make) -> None:
    first, again = make(7), make(7)
    assert (first.trials, first.asks, repr(first.space)) == (
        again.trials,
        again.asks,
        repr(again.space),
    )
    assert (first.outputs, first.risk) == (again.outputs, again.risk)


def test_histories_are_of_all_kinds() -> None:
    histories = [robustness.history(number) for number in range(30 * len(robustness.KINDS))]
    assert {h.kind for h in histories} == set(robustness.KINDS)
    spaces, designs, values, labels = map(set, zip(*(h.parts for h in histories), strict=True))
    assert spaces == set(odd_histories.SPACES)
    assert designs == {*odd_histories.DESIGNS, "nearly all"}
    assert (values, labels) == (set(odd_histories.VALUES), set(odd_histories.LABELS))
    sizes = [len(h.space.parameters) for h in histories]
    assert (min(sizes), max(sizes)) == (1, 30)
    assert {t.outcome for h in histories for t in h.trials} == set(Outcome)
    assert all(1 <= len(h.trials) <= 200 for h in histories)


def test_several_outputs_are_of_all_kinds() -> None:
    histories = [robustness.several(number) for number in range(20 * len(robustness.KINDS))]
    outputs = [h.outputs for h in histories]
    assert {len(o.objectives) for o in outputs} == {1, 2, 3, 4, 5}
    assert {len(o.limits) for o in outputs} == set(range(7))
    assert {len(o.recorded) for o in outputs} == {0, 1, 2}
    objectives = [objective for o in outputs for objective in o.objectives]
    assert {o.direction for o in objectives} == {"minimize", "maximize", None}
    assert {o.reference is None for o in objectives} == {True, False}
    bounds = {(b.lower is None, b.upper is None) for o in outputs for b in o.limits}
    assert bounds == {(True, False), (False, True), (False, False)}
    assert {h.risk is None for h in histories} == {True, False}
    trials = [(t, h.outputs) for h in histories for t in h.trials]
    # Failures with and without measured values and reasons, and partial values.
    failed = [t for t, _ in trials if t.outcome is Outcome.FAILED]
    is_measured = [any(v is not None for v in t.values.values()) for t in failed]
    told = {(m, t.reason is None) for m, t in zip(is_measured, failed, strict=True)}
    assert told == {(True, True), (True, False), (False, True), (False, False)}
    worked = [(t, o) for t, o in trials if t.outcome is Outcome.OK]
    assert {None in t.values.values() for t, _ in worked} == {True, False}
    assert {o.are_kept(t.values) for t, o in worked} == {True, False}


@pytest.mark.parametrize("method", CHEAP)
def test_nothing_goes_wrong(method: str) -> None:
    for number in range(N):
        given = robustness.history(number)
        problems, seconds = robustness.examine(given, method)
        assert not problems
        assert len(seconds) == sum(given.asks)


@pytest.mark.parametrize("method", ["edge", "sobol"])
def test_nothing_goes_wrong_with_several_outputs(method: str) -> None:
    for number in range(2 * len(robustness.KINDS)):
        given = robustness.several(number)
        if method != "edge":  # which alone can limit its risk
            given = replace(given, risk=None)
        problems, seconds = robustness.examine(given, method)
        assert not problems
        assert len(seconds) == sum(given.asks)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers(method: str) -> None:
    problems, _ = robustness.examine(robustness.history(0), method)
    assert not problems


# -- what goes wrong is seen -------------------------------------------------------------------

GRID = Space([Integer("a", 0, 2)])
TRIED = [Trial(0, {"a": 1}, Result.failed())]
MEASURED = [Trial(0, {"a": 1}, Result.failed(measured={"b": 1.0}))]


def whats(asked: list[Trial], space: Space = GRID, taken: list[Trial] = TRIED) -> list[str]:
    return [what for what, _ in robustness.check(space, asked, taken)]


def asked(a: object, **changes: object) -> Trial:
    return replace(Trial(1, {"a": a}), **changes)


def test_a_sound_answer_is_no_problem() -> None:
    believed = Prediction({"b": Estimate(1.0, 0.5)}, 0.5, (0.2, 0.9))
    assert whats([asked(0, believed=believed), asked(2)], taken=MEASURED) == []


@pytest.mark.parametrize("value", [3, -1, 0.5, float("nan"), 2.0, True, "0"])
def test_what_cannot_be_set_is_outside(value: object) -> None:
    assert whats([asked(value)]) == ["outside"]


def test_what_is_forbidden_is_outside() -> None:
    space = Space(GRID.parameters, [lambda params: params["a"] < 2])
    assert whats([asked(2)], space) == ["outside"]


def test_a_repeat_is_seen_unless_nothing_else_is_left() -> None:
    assert whats([asked(1)]) == ["repeated"]
    assert whats([asked(0), asked(0)]) == ["repeated"]
    assert whats([asked(0), asked(2), asked(1, note=EXHAUSTED)]) == []
    lost = [replace(TRIED[0], result=Result.lost())]
    assert whats([asked(1)], taken=lost) == []


def test_a_space_called_exhausted_has_to_be() -> None:
    assert whats([asked(1, note=EXHAUSTED)]) == ["repeated"]
    assert whats([asked(0, note=EXHAUSTED)]) == ["repeated"]


def test_nearly_the_same_is_a_repeat() -> None:
    space = Space([Real("a", 0, 10)])
    taken = [Trial(0, {"a": 1.0}, Result.failed())]
    assert whats([asked(1.0 + 1e-7)], space, taken) == ["repeated"]
    assert whats([asked(1.001)], space, taken) == []


@pytest.mark.parametrize(
    "believed",
    [
        Prediction({"b": Estimate(np.nan, 1.0)}, 0.5, (0.0, 1.0)),
        Prediction({"b": Estimate(1.0, np.inf)}, 0.5, (0.0, 1.0)),
        Prediction({"b": Estimate(1.0, -1.0)}, 0.5, (0.0, 1.0)),
        Prediction({"b": Estimate(1.0, 1.0)}, 1.5, (0.0, 1.0)),
        Prediction({"b": Estimate(1.0, 1.0)}, 0.5, (0.7, 0.3)),
        Prediction({"b": Estimate(1.0, 1.0)}, np.nan, (0.0, 1.0)),
        Prediction({}, 0.5, (0.0, 1.0)),
        Prediction({"c": Estimate(1.0, 1.0)}, 0.5, (0.0, 1.0)),
    ],
)
def test_beliefs_have_to_be_numbers_for_what_was_measured(believed: Prediction) -> None:
    assert whats([asked(0, believed=believed)], taken=MEASURED) == ["unsound"]
    assert whats([asked(0, believed=Prediction({}, 0.5, (0.0, 1.0)))]) == []


def test_warnings_errors_and_endless_asks_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def whats_of(ask: object) -> list[str]:
        monkeypatch.setattr(Optimizer, "ask", ask)
        problems, _ = robustness.examine(robustness.history(0), "sobol")
        return [problem.what for problem in problems]

    plain_ask = Optimizer.ask

    def loud(self: Optimizer, q: int) -> object:
        warnings.warn("odd", RuntimeWarning, stacklevel=1)
        warnings.warn("odd", RuntimeWarning, stacklevel=1)
        return plain_ask(self, q)

    def broken(self: Optimizer, q: int) -> object:
        raise ZeroDivisionError

    def endless(self: Optimizer, q: int) -> object:
        while True:
            pass

    assert whats_of(loud) == ["warnings", "warnings"]  # from two lines
    assert whats_of(broken) == ["exceptions"]
    monkeypatch.setattr(robustness, "LIMIT", 0.05)
    before = signal.getsignal(signal.SIGPROF)
    assert whats_of(endless) == ["slow"]
    assert signal.getsignal(signal.SIGPROF) is before


# -- many ---------------------------------------------------------------------------------------


def run(tmp_path: Path, n: int = 6) -> dict:
    robustness.run(CHEAP, n, 1, tmp_path / "r.json")
    return json.loads((tmp_path / "r.json").read_text())


def test_the_result_is_compact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(tmp_path)
    assert list(result["methods"]) == list(CHEAP)
    row = result["methods"]["sobol"]
    assert row["histories"] == 6
    assert row["proposals"] == sum(sum(robustness.history(i).asks) for i in range(6))
    assert [row[what] for what in robustness.PROBLEMS] == [0] * len(robustness.PROBLEMS)
    assert 0 < row["seconds"]["median"] <= row["seconds"]["p99"] <= row["seconds"]["max"]
    assert result["problems"] == [] and "numpy" in result["versions"]
    assert "| sobol | 6 |" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [tmp_path / "r.json"]


def test_a_second_start_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robustness, "BLOCK", 3)
    done = []

    def stops(task: tuple, source: str) -> dict:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(task)
        return plain_work(task, source)

    plain_work = robustness.work
    monkeypatch.setattr(robustness, "work", stops)
    robustness.run(CHEAP, 6, 1, tmp_path / "r.json")
    assert not (tmp_path / "r.json").exists()
    left = []
    monkeypatch.setattr(
        robustness, "work", lambda task, source: (left.append(task), plain_work(task, source))[1]
    )
    assert run(tmp_path)["methods"]["svm-cbo"]["histories"] == 6
    assert [task[1:] for task in done] == [("sobol", 0, 3), ("svm-cbo", 0, 3), ("sobol", 3, 6)]
    assert left == [("one", "svm-cbo", 3, 6)]


def test_other_code_starts_anew(tmp_path: Path) -> None:
    journal = tmp_path / "r.jsonl"
    line = robustness.work(("one", "sobol", 0, 1), "old")
    robustness.append_line(journal, line)
    assert list(robustness.read_journal(journal, "old")) == [("one", "sobol", 0, 1)]
    assert robustness.read_journal(journal, "new") == {}


def test_many_problems_of_one_kind_are_told_by_examples() -> None:
    problem = {"what": "warnings", "method": "edge", "number": 1, "kind": "mixed", "message": "!"}
    line = {"problems": [problem] * 50, "seconds": [0.1]}
    result = robustness.summary({("one", "edge", 0, 50): line})
    assert result["methods"]["edge"]["warnings"] == 50
    assert len(result["problems"]) == robustness.MAX_EXAMPLES


def test_one_history_in_detail(capsys: pytest.CaptureFixture[str]) -> None:
    robustness.show(3, ["sobol"])
    said = capsys.readouterr().out
    assert "history 3, degenerate" in said and "sobol: " in said
    robustness.show(3, ["edge"], "several")
    said = capsys.readouterr().out
    assert "history 3, degenerate" in said and "Limit(name=" in said and "edge: " in said

"""Suites with several objectives and with measured limits, from a run to the report."""

import json
import lzma
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.sample import make_record, make_run
from pymoo.indicators.hv import HV

from becbo.bench import summary
from becbo.bench.records import Record, read, write
from becbo.bench.report import write_report
from becbo.bench.run import execute
from becbo.bench.sections import sections
from becbo.bench.summary import HYPERVOLUME_REGRET, REGRET, measure_of
from becbo.bench.table import outcome, table, tables
from becbo.problems import PARETO, get, get_pareto

BNH = get_pareto("bnh")


def random_record(problem: str, label: str, seed: int, n: int = 30, measured: bool = False):
    """Random designs, as if a method had tried them."""
    p = get(problem)
    X = p.from_unit(np.random.default_rng(seed).random((n, p.dim)))
    F, works = p.objectives(X), p.feasible(X)
    y = [tuple(f) if ok else None for f, ok in zip(F.tolist(), works, strict=True)]
    y = [v[0] if v and len(v) == 1 else v for v in y]
    run = make_run(problem, label, seed, n, measured=measured)
    return replace(make_record(run, y, n_initial=10), x=tuple(map(tuple, X.tolist())))


def bnh_record(y: Sequence[tuple[float, float] | None], **changes: object) -> Record:
    return make_record(make_run("bnh", budget=len(y), **changes), y)


@pytest.mark.parametrize("problem", PARETO)
@pytest.mark.parametrize("label", ["edge", "edge-measured", "sobol"])
def test_every_problem_runs(problem: str, label: str, tmp_path: Path) -> None:
    measured = label == "edge-measured"
    run = make_run(problem, label, method=label.removesuffix("-measured"), measured=measured)
    record = execute(run)
    p = get(problem)
    assert len(record.x) == len(record.y) == 12
    found = summary.feasible(record)
    assert found[:10].any()  # the authors' protocol
    F = summary.objectives(record)
    X = np.array(record.x)
    np.testing.assert_allclose(p.objectives(X)[found], F[found], rtol=1e-4)
    assert np.isnan(F[~found]).all()
    write(tmp_path, record)
    assert read(tmp_path).records == (record,)


def test_runs_of_a_seed_start_from_the_same_points() -> None:
    told = execute(make_run("srn", "edge", budget=11))
    measured = execute(make_run("srn", "edge-measured", budget=11, method="edge", measured=True))
    assert told.x[:10] == measured.x[:10]
    assert told.y[:10] == measured.y[:10]  # also where the values of infeasible designs are told


def test_one_objective_with_measured_limits() -> None:
    run = make_run("lsq", "edge-measured", budget=14, method="edge", measured=True)
    record = execute(run)
    p = get("lsq")
    assert [y is None for y in record.y] == (~p.feasible(np.array(record.x))).tolist()
    assert all(type(y) is float for y in record.y if y is not None)
    assert execute(run).x == record.x


def test_records_of_the_first_format_are_read(tmp_path: Path) -> None:
    write(tmp_path, make_record(make_run()))
    (path,) = tmp_path.glob("*/*.jsonl.xz")
    line = json.loads(lzma.decompress(path.read_bytes()))
    del line["run"]["measured"]  # as in the records of the paper's comparison
    path.write_bytes(lzma.compress(json.dumps(line).encode() + b"\n"))
    assert read(tmp_path).records == (make_record(make_run()),)
    committed = Path(__file__).parents[2] / "benchmarks" / "results" / "risk"
    reading = read(committed)
    assert reading.records and not reading.complaints
    assert not any(record.run.measured for record in reading.records)


def test_hypervolume_share() -> None:
    a, b = (20.0, 30.0), (60.0, 10.0)
    outside = (10.0, 60.0)  # beyond the reference point
    record = bnh_record([None, outside, a, None, (100.0, 40.0), b])
    one = 120 * 20
    both = one + 80 * 20
    expected = np.array([0, 0, one, one, one, both]) / BNH.hypervolume
    np.testing.assert_allclose(summary.hypervolume_curve(record), expected)
    np.testing.assert_allclose(summary.hypervolume_regret_curve(record), 1 - expected)


@pytest.mark.parametrize("problem", ["srn", "car_side_3obj", "disc_clutch_2obj"])
def test_hypervolume_share_against_pymoo(problem: str) -> None:
    p = get_pareto(problem)
    record = random_record(problem, "sobol", seed=0, n=60)
    curve = summary.hypervolume_curve(record)
    F = summary.objectives(record)
    for n in (5, 20, 60):
        known = F[:n][summary.feasible(record)[:n]]
        expected = HV(ref_point=np.array(p.reference))(known) if len(known) else 0.0
        assert curve[n - 1] == pytest.approx(expected / p.hypervolume)
    assert (np.diff(curve) >= 0).all() and curve[-1] <= 1


def test_measure_of_a_problem() -> None:
    assert measure_of("lsq") is REGRET
    assert measure_of("bnh") is measure_of("car_side_3obj") is HYPERVOLUME_REGRET


def test_table_of_shares() -> None:
    a = (20.0, 30.0)
    share = 120 * 20 / BNH.hypervolume
    records = [bnh_record([None, a, None, a], seed=seed) for seed in (0, 1)]
    records.append(bnh_record([None] * 4, label="sobol"))
    cells = table(records)
    assert cells.header[3:7] == (
        "best known hypervolume",
        "share of it: median (worst)",
        "mean share @4",
        "infeasible",
    )
    edge, sobol = cells.rows
    assert edge[:7] == (
        *("bnh", "edge", "2", "5284.8", f"{share:.3f} ({share:.3f})", f"{share:.3f}", "33%"),
    )
    assert sobol[4:8] == ("0.000 (0.000)", "0.000", "100%", "none")
    assert cells.means[0][:6] == ("mean", "edge", "1 of 1 problems", "", "", f"{share:.3f}")
    assert len({line.count("|") for line in cells.markdown().splitlines()}) == 1


def test_a_folder_with_both_kinds_has_two_tables() -> None:
    records = [random_record("bnh", "edge", 0), make_record(make_run())]
    values, fronts = tables([*records, Record(make_run("gone"), error="x")])
    assert "log10 regret" in values.header[6] and "mean share" in fronts.header[5]
    assert [row[0] for row in (*values.rows, *fronts.rows)] == ["lsq", "bnh"]
    assert tables([]) == []


def test_the_end_of_a_run_in_words() -> None:
    assert outcome(make_record(make_run())) == "best 1"
    assert outcome(bnh_record([None, (20.0, 30.0)])) == "45.4% of the best known hypervolume"
    assert outcome(bnh_record([None, None])) == "nothing worked"
    assert outcome(Record(make_run(), error="x")) == "error"


def test_sections_by_what_methods_were_told() -> None:
    records = [random_record("bnh", label, 0) for label in ("edge", "sobol", "optuna-tpe")]
    names = "edge-measured", "optuna-gp-measured"
    records += [random_record("bnh", label, 0, measured=True) for label in names]
    told, measured = sections(records)
    assert (told.name, told.labels) == ("pareto", ("edge", "sobol", "optuna-tpe"))
    assert (measured.name, measured.reference) == ("pareto-measured", "edge-measured")
    assert set(measured.labels) == {*names, "sobol", "optuna-tpe"}


def test_report_of_hypervolumes(tmp_path: Path) -> None:
    records = [
        random_record(problem, label, seed + 10 * (label == "edge"))
        for problem in ("bnh", "srn")
        for label in ("edge", "sobol")
        for seed in range(2)
    ]
    text = write_report(records, tmp_path).read_text()
    assert "## pareto: several objectives" in text
    assert (tmp_path / "figures" / "pareto-hypervolume.png").exists()
    assert not (tmp_path / "figures" / "pareto-best.png").exists()
    for words in ("hypervolume regret @30", "best known hypervolume", "Who is ahead"):
        assert words in text
    assert "log10 regret @" not in text

"""The report of the demonstration: medians, fair comparisons, and losses beside gains, in few
lines.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "demo_report.py"


def solver_said(
    seconds: float, allreduce: float, norm: float = 0.125, iterations: int = 300
) -> str:
    return (
        f"iterations: {iterations}\nresidual: 1e-13\nnorm: {norm!r}\nchecksum: -7.25\nseconds: "
        f"{seconds}\nallreduce_seconds: {allreduce}\n"
    )


def ratio(value: float) -> dict:
    return {"value": value, "low": value * 0.9, "high": value * 1.1}


def mean(ranks: int, base: str, other: str, value: float) -> dict:
    return {
        "ranks": ranks,
        "base": base,
        "other": other,
        "up_to_64_KiB": ratio(value),
        "all_cells": ratio(value),
    }


def cell(ranks: int, base: str, value: float) -> dict:
    return {
        "ranks": ranks,
        "base": base,
        "other": base + "+tutti",
        "collective": "bcast",
        "bytes": 4096,
        "ratio_of_medians": ratio(value),
        "slower": value < 0.8,
    }


BASES = {
    "mpich": "MPICH 5.0.2",
    "mpich@best": "MPICH 5.0.2, best setting",
    "openmpi": "Open MPI 5.0.11",
}
BENCH = {
    "machine": {"cores": 2, "processor": "A processor"},
    "variants": {key: {"label": label} for key, label in BASES.items()},
    "geometric_means": [
        mean(2, "mpich", "mpich+tutti", 2.0),
        mean(2, "openmpi", "openmpi+tutti", 1.5),
        mean(4, "mpich", "mpich+tutti", 1000.0),
        mean(4, "mpich@best", "mpich@best+tutti", 3.0),
        mean(2, "openmpi", "mpich+tutti", 9.0),
    ],
    "comparisons": [
        cell(2, "mpich", 2.0),
        cell(2, "openmpi", 0.5),
        cell(2, "openmpi", 0.7),
        cell(4, "mpich", 0.1),
        cell(4, "mpich@best", 3.0),
    ],
}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    runs = {
        "mpich-2-alone": (2.0, 1.0),
        "mpich-2-tutti": (1.0, 0.1),
        "mpich-4-alone": (900.0, 899.0),
        "mpich-4-tutti": (9.0, 1.0),
        "mpich-4-yielding": (6.0, 3.0),
        "mpich-4-yielding-tutti": (4.0, 1.0),
    }
    for name, (seconds, allreduce) in runs.items():
        for repetition, factor in enumerate((1, 1.01, 50), 1):  # the second is the median
            (tmp_path / f"cg-{name}.{repetition}.txt").write_text(
                solver_said(seconds * factor, allreduce * factor), encoding="utf-8"
            )
    (tmp_path / "bench.json").write_text(json.dumps(BENCH), encoding="utf-8")
    return tmp_path


def report(what: str, directory: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, SCRIPT, what, directory],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_table_compares_each_way_with_its_base(results: Path) -> None:
    done = report("solver", results)
    assert done.returncode == 0, done.stderr
    rows = {
        line[16:37].strip() + line[8:14]: line.split()[-1] for line in done.stdout.splitlines()[1:]
    }
    assert (
        rows["with Tutti     2"] == "2.00x"
        and rows["with Tutti     4"] == "100.00x"
        and rows["with Tutti, yielding     4"] == "1.50x"
    )
    assert " 2020.00 " in done.stdout and len(done.stdout.splitlines()) == 7


@pytest.mark.parametrize("change", [{"norm": 0.1250001}, {"iterations": 303}])
def test_answers_that_differ_are_a_failure(results: Path, change: dict) -> None:
    (results / "cg-mpich-4-tutti.2.txt").write_text(solver_said(1, 1, **change), encoding="utf-8")
    done = report("solver", results)
    assert done.returncode == 1
    assert f"the answers differ ({next(iter(change))})" in done.stderr


def test_last_digits_may_differ(results: Path) -> None:
    (results / "cg-mpich-4-tutti.2.txt").write_text(
        solver_said(1, 1, norm=0.125 * (1 + 1e-12), iterations=301), encoding="utf-8"
    )
    assert report("solver", results).returncode == 0


def test_a_run_without_its_numbers_is_named(results: Path) -> None:
    (results / "cg-mpich-4-tutti.2.txt").write_text("norm: 1\n", encoding="utf-8")
    done = report("solver", results)
    assert (
        done.returncode == 1
        and "cg-mpich-4-tutti.2.txt" in done.stderr
        and len(done.stderr.splitlines()) == 1
    )


def test_the_closing_lines_tell_gains_and_losses_over_the_fair_base(results: Path) -> None:
    done = report("closing", results)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 15
    assert "   solver, 4 ranks: MPICH 1.50x (of its time 50% in allreduce)" in lines
    assert (
        "   collectives up to 64 KiB, 2 ranks: MPICH 5.0.2 2.00x (1.80 to 2.20), Open MPI 5.0.11 "
        "1.50x (1.35 to 1.65)" in lines
    )
    assert any("4 ranks: MPICH 5.0.2, best setting 3.00x" in line for line in lines)
    assert "1000" not in done.stdout and "9.00x" not in done.stdout
    assert any("clearly slower with Tutti: 2 of 4 cells" in line for line in lines)
    assert "     bcast 4 KiB, 2 ranks, Open MPI 5.0.11: 0.50x" in lines


def test_the_closing_lines_say_so_if_nothing_is_slower(results: Path) -> None:
    bench = BENCH | {"comparisons": [cell(2, "mpich", 2.0)]}
    (results / "bench.json").write_text(json.dumps(bench), encoding="utf-8")
    assert "none of the 1 cells measured" in report("closing", results).stdout

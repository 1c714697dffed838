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
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    rows = {line[15:35].strip() + line[7:14]: line.split()[-1] for line in lines[1:7]}
    assert (
        rows["with Tutti     2 "] == "2.00x"
        and rows["with Tutti     4 "] == "100.00x*"
        and rows["with Tutti, yielding     4 "] == "1.50x"
    )
    assert " 2020.00 " in done.stdout
    assert lines[7] == "every run: norm 0.1250000000, checksum -7.25000000"
    assert lines[8].startswith("* more ranks than cores: alone, MPICH's ranks poll")


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


def test_a_gain_that_collectives_cannot_explain_is_no_conclusion(results: Path) -> None:
    for way, seconds in (("alone", 4.38), ("tutti", 1.0)):
        for repetition in (1, 2, 3):
            file = results / f"cg-mpich-2-{way}.{repetition}.txt"
            file.write_text(solver_said(seconds, 0.04 * seconds), encoding="utf-8")
    lines = report("closing", results).stdout.splitlines()
    assert (
        "   solver, 2 ranks: MPICH no conclusion: 4.38x is more than the 4% of its time in allreduce "
        "explain" in lines
    )


def test_an_interval_that_says_nothing_is_no_conclusion(results: Path) -> None:
    wide = {"value": 1.04, "low": 0.0, "high": 12421.3}
    means = [mean(2, "mpich", "mpich+tutti", 2.0) | {"up_to_64_KiB": wide}]
    (results / "bench.json").write_text(json.dumps(BENCH | {"geometric_means": means}))
    done = report("closing", results)
    assert done.returncode == 0, done.stderr
    assert "12421" not in done.stdout and "1.04x" not in done.stdout
    assert "MPICH 5.0.2 no conclusion: other load, or too few repetitions" in done.stdout


def test_the_closing_lines_do_without_a_benchmark(results: Path) -> None:
    (results / "bench.json").unlink()
    done = report("closing", results)
    assert done.returncode == 0, done.stderr
    assert "solver, 4 ranks: MPICH 1.50x" in done.stdout and "bench" not in done.stdout


def test_the_closing_lines_say_so_if_nothing_is_slower(results: Path) -> None:
    bench = BENCH | {"comparisons": [cell(2, "mpich", 2.0)]}
    (results / "bench.json").write_text(json.dumps(bench), encoding="utf-8")
    assert "none of the 1 cells measured" in report("closing", results).stdout

"""`tutti-bench --trials`: one job measures calls by one table after another (tutti_comm_table)."""

import json
from pathlib import Path

import pytest
from tutti.bench.driver import bench_job, execute_job
from tutti.bench.variants import Variant, command, environment
from tutti.places import program
from tutti.rows import read_rows

pytestmark = pytest.mark.mpi
TABLE = "tutti-map 1\n"
TRIALS = (
    f"trial allreduce,bcast\n{TABLE}allreduce -> builtin:binomial\nbcast -> builtin:nary:3\n"
    f"trial allreduce\n{TABLE}allreduce -> builtin:tiled segment 8K\n"
    f"trial allreduce\n{TABLE}allreduce -> builtin:binomial\n"
)
SIZES = (8, 65536)


def launch(mpi, ranks: int, directory: Path, trials: str, *arguments: str, tutti: bool = True):
    file = directory / "trials"
    file.write_text(trials)
    bench = [
        str(program(f"tutti-bench-{mpi.abi}")),
        *("--collectives", "allreduce,bcast", "--bytes", ",".join(map(str, SIZES))),
        *("--budget-ms", "1", "--trials", str(file), *arguments),
    ]
    variant = Variant(mpi, "best" if ranks > 2 else "default", tutti)
    launcher = program("tutti-run") if tutti else None
    words = command(variant, ranks, "none", bench, launcher)
    report = {"TUTTI_REPORT": str(directory / "report.json")} if tutti else {}
    return execute_job(words, environment(variant, "none", directory) | report, 120)


def test_each_table_decides_in_its_trial(mpi, tmp_path):
    code, out, err = launch(mpi, 3, tmp_path, TRIALS, "--seed", "3")
    assert code == 0, err
    job = bench_job(read_rows(out.splitlines()))
    assert job["interposed"] and job["verified"]
    found = [(cell["trial"], cell["collective"], cell["bytes"]) for cell in job["cells"]]
    expected = [(1, "bcast"), (1, "allreduce"), (2, "allreduce"), (3, "allreduce")]
    assert sorted(found) == sorted((*one, size) for one in expected for size in SIZES)
    order = list(dict.fromkeys(trial for trial, _, _ in found))
    report = json.loads((tmp_path / "report.json").read_text())
    # By collective, the algorithms of the longest calls, in the order of their first calls.
    ran = {row["collective"]: row["algorithm"].split(",") for row in report["collectives"]}
    names = {1: "binomial", 2: "tiled", 3: "binomial"}
    assert ran["allreduce"] == list(dict.fromkeys(names[one] for one in order))
    assert ran["bcast"] == ["nary:3"]


@pytest.mark.parametrize(
    ("trials", "tutti", "line"),
    [
        (TRIALS, False, "--trials: Tutti is not loaded; start the job under tutti-run"),
        (TABLE, True, "has no line 'trial COLLECTIVES' before a table"),
        ("", True, "it is empty"),
        (f"trial all_reduce\n{TABLE}", True, "--trials: unknown collective 'all_reduce'"),
        ("trial bcast\nbcast -> builtin:flat\n", True, "Tutti refuses a table"),
        (
            f"trial bcast\n{TABLE}bcast -> builtin:doubling\n",
            True,
            "doubling' does not serve bcast",
        ),
    ],
)
def test_wrong_trials_are_told(mpi, tmp_path, trials, tutti, line):
    code, out, err = launch(mpi, 2, tmp_path, trials, tutti=tutti)
    assert code != 0
    assert line in out + err

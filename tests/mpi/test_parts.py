"""Gather, scatter, allgather, alltoall, reduce_scatter_block, scan and exscan, compared with the
host MPI.

They are called alone and among random calls of all collectives.
"""

import json
import re

import pytest
from support import HOSTS_AND_RANKS, KEEPS_PAGES, expect_ok, job

NEW = ["gather", "scatter", "allgather", "alltoall", "reduce_scatter", "scan", "exscan"]
pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("ranks", [2, 3])
def test_results_and_that_tutti_served_them(host, compiled, tmp_path, ranks):
    """Tutti serves every call on a communicator of two ranks or more, for all types, buffers and
    roots.
    """
    report = tmp_path / "report.json"
    result = expect_ok(job(host, ranks, compiled(host, "parts"), options=[f"--report={report}"]))
    expected = int(re.search(r"served (\d+)", result.stdout)[1])
    rows = [
        row for row in json.loads(report.read_text())["collectives"] if row["collective"] in NEW
    ]
    assert {row["collective"] for row in rows} == set(NEW)
    assert sum(row["calls"] for row in rows) == expected * ranks
    between_groups = 2 * 3 * ranks
    assert sum(row["host_calls"] for row in rows) <= between_groups, rows


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ranks"), HOSTS_AND_RANKS)
def test_results_thoroughly(host_named, compiled, name, ranks):
    host = host_named(name)
    program, options = compiled(host, "parts"), ["--check"]
    result = job(host, ranks, program, "thorough", options=options, variables=KEEPS_PAGES)
    expect_ok(result)


def algorithms(**choice):
    return {f"TUTTI_ALGORITHM_{name.upper()}": algorithm for name, algorithm in choice.items()}


# Other settings of the protocol: every algorithm, both ways to wait, little memory, short segments.
VARIABLES = {
    "spin": {"TUTTI_WAIT": "spin"},
    "posix": {"TUTTI_SHM": "posix"},
    "little memory": {"TUTTI_SHM_BYTES_PER_RANK": "32K"},
    "short segments": {"TUTTI_SEGMENT_BYTES": "256"},
    "from the first call": {"TUTTI_SETUP_AFTER": "0"},
    "flat": algorithms(**dict.fromkeys(NEW, "flat")),
    "direct": algorithms(**dict.fromkeys(NEW[:5], "direct:2"), scan="chain", exscan="chain"),
    "all read all": algorithms(**dict.fromkeys(NEW[2:], "all_read_all")),
    "trees and rings": algorithms(gather="binomial", scatter="nary:3", allgather="ring"),
}


@pytest.mark.slow
@pytest.mark.parametrize("variables", VARIABLES.values(), ids=VARIABLES.keys())
def test_results_with_other_settings(host_named, compiled, variables):
    host = host_named("openmpi")
    ranks = 2 if variables.get("TUTTI_WAIT") == "spin" else 4
    expect_ok(job(host, ranks, compiled(host, "parts"), variables=variables | KEEPS_PAGES))


def test_random_calls(host, compiled):
    expect_ok(job(host, 3, compiled(host, "soak"), 300, 1))


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 4, 7])
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_many_random_calls(host_named, compiled, name, ranks):
    host = host_named(name)
    program = compiled(host, "soak")
    expect_ok(job(host, ranks, program, 1000, ranks, variables=KEEPS_PAGES))

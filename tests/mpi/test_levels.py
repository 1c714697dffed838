"""Algorithms on the levels of ranks: all ranks choose the same one, and results are right."""

import json
import subprocess

import pytest
from support import PROGRAMS, expect_ok, job

pytestmark = pytest.mark.mpi

# Cores 0 and 1 are two NUMA regions, so that ranks bound to them are on different levels.
TWO_REGIONS = {"TUTTI_TOPOLOGY": "numa:2 core:1", "TUTTI_SETUP_AFTER": "0"}
SPECS = {
    "BARRIER": "dissemination",
    "BCAST": "levels:push",
    "REDUCE": "levels:binomial",
    "ALLREDUCE": "tiled:levels",
    "REDUCE_SCATTER": "levels:two_stage",
}


@pytest.mark.parametrize(
    ("name", "program"), [("mpich", "communicators"), ("openmpi", "reductions")]
)
def test_results_on_levels(host_named, compiled, name, program):
    host = host_named(name)
    variables = TWO_REGIONS | {
        f"TUTTI_ALGORITHM_{collective}": spec for collective, spec in SPECS.items()
    }
    expect_ok(job(host, 4, compiled(host, program), bound=True, variables=variables))


def chosen(host, program, tmp_path, **words):
    """What serves an allreduce of four ranks, by whether there are two regions, one, or neither is
    known.
    """
    table, report = tmp_path / "levels.map", tmp_path / "report.json"
    table.write_text(
        "tutti-map 1\n"
        "allreduce numa 2 -> builtin:doubling\n"
        "allreduce known yes -> builtin:tiled\n"
        "allreduce -> builtin:binomial\n"
    )
    options = [f"--report={report}", f"--table={table}"]
    expect_ok(job(host, 4, program, options=options, **words))
    document = json.loads(report.read_text())
    rows = document["collectives"]
    of_allreduce = json.dumps([row for row in rows if row["collective"] == "allreduce"])
    served = [name for name in ("doubling", "tiled", "binomial") if name in of_allreduce]
    return served, document["unknown_levels"]


def test_bound_ranks_choose_by_their_levels(host_named, compiled, tmp_path):
    host = host_named("mpich")
    for bound, algorithm in ((True, "doubling"), (False, "binomial")):
        program = compiled(host, "communicators")
        served, _ = chosen(host, program, tmp_path, bound=bound, variables=TWO_REGIONS)
        assert algorithm in served


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
@pytest.mark.parametrize(
    ("places", "reproducible", "algorithm", "unknown"),
    [
        ("0,4,1,5", "off", "doubling", ""),
        ("0,4,1,5", "run", "binomial", "numa"),  # in another run they may be elsewhere
        ("0,4,1,1", "off", "binomial", ""),  # the system will move one of the last two
        ("0,1,2,3", "off", "tiled", ""),
        ("0,1,2,3", "run", "binomial", ""),
    ],
)
def test_ranks_that_nobody_bound_are_where_they_ran(
    host_named, compiled, tmp_path, name, places, reproducible, algorithm, unknown
):
    host, library = host_named(name), tmp_path / "fake_places.so"
    source = PROGRAMS / "fake_places.c"
    command = ["cc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source]
    subprocess.run(command, check=True, timeout=120)
    variables = {
        "LD_PRELOAD": str(library),
        "PLACES": places,
        "TUTTI_TOPOLOGY": "numa:2 core:4",
        "TUTTI_REPRODUCIBLE": reproducible,
        "TUTTI_SETUP_AFTER": "0",
        "TUTTI_WAIT": "yield",
    }
    served = chosen(host, compiled(host, "many"), tmp_path, variables=variables)
    assert served == ([algorithm], unknown), "the report says where binding would help"

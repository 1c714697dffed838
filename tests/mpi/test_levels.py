"""Algorithms on the levels of bound ranks: all ranks choose the same one, and results are right."""

import json

import pytest
from support import expect_ok, job

pytestmark = pytest.mark.mpi

# Cores 0 and 1 are two NUMA regions, so that ranks bound to them are on different levels.
TWO_REGIONS = {"TUTTI_TOPOLOGY": "numa:2 core:1", "TUTTI_SETUP_AFTER": "0"}
SPECS = {
    "BARRIER": "dissemination",
    "BCAST": "levels:push",
    "REDUCE": "levels:binomial",
    "ALLREDUCE": "tiled:levels",
}


@pytest.mark.parametrize(
    ("name", "program"), [("mpich", "communicators"), ("openmpi", "reductions")]
)
def test_results_on_levels(host_named, compiled, name, program):
    host = host_named(name)
    variables = TWO_REGIONS | {
        f"TUTTI_ALGORITHM_{collective}": spec for collective, spec in SPECS.items()
    }
    expect_ok(job(host, 4, compiled(host, program), bound=True, variables=variables, timeout=100))


def test_bound_ranks_choose_by_their_levels(host_named, compiled, tmp_path):
    host = host_named("mpich")
    table, report = tmp_path / "levels.map", tmp_path / "report.json"
    table.write_text(
        "tutti-map 1\nallreduce numa 2 -> builtin:doubling\nallreduce -> builtin:binomial\n"
    )
    for bound, algorithm in ((True, "doubling"), (False, "binomial")):
        options = [f"--report={report}", f"--table={table}"]
        expect_ok(
            job(
                host,
                4,
                compiled(host, "communicators"),
                bound=bound,
                variables=TWO_REGIONS,
                options=options,
                timeout=60,
            )
        )
        rows = json.loads(report.read_text())["collectives"]
        assert any(
            algorithm in json.dumps(row) for row in rows if row["collective"] == "allreduce"
        ), rows

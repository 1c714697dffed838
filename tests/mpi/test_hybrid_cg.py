"""examples/hybrid_cg.c: threads of MPI processes that are ranks of a team."""

import pytest
from support import BUILD, job

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
@pytest.mark.parametrize("processes, threads, tutti", [(2, 2, False), (1, 3, False), (3, 1, True)])
def test_both_ways_have_one_solution(host_named, name, processes, threads, tutti):
    host = host_named(name)
    program = BUILD / "examples" / f"hybrid-cg-{name}"
    words = ("--threads", threads, "--grid", 12, "--rounds", 2)
    variables = {"OMP_WAIT_POLICY": "passive"}
    done = job(host, processes, program, *words, tutti=tutti, variables=variables)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    told = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    assert (told["processes"], told["threads"]) == (str(processes), str(threads))
    assert "same solutions" in done.stdout and int(told["iterations"]) > 10
    refused = job(host, 1, program, "--threads", 0, tutti=False)
    assert refused.returncode == 2 and "hybrid_cg: --threads: '0'" in refused.stderr

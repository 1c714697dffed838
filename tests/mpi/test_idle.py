"""Ranks that wait use no core under `tutti-run --idle sleep`, and are woken by what they wait for
(src/exec/idle.h).
"""

import re

import pytest
from support import TUTTI_RUN, clean_environment, expect_ok, job, run

pytestmark = [pytest.mark.mpi]

CALLS = 18


@pytest.mark.parametrize("ranks", [2, 5])
def test_a_rank_that_waits_leaves_its_core(host, compiled, ranks):
    """Each call waits for 0.2 s. The first millisecond of each yields, and a rank that polls would
    use half a core at least.
    """
    check_that_ranks_sleep(host, ranks, compiled(host, "idle"))


@pytest.mark.parametrize("name", ["mpich", "mpiabi"])
def test_a_rank_that_waits_for_a_message_of_large_count(host_named, compiled, name):
    host = host_named(name)
    check_that_ranks_sleep(host, 3, compiled(host, "idle", large=True))


def check_that_ranks_sleep(host, ranks, program):
    command = [host.launcher, "-n", ranks, TUTTI_RUN, "--idle", "sleep", program, 0.2, 3]
    result = expect_ok(run(command, environment=clean_environment() | host.environment))
    said = result.stdout + result.stderr
    shares = dict(re.findall(r"^(\w+): ([\d.]+) % of a core", said, re.MULTILINE))
    assert len(shares) == CALLS
    assert all(float(share) < 20 for share in shares.values()), shares


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_spawned_processes(host_named, compiled, name):
    host = host_named(name)
    program = compiled(host, "spawn")
    expect_ok(job(host, 3, program, TUTTI_RUN, program, 2, options=["--idle", "sleep"]))


@pytest.mark.parametrize(("program", "arguments"), [("soak", (60, 7)), ("outstanding", ("many",))])
def test_results_are_the_same(host, compiled, program, arguments):
    command = [TUTTI_RUN, "--idle", "sleep", compiled(host, program), *arguments]
    environment = clean_environment() | host.environment
    expect_ok(run([host.launcher, "-n", 4, *command], environment=environment))

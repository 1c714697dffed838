"""Random programs of messages, one-sided calls and collectives, with one thread or two a rank, end
and give the right answers however their ranks wait.
"""

import pytest
from support import TUTTI_RUN, clean_environment, expect_ok, run

pytestmark = [pytest.mark.mpi]

PROGRAMS = 12


@pytest.mark.parametrize("idle", ["auto", "sleep"])
@pytest.mark.parametrize(("ranks", "threads"), [(5, 1), (3, 2)])
@pytest.mark.parametrize("name", ["mpich", "openmpi", "debian-mpich"])
def test_random_programs(host_named, compiled, name, ranks, threads, idle):
    host = host_named(name)
    program = [compiled(host, "random_programs"), ranks, PROGRAMS, threads]
    job = [host.launcher, "-n", ranks, TUTTI_RUN, "--idle", idle, *program]
    expect_ok(run(job, environment=clean_environment() | host.environment))

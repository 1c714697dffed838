"""Waits in a host that polls without rest (MPICH over UCX) give their core away where ranks share
cores (src/mpi/progress).
"""

import os
import re
import shutil

import pytest
from support import (
    TUTTI_RUN,
    clean_environment,
    expect_ok,
    job,
    preloaded,
    run,
    wrapping_tool,
)

# Other jobs on the cores change how often a rank polls, so these tests run alone.
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.skipif(shutil.which("taskset") is None, reason="needs taskset"),
]


@pytest.fixture
def polls(host_named, compiled):
    """polls(rounds, ranks, **variables): how often ranks on one core poll UCX while each gets `rounds`
    messages from its neighbour. With `moved`, they move there after MPI_Init.
    """
    host = host_named("debian-mpich")
    tool = wrapping_tool(host, name="counting_ucx")
    core = str(min(os.sched_getaffinity(0)))

    def count(rounds, ranks=3, moved=False, **variables):
        job = [host.launcher, "-n", ranks, TUTTI_RUN, compiled(host, "polled_ring"), rounds]
        job = [*job, core] if moved else ["taskset", "-c", core, *job]
        environment = clean_environment() | host.environment | preloaded(tool) | variables
        result = run(job, environment=environment)
        found = re.findall(r"polls of UCX: (\d+)", expect_ok(result).stderr)
        assert len(found) == ranks, f"{host.name} does not poll UCX\n{result.stderr}"
        return sum(map(int, found))

    return count


ROUNDS = 300


def test_ranks_on_one_core_poll_little(polls):
    """A rank polls four times before it gives the core away; without that, for whole time slices."""
    few, many = (polls(rounds) for rounds in (1, ROUNDS))
    assert (many - few) / (3 * ROUNDS) < 200


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_ranks_that_are_moved_to_one_core_poll_little(polls):
    """They find it out in 0.1 s."""
    few, many = (polls(rounds, ranks=2, moved=True) for rounds in (1000, 11000))
    assert (many - few) / (2 * 10000) < 200


@pytest.mark.parametrize(("wait", "least", "most"), [("spin", 1000, None), ("yield", 0, 200)])
def test_the_option_says_it_for_the_host_too(polls, wait, least, most):
    rounds = 20 if wait == "spin" else ROUNDS
    each = polls(rounds, TUTTI_WAIT=wait) / (3 * rounds)
    assert each > least
    assert most is None or each < most


def test_nothing_rests_without_tutti(polls):
    assert polls(20, TUTTI_DISABLE="1") / 60 > 1000


# Other tests run with a sched_yield that rests (tests/conftest.py). With more ranks than cores the
# hosts' own waits need it here.
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
@pytest.mark.parametrize("wait", ["spin", "yield", "sleep"])
def test_waits_with_the_yields_that_users_have(host, compiled, wait):
    variables = {"LD_PRELOAD": "", "TUTTI_WAIT": wait}
    for program in ("reductions", "progress"):
        expect_ok(job(host, 2, compiled(host, program), variables=variables))


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
def test_instructions_of_a_poll(host_named, compiled, tmp_path):
    """A rank with a core of its own executes 5 more in each poll."""
    host, counts, wrapper = host_named("debian-mpich"), tmp_path / "counts", tmp_path / "wrapper"
    wrapper.write_text(
        '#!/bin/sh\n[ "$PMI_RANK" = 1 ] || exec "$@"\nexec valgrind -q --tool=callgrind '
        f'--compress-strings=no --compress-pos=no --callgrind-out-file={counts} "$@"\n'
    )
    wrapper.chmod(0o755)
    job = [host.launcher, "-n", 2, wrapper, compiled(host, "polled_ring"), 500]
    variables = {"LD_PRELOAD": str(host.interposer), "TUTTI_WAIT": "spin"}
    expect_ok(run(job, environment=clean_environment() | host.environment | variables))
    own = re.search(
        r"^fl=/\S+\n(?:(?!fl=)[^\n]*\n)*?fn=ucp_worker_progress\n(.*?)^$",
        counts.read_text(),
        re.MULTILINE | re.DOTALL,
    )[1]
    calls = sum(int(count) for count in re.findall(r"^calls=(\d+)", own, re.MULTILINE))
    without_calls = re.sub(r"^calls=.*\n.*\n", "", own, flags=re.MULTILINE)
    costs = sum(int(cost) for cost in re.findall(r"^\d+ (\d+)$", without_calls, re.MULTILINE))
    assert calls > 100 and costs / calls <= 5.1

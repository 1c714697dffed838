"""The roll call among the ranks of two nodes, which have one table."""

import json
import subprocess
import sys
import time

import pytest
from expected_hangs import check_table, last_table, read_until, started
from several_nodes import TUTTI_RUN, environment, mpi_words, on

NODES = 2
RANKS = 4
pytestmark = [pytest.mark.mpi, pytest.mark.usefixtures("nodes")]
MPIS = ["mpich", "openmpi"]


def running_job(mpi, program, case, **variables):
    """The job's process; it is ended."""
    return started(
        mpi_words(mpi, RANKS, TUTTI_RUN, program, case),
        environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def first_table(mpi, program, case, limit=1):
    """The table that a rank prints first. Nodes whose ranks end later may print one of their own."""
    with running_job(mpi, program, case, TUTTI_STALL_SECONDS=str(limit)) as process:
        text = read_until(process, process.stdout, ["  difference: "], 100)
    head = "tutti: where the ranks are"
    assert head in text, text
    return head + text.split(head)[1]


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize(
    "case", ["skipped_barrier", "other_count", "wrong_tag", "stopped", "endless_loop", "reads_fifo"]
)
def test_seeded_bugs(compiled, mpi, case):
    check_table(first_table(mpi, compiled(mpi, "hangs"), case), case, RANKS)


@pytest.mark.parametrize("mpi", MPIS)
def test_ps(compiled, mpi):
    """`tutti ps` on a node lists the ranks of that node, and its table has those of all nodes."""

    def ps(*words):
        return on("node2", sys.executable, "-m", "tutti.cli", "ps", *words)

    def jobs_on_node():
        return {job["name"]: job for job in json.loads(ps("--json"))}

    earlier = jobs_on_node()  # ranks of another test may not have ended yet
    with running_job(mpi, compiled(mpi, "hangs"), "endless_loop"):
        end, jobs = time.monotonic() + 100, []
        while time.monotonic() < end and [job["here"] for job in jobs] != [[2, 3]]:
            jobs = [job for name, job in jobs_on_node().items() if name not in earlier]
        [job] = jobs
        assert (job["ranks"], job["here"]) == (RANKS, [2, 3])
        places = {}
        while time.monotonic() < end and len(set(places.values())) < 2:
            answer = json.loads(ps(job["name"], "--json"))
            places = {place["rank"]: place["doing"] for place in answer["threads"]}
    assert places == {0: "mpi", 1: "mpi", 2: "mpi", 3: "computes"}
    assert answer["elsewhere"] == []


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("case", ["stall", "another"])
def test_ranks_of_sessions(compiled, mpi, case):
    """Without MPI_Init, the ranks of both nodes are in one table, too. Rank 0 sleeps."""
    # Ranks may wait for each other in a session's set-up for a second on a loaded machine.
    text = first_table(mpi, compiled(mpi, "sessions"), case, limit=4)
    rows = last_table(text)
    assert rows[0].startswith("rank 0: "), text
    [others] = [row for row in rows if row.startswith("ranks 1-3: MPI_Allreduce of 4 bytes")]
    assert "on the rank's communicator" in others, text
    assert "on other nodes" not in text, text

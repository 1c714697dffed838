"""Results of all collectives over several nodes, compared with the host MPI's.

The tests use various rank counts and placements, nodes with little or no shared memory, and nodes
that differ.
"""

import json
import os
import subprocess
import sys

import pytest
from several_nodes import TUTTI_RUN, environment, mpi_words, on, script

NODES = 4
MPIS = ["mpich", "openmpi"]
BLOCK, CYCLIC, THREE, FOUR = (), ("--map", "cyclic"), ("--per-node", 3), ("--per-node", 4)
pytestmark = [pytest.mark.mpi, pytest.mark.usefixtures("nodes")]
# Open MPI's own collectives over several nodes deadlock if ranks use communicators differently
# often.
WITHOUT_HAN = {"OMPI_MCA_coll": "^han"}


def expect_ok(mpi, ranks, *command, placement=BLOCK, report=None, timeout=100, **variables):
    """Runs a job and checks that it ends with the line "ok"; returns its result."""
    prefix = [TUTTI_RUN, *([f"--report={report}"] if report else [])]
    words = mpi_words(mpi, ranks, *prefix, *command, placement=placement)[1:]
    # The scheduler of Linux 6.18 can leave a rank without a core for half a minute
    # (docs/decisions/waiting-with-more-ranks-than-cores.md).
    settings = {"TUTTI_STALL_SECONDS": "60", "TUTTI_STALL": "abort"} | WITHOUT_HAN | variables
    result = script("mpiexec", *words, timeout=timeout, **settings)
    assert "ok" in result.stdout.split(), f"{result.stdout}\n{result.stderr}"
    return result


def reasons(report):
    return [row["reason"] for row in json.loads(report.read_text())["host_reasons"]]


QUICK = [(3, CYCLIC), (5, BLOCK), (8, THREE)]
SLOW = [
    (1, BLOCK),
    (2, BLOCK),
    (3, BLOCK),
    (4, BLOCK),
    (4, CYCLIC),
    (5, FOUR),
    (7, BLOCK),
    (7, CYCLIC),
    (8, BLOCK),
    (8, CYCLIC),
]


def placements():
    quick = [pytest.param(*case, id=f"{case[0]}-{'-'.join(map(str, case[1]))}") for case in QUICK]
    slow = [
        pytest.param(*case, id=f"{case[0]}-{'-'.join(map(str, case[1]))}", marks=pytest.mark.slow)
        for case in SLOW
    ]
    return quick + slow


@pytest.mark.parametrize(("ranks", "placement"), placements())
@pytest.mark.parametrize("mpi", MPIS)
def test_random_calls(compiled, tmp_path, mpi, ranks, placement):
    """Calls of every collective, with odd counts and every layout, on various communicators."""
    report = tmp_path / "report.json"
    expect_ok(mpi, ranks, compiled(mpi, "soak"), 100, ranks, placement=placement, report=report)
    assert not any("several nodes" in reason or "memory" in reason for reason in reasons(report))


@pytest.mark.parametrize(("name", "ranks", "placement"), [
    ("derived", 7, CYCLIC), ("communicators", 5, BLOCK),
    pytest.param("parts", 5, CYCLIC, marks=pytest.mark.slow),
    pytest.param("parts", 4, BLOCK, marks=pytest.mark.slow),
    pytest.param("reductions", 3, BLOCK, marks=pytest.mark.slow),
])  # fmt: skip
@pytest.mark.parametrize("mpi", MPIS)
def test_results(compiled, mpi, name, ranks, placement):
    expect_ok(mpi, ranks, compiled(mpi, name), placement=placement)


@pytest.mark.parametrize(("ranks", "placement"), [
    (3, CYCLIC), (8, THREE),
    pytest.param(2, BLOCK, marks=pytest.mark.slow),
    pytest.param(5, BLOCK, marks=pytest.mark.slow),
    pytest.param(7, CYCLIC, marks=pytest.mark.slow),
])  # fmt: skip
@pytest.mark.parametrize("mpi", MPIS)
def test_v_collectives(compiled, tmp_path, mpi, ranks, placement):
    """Tutti serves every blocking v-collective over 2, 3 and 4 nodes."""
    report = tmp_path / "report.json"
    expect_ok(mpi, ranks, compiled(mpi, "v_collectives"), placement=placement, report=report)
    rows = json.loads(report.read_text())["collectives"]
    served = {
        (row["collective"], row["algorithm"]) for row in rows if row["calls"] > row["host_calls"]
    }
    for collective in ("gather", "scatter", "alltoall"):
        assert (collective, "pairwise") in served, served
    for collective in ("allgather", "reduce_scatter"):
        assert (collective, "hierarchical") in served, served
    assert not any("different lengths" in reason for reason in reasons(report)), reasons(report)


@pytest.mark.slow
@pytest.mark.parametrize("mpi", MPIS)
def test_requests(compiled, tmp_path, mpi):
    """Without servers, non-blocking and persistent collectives between nodes are the host's."""
    report = tmp_path / "report.json"
    command = (compiled(mpi, "matrix"), 1, "few")
    settings = {"TUTTI_SETUP_AFTER": "0"}
    expect_ok(mpi, 5, *command, placement=THREE, report=report, **settings)
    between = {
        "non-blocking collectives between nodes, without servers",
        "persistent collectives between nodes, without servers",
    }
    assert between <= set(reasons(report)), reasons(report)


# Other settings of the protocol.
VARIABLES = {
    "messages alone": {"TUTTI_REACH": "net"},
    "checked": {"TUTTI_CHECK": "1"},
    "little memory": {"TUTTI_SHM_BYTES_PER_RANK": "32K"},
    "short segments": {"TUTTI_SEGMENT_BYTES": "256"},
    "from the first call": {"TUTTI_SETUP_AFTER": "0"},
    "spin": {"TUTTI_WAIT": "spin"},
}


@pytest.mark.slow
@pytest.mark.parametrize("variables", VARIABLES.values(), ids=VARIABLES.keys())
def test_other_settings(compiled, variables):
    ranks = 2 if "TUTTI_WAIT" in variables else 5
    expect_ok("mpich", ranks, compiled("mpich", "soak"), 100, 7, **variables)


@pytest.fixture
def of_node2():
    """Mounts node 2's /dev/shm with other options."""

    def mount(options):
        on("node2", "mount", "-o", f"remount,{options}", "/dev/shm")

    yield mount
    on("node2", "mount", "-o", "remount,rw,size=50%", "/dev/shm")


@pytest.mark.parametrize(("options", "says"), [
    # no room for areas: the host serves communicators with two ranks there
    ("size=16k", "shared memory exhausted"),
    # each of its ranks counts as a node
    ("ro", "a communicator of 5 ranks on 4 nodes goes by messages"),
], ids=["full", "read-only"])  # fmt: skip
def test_a_node_that_lacks_shared_memory(compiled, of_node2, options, says):
    """Open MPI runs without its own shared memory, so that only Tutti lacks it."""
    of_node2(options)
    apart = {"OMPI_MCA_btl": "self,tcp", "PMIX_MCA_gds": "hash", "OMPI_MCA_osc": "^sm"}
    settings = {"TUTTI_SHM": "posix", "TUTTI_LOG": "info", "TUTTI_REPORT": "1"} | apart
    result = expect_ok("openmpi", 5, compiled("openmpi", "soak"), 60, 3, **settings)
    assert says in result.stderr, result.stderr


@pytest.mark.parametrize("mpi", MPIS)
def test_a_node_that_refuses_copies_between_processes(compiled, tmp_path, mpi):
    wrapper = compiled(mpi, "without_cma")
    probe = script("run", "node2", wrapper, "node2", "true", code=None)
    if probe.returncode != 0:
        pytest.skip(f"no filter of system calls here: {probe.stderr.strip()}")
    words = mpi_words(mpi, 6, wrapper, "node2", TUTTI_RUN, compiled(mpi, "soak"), 60, 5)[1:]
    settings = {
        "MPIR_CVAR_CH4_CMA_ENABLE": "0",
        "TUTTI_REACH": "cma",
        "TUTTI_STALL_SECONDS": "60",
        "TUTTI_STALL": "abort",
    }
    result = script("mpiexec", *words, **settings)
    assert "ok" in result.stdout.split(), f"{result.stdout}\n{result.stderr}"
    assert "cma" in result.stderr.lower()


@pytest.mark.parametrize("mpi", MPIS)
def test_nodes_of_one_machine_share_its_cores(compiled, mpi):
    """Each node has fewer ranks than cores, but all nodes together have more: then waiting ranks
    yield.

    Containers on one machine may be such nodes.
    """
    cores = len(os.sched_getaffinity(0))
    oversubscribed = "ranks outnumber the cores of their machine"
    for ranks, per_node, said in [(cores + 1, cores, True), (cores, max(cores // 2, 1), False)]:
        if ranks > NODES * per_node or ranks < 2:
            continue
        result = expect_ok(
            mpi,
            ranks,
            compiled(mpi, "soak"),
            20,
            3,
            placement=("--per-node", per_node),
            TUTTI_LOG="info",
        )
        assert (oversubscribed in result.stderr) == said, result.stderr


def messages_of_plan(collective, algorithm, ranks, per_node):
    """The number of messages between nodes for each call, according to the plan."""
    command = [
        sys.executable,
        "-m",
        "tutti.cli",
        "explain",
        collective,
        "--bytes",
        "8",
        "--ranks",
        str(ranks),
        "--json",
        "--shape",
        f"node:{NODES} core:{per_node}",
    ]
    variables = environment(**{f"TUTTI_ALGORITHM_{collective.upper()}": algorithm})
    done = subprocess.run(
        command, env=variables, capture_output=True, text=True, timeout=60, check=True
    )
    found = json.loads(done.stdout)
    assert found["runs"] == algorithm
    return found["between_nodes"]["messages"]


COUNTED = [
    ("bcast", "flat"),
    ("bcast", "binomial"),
    ("reduce", "nary:2"),
    ("allreduce", "doubling"),
    ("gather", "flat"),
    ("allgather", "ring"),
    ("alltoall", "bruck"),
    ("barrier", "dissemination"),
    ("barrier", "staggered:2"),
    ("scan", "chain"),
]


SLOWLY_COUNTED = [pytest.param(*case, marks=pytest.mark.slow) for case in COUNTED[2:]]


@pytest.mark.parametrize(("collective", "algorithm"), COUNTED[:2] + SLOWLY_COUNTED)
def test_messages_are_as_many_as_the_plan_has(compiled, tmp_path, collective, algorithm):
    report, calls, size = tmp_path / "report.json", 10, 8
    variables = {f"TUTTI_ALGORITHM_{collective.upper()}": algorithm, "TUTTI_SETUP_AFTER": "0"}
    expect_ok(
        "mpich",
        8,
        compiled("mpich", "counted"),
        collective,
        calls,
        size,
        report=report,
        **variables,
    )
    counted = json.loads(report.read_text())["messages"]
    assert counted["between_nodes"] == calls * messages_of_plan(collective, algorithm, 8, 2)
    if collective in ("bcast", "reduce", "allreduce", "scan"):
        assert counted["bytes_between_nodes"] >= counted["between_nodes"] * size
    assert counted["within_nodes"] == 0  # there is shared memory


def test_messages_within_nodes_are_counted_too(compiled, tmp_path):
    """Without shared memory all data travels in messages. Messages of ended communicators count
    too.
    """
    report = tmp_path / "report.json"
    variables = {"TUTTI_ALGORITHM_BCAST": "flat", "TUTTI_SETUP_AFTER": "0", "TUTTI_REACH": "net"}
    expect_ok("mpich", 8, compiled("mpich", "counted"), "bcast", 10, 24, report=report, **variables)
    counted = json.loads(report.read_text())["messages"]
    assert counted == {
        "between_nodes": 60,
        "bytes_between_nodes": 1440,
        "within_nodes": 10,
        "bytes_within_nodes": 240,
    }


@pytest.mark.parametrize("servers", ["0", "1"])
@pytest.mark.parametrize("mpi", MPIS)
def test_communicators_come_and_go(compiled, mpi, servers):
    """Every communicator that Tutti makes for another ends with it (issue 33)."""
    expect_ok(mpi, 2, compiled(mpi, "living"), 30, 0, placement=CYCLIC, TUTTI_SERVERS=servers)


@pytest.mark.parametrize("servers", ["0", "1"])
def test_many_living_communicators(compiled, servers):
    """MPICH has some 2,000; Tutti takes a share of them, and says so once (issue 33)."""
    program = compiled("mpich", "living")
    result = expect_ok("mpich", 2, program, 0, 1020, placement=CYCLIC, TUTTI_SERVERS=servers)
    said = [line for line in result.stderr.splitlines() if "many communicators" in line]
    assert len(said) == 1, result.stderr

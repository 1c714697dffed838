"""Collectives over several nodes that outlive their call, in lanes that servers drive
(TUTTI_SERVERS).
"""

import json
import os
import re
import subprocess

import pytest
from several_nodes import ROOT, TUTTI_RUN, mpi_words, running, script, wait_for
from test_nodes import BLOCK, CYCLIC, MPIS, THREE, expect_ok, reasons
from tutti.tracing import read
from tutti.tracing.flows import flows
from tutti.tracing.page import page
from tutti.tracing.summary import summary
from tutti.tracing.trace import LANES

NODES = 4
pytestmark = [pytest.mark.mpi, pytest.mark.usefixtures("nodes")]
SERVERS = {"TUTTI_SERVERS": "1"}
BLOCKING = "neighbourhood collectives between nodes: blocking ones"
NO_LANE = "persistent collectives between nodes for which there is no lane"


def served(report):
    """The collectives that Tutti has started, by name, and how many calls of each it served."""
    rows = json.loads(report.read_text())["collectives"]
    return {row["collective"]: row["calls"] for row in rows if row["calls"] > 0}


WITHOUT_LANES = (
    "the algorithm that was asked for",
    "first calls of a communicator",
    "non-blocking, persistent and neighbourhood collectives before the set-up",
    "communicator of one rank",
    "intercommunicator",
    "non-blocking and persistent reductions between nodes by operations of the program",
)


def expect_in_lanes(report, *further):
    """No call stayed with the host because lanes lack something."""
    stayed = [row for row in reasons(report) if not row.startswith(WITHOUT_LANES + further)]
    assert stayed == [], stayed


@pytest.mark.parametrize("mpi", MPIS)
def test_matrix(compiled, tmp_path, mpi):
    """All non-blocking and persistent collectives, v-collectives too, with types, operations and
    kinds of communicators.
    """
    report = tmp_path / "report.json"
    settings = {"TUTTI_SETUP_AFTER": "0"} | SERVERS
    command = (compiled(mpi, "matrix"), 2, "few")
    expect_ok(mpi, 5, *command, placement=THREE, report=report, **settings)
    expected = {"barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather",
                "alltoall", "reduce_scatter", "scan", "exscan"}  # fmt: skip
    assert expected <= set(served(report))
    expect_in_lanes(report)


def test_operations_in_lanes_are_traced(compiled, tmp_path):
    """Non-blocking, persistent, v- and neighbourhood collectives, of ranks on three nodes."""
    file = tmp_path / "run.trace"
    settings = {"TUTTI_SETUP_AFTER": "0", "TUTTI_TRACE": str(file)} | SERVERS
    expect_ok("mpich", 5, compiled("mpich", "in_lanes"), "late", -1, placement=THREE, **settings)
    trace = read(file)
    get = trace.operations
    assert get["whole"].all() and trace.in_lane.any()
    meetings = [meeting for meeting in trace.meetings if trace.in_lane[meeting[0]]]
    assert all(len(meeting) == 5 for meeting in meetings)
    lanes = {(int(get["epoch"][meeting[0]]) - LANES[0]) >> 40 for meeting in meetings}
    called = [trace.collectives[int(get["collective"][meeting[0]])] for meeting in meetings]
    # The operations of programs/in_lanes.c; the persistent one has the first lane behind the four.
    assert called.count("allreduce") == 2 and called.count("alltoall") == 2 and len(called) == 4
    assert 4 in lanes and len(lanes) > 1
    told, waited = flows(trace)
    operation = trace.steps["operation"][waited]
    assert trace.in_lane[operation].any()
    error = 2 * max(node.error for node in trace.nodes)
    assert (trace.steps["begin"][told] <= trace.steps["end"][waited] + error).all()
    rows = [row for row in summary(trace)["collectives"] if row["by"].endswith(", in a lane")]
    assert sum(row["calls"] for row in rows) == 5 * len(meetings)
    assert page(trace)


def test_servers_leave_ranks_of_several_containers_too_few_cores(compiled):
    """A core for each rank of the machine, of which each container gives one to its servers."""
    cores = len(os.sched_getaffinity(0))
    for ranks, warned in ((cores, 1), (cores + 1, 0)):
        told = expect_ok("mpich", ranks, compiled("mpich", "counted"), "barrier", 2, 0, **SERVERS)
        assert told.stderr.count("ranks share cores") == warned, told.stderr


def test_what_lanes_add_to_a_set_up(compiled, tmp_path):
    """Two reductions among all ranks and one message to each other rank of the node."""
    tool = tmp_path / "libmpi_counting_host.so"
    compiler = ROOT / ".mpi" / "mpich" / "bin" / "mpicc"
    source = ROOT / "tests" / "mpi" / "programs" / "counting_host.c"
    options = ["-shared", "-fPIC", "-Wl,--no-as-needed", "-ldl"]
    subprocess.run([compiler, *options, "-o", tool, source], check=True, timeout=120)
    program = compiled("mpich", "counted")

    def most(**variables):
        words = (program, "allreduce", 2, 8)
        preloaded = {"LD_PRELOAD": str(tool)} | variables
        told = expect_ok("mpich", 4, *words, placement=("--per-node", 2), **preloaded).stderr
        made = re.findall(r"made (\d+) allreduces and (\d+) sends", told)
        return [max(map(int, counts)) for counts in zip(*made, strict=True)]

    added = [served - plain for served, plain in zip(most(**SERVERS), most(), strict=True)]
    set_ups = 2  # of MPI_COMM_WORLD, and of the program's second communicator
    assert added == [2 * set_ups, set_ups], added


@pytest.mark.parametrize("what", ["results", "mixed", "orders", "different_orders"])
@pytest.mark.parametrize("mpi", MPIS)
def test_persistent(compiled, tmp_path, mpi, what):
    """Ranks start their persistent collectives in orders of their own."""
    report = tmp_path / "report.json"
    program = compiled(mpi, "persistent")
    expect_ok(mpi, 4, program, what, placement=("--per-node", 2), report=report, **SERVERS)
    expect_in_lanes(report)


@pytest.mark.parametrize("mpi", MPIS)
def test_more_persistent_collectives_than_lanes(compiled, tmp_path, mpi):
    """The host serves those for which no lane is left; freed ones leave their lanes to others."""
    report = tmp_path / "report.json"
    program = compiled(mpi, "persistent")
    expect_ok(mpi, 4, program, "freed", placement=("--per-node", 2), report=report, **SERVERS)
    assert any(row.startswith(NO_LANE) for row in reasons(report)), reasons(report)


@pytest.mark.parametrize("mpi", MPIS)
def test_the_first_call_makes_a_persistent_collective(compiled, tmp_path, mpi):
    report = tmp_path / "report.json"
    program = compiled(mpi, "in_lanes")
    automatic = {"TUTTI_SETUP_AFTER": "auto"}
    expect_ok(mpi, 2, program, "first", report=report, **automatic, **SERVERS)
    expect_in_lanes(report)


@pytest.mark.parametrize("mpi", MPIS)
def test_rules_that_change(compiled, tmp_path, mpi):
    report = tmp_path / "report.json"
    expect_ok(mpi, 4, compiled(mpi, "in_lanes"), "table", report=report, **SERVERS)
    rows = json.loads(report.read_text())["collectives"]
    algorithms = {row["algorithm"] for row in rows if row["collective"] == "allreduce"}
    assert algorithms == {"hierarchical,flat,doubling"}, algorithms


@pytest.mark.parametrize("mpi", MPIS)
def test_a_late_rank(compiled, mpi):
    """The watchdog names the operation and the rank; then the operation is complete."""
    result = expect_ok(mpi, 4, compiled(mpi, "in_lanes"), "late", 3, placement=CYCLIC,
                       TUTTI_STALL_SECONDS="1", TUTTI_STALL="report", **SERVERS)  # fmt: skip
    for operation in (
        "allreduce of 8 bytes",
        "alltoall of parts of different lengths",
        "alltoall among neighbours",
    ):
        assert f"no progress for 1 s in {operation}" in result.stderr, result.stderr
        assert re.search(rf"in {operation}, waits for .*rank 3", result.stderr), result.stderr


@pytest.mark.parametrize("form", range(4))
@pytest.mark.parametrize("mpi", MPIS)
def test_a_killed_rank(compiled, mpi, form):
    """The job ends as the launcher sees to it, although the other ranks wait in lanes."""
    program = compiled(mpi, "in_lanes")
    words = mpi_words(mpi, 4, TUTTI_RUN, program, "killed", 3, form)[1:]
    result = script("mpiexec", *words, code=None, **SERVERS)
    assert result.returncode != 0 and "going" in result.stdout.split(), result.stderr
    for node in range(1, NODES + 1):
        wait_for(lambda node=node: not running(f"node{node}", program))


@pytest.mark.parametrize("mpi", MPIS)
def test_a_rank_that_never_comes(compiled, mpi):
    """With TUTTI_STALL=abort the other ranks end the job, and say for which rank they waited."""
    words = mpi_words(mpi, 4, TUTTI_RUN, compiled(mpi, "in_lanes"), "late", 3)[1:]
    stall = {"TUTTI_STALL_SECONDS": "2", "TUTTI_STALL": "abort"}
    result = script("mpiexec", *words, code=None, **stall, **SERVERS)
    assert result.returncode != 0
    assert "stalled for 2 s waiting for rank" in result.stderr, result.stderr


# The host's blocking calls take long with MPICH if ranks outnumber cores.
@pytest.mark.parametrize(
    ("mpi", "ranks", "placement"),
    [
        ("mpich", 2, BLOCK),
        ("openmpi", 3, BLOCK),
        ("openmpi", 6, CYCLIC),
    ],
)
def test_neighbours(compiled, tmp_path, mpi, ranks, placement):
    """All functions on grids and graphs: the host serves the blocking forms, and no others."""
    report = tmp_path / "report.json"
    result = expect_ok(mpi, ranks, compiled(mpi, "neighbours"), placement=placement, report=report,
                       TUTTI_SETUP_AFTER="0", **SERVERS)  # fmt: skip
    rows = json.loads(report.read_text())["collectives"]
    among = [row for row in rows if row["collective"].startswith("neighbor_")]
    calls, host_calls = (sum(row[kind] for row in among) for kind in ("calls", "host_calls"))
    words = result.stdout.split()
    assert calls + host_calls == int(words[words.index("calls") + 1])
    # A persistent one is started three times.
    assert calls == 4 * host_calls > 0
    assert {row["algorithm"] for row in among if row["calls"] > 0} == {"neighbours"}
    expect_in_lanes(report, BLOCKING)


@pytest.mark.parametrize("mpi", MPIS)
def test_distributed_graphs(compiled, mpi):
    """Beside a thread that makes progress MPICH's own MPI_Dist_graph_create loses edges."""
    expect_ok(mpi, 3, compiled(mpi, "dist_graphs"), 200, TUTTI_SETUP_AFTER="0", **SERVERS)


@pytest.mark.parametrize("mpi", MPIS)
def test_halos(compiled, mpi):
    """Types for each edge, and many operations under way at once."""
    expect_ok(mpi, 4, compiled(mpi, "halo"), placement=("--per-node", 2), TUTTI_SETUP_AFTER="0",
              **SERVERS)  # fmt: skip


@pytest.mark.parametrize("mpi", MPIS)
def test_wrong_calls_among_neighbours(compiled, mpi):
    expect_ok(mpi, 3, compiled(mpi, "neighbours_errors"), **SERVERS)


@pytest.mark.parametrize("what", ["freed", "orders", "ends", "absent"])
@pytest.mark.parametrize("mpi", MPIS)
def test_neighbours_under_way(compiled, tmp_path, mpi, what):
    report = tmp_path / "report.json"
    program = compiled(mpi, "neighbours_in_lanes")
    result = expect_ok(mpi, 4, program, what, placement=CYCLIC, report=report, **SERVERS)
    expect_in_lanes(report)
    assert ("rank 0 has 1 edges that lead to itself, but 0" in result.stderr) == (what == "ends")


@pytest.mark.parametrize("mpi", MPIS)
def test_an_edge_that_only_its_target_knows(compiled, mpi):
    """The target waits; the watchdog says for whom, and ends the job if it may."""
    words = mpi_words(mpi, 3, TUTTI_RUN, compiled(mpi, "neighbours_in_lanes"), "missing")[1:]
    stall = {"TUTTI_STALL_SECONDS": "2", "TUTTI_STALL": "abort"}
    result = script("mpiexec", *words, code=None, **stall, **SERVERS)
    assert result.returncode != 0
    assert "rank 2" in result.stderr, result.stderr
    assert "in alltoall among neighbours, waits for a message of rank 0" in result.stderr
    assert "stalled for 2 s waiting for rank 0" in result.stderr, result.stderr


@pytest.mark.parametrize("mpi", MPIS)
def test_a_server_drives_while_the_program_computes(compiled, tmp_path, mpi):
    """Each of the rounds of messages needs somebody to go on after the one before."""
    report = tmp_path / "report.json"
    expect_ok(mpi, 4, compiled(mpi, "served"), "alone", TUTTI_ALGORITHM_ALLREDUCE="doubling",
              report=report, **SERVERS)  # fmt: skip
    driving = json.loads(report.read_text())["driving"]
    assert driving["servers"] == 4 and driving["looks"] > 0 and driving["busy_s"] > 0


@pytest.mark.parametrize(("ranks", "placement"), [(2, BLOCK), (6, CYCLIC)])
@pytest.mark.parametrize("mpi", MPIS)
def test_handles_are_freed_early(compiled, mpi, ranks, placement):
    expect_ok(mpi, ranks, compiled(mpi, "served"), "freed", placement=placement, **SERVERS)


@pytest.mark.parametrize("mpi", MPIS)
def test_the_program_learns_the_thread_level_that_it_asked_for(compiled, mpi):
    for level in (0, 2):  # MPI_THREAD_SINGLE and MPI_THREAD_SERIALIZED in both MPIs
        result = expect_ok(mpi, 2, compiled(mpi, "served"), "level", level, **SERVERS)
        assert f"provided {level} of {level}" in result.stdout

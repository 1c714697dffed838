"""One-sided transfers between ranks of different nodes, with and without servers."""

import json
import os
import re
import shutil

import pytest
from several_nodes import BUILD, ROOT, TUTTI_RUN, mpi_words, running, script, wait_for
from test_nodes import BLOCK, CYCLIC, MPIS, expect_ok
from tutti.bench.core_ways import CoreWays
from tutti.rows import read_rows, rows_of
from tutti.saturation import map_of

NODES = 2
pytestmark = [pytest.mark.mpi, pytest.mark.usefixtures("nodes")]
SERVERS = {"TUTTI_SERVERS": "1"}


@pytest.fixture
def program(compiled):
    return lambda mpi: compiled(mpi, "between_nodes", tutti=True)


@pytest.mark.parametrize(
    ("ranks", "placement", "what", "settings"),
    [
        (2, BLOCK, "random", {}),
        (4, CYCLIC, "random", SERVERS),
        (4, BLOCK, "random", {"TUTTI_UNDER_WAY": "64K"}),
        (3, BLOCK, "private", SERVERS),
    ],
)
@pytest.mark.parametrize("mpi", MPIS)
def test_random_transfers(program, mpi, ranks, placement, what, settings):
    """Of all forms and lengths, compared with a model."""
    expect_ok(mpi, ranks, program(mpi), what, placement=placement, **settings)


@pytest.mark.parametrize("settings", [SERVERS, {}])
@pytest.mark.parametrize("mpi", MPIS)
def test_mistakes_and_groups(program, mpi, settings):
    expect_ok(mpi, 4, program(mpi), "mistakes", **settings)


@pytest.mark.parametrize("threads", [1, 4, 16])
@pytest.mark.parametrize("servers", [1, 2, 4])
@pytest.mark.parametrize("mpi", MPIS)
def test_servers_exchange_transfers(compiled, tmp_path, mpi, servers, threads):
    """Those of several threads, each with a group of its own. Each server has its share of them,
    unless it had no core for so long that its clients took transfers back.
    """
    report = tmp_path / "report.json"
    program = compiled(mpi, "injected", tutti=True)
    # tutti-run refuses more servers than this machine may have cores.
    interposer = BUILD / "lib" / f"libtutti-{mpi}.so"
    command = mpi_words(mpi, 2, "env", f"LD_PRELOAD={interposer}", program, threads, 4)[1:]
    settings = {"TUTTI_SERVERS": str(servers), "TUTTI_SERVE": "all", "TUTTI_REPORT": str(report)}
    interfaces = {"MPIR_CVAR_CH4_NUM_VCIS": str(servers + 1)}
    result = script("mpiexec", *command, **settings, **interfaces)
    assert "ok" in result.stdout.split(), result.stderr
    done = json.loads(report.read_text())["endpoints"]
    transfers = 2 * threads * 4 * 64
    assert done["count"] == 2 * servers and done["lost"] == 0
    assert done["handed"] == transfers and done["exchanged"] + done["taken_back"] == transfers
    share = transfers / done["count"]
    least, most = done["least_of_a_server"], done["most_of_a_server"]
    assert done["taken_back"] > 0 or 0.8 * share <= least <= most <= 1.2 * share
    assert done["interfaces"] == (servers + 1 if mpi == "mpich" else 0)


@pytest.mark.parametrize("placement", [("--per-node", 2), CYCLIC])
@pytest.mark.parametrize("mpi", MPIS)
def test_any_server_of_the_node_exchanges_transfers_of_any_rank(program, tmp_path, mpi, placement):
    """From memory of all kinds. Ranks whose servers are those of another process use slots."""
    report = tmp_path / "report.json"
    settings = {"TUTTI_SERVERS": "2", "TUTTI_SERVE": "all"}
    for what in ("random", "private", "mistakes"):
        expect_ok(mpi, 4, program(mpi), what, placement=placement, report=report, **settings)
        done = json.loads(report.read_text())
        assert done["endpoints"]["count"] == 4 and done["endpoints"]["handed"] > 0
        assert done["endpoints"]["interfaces"] == (1 if mpi == "mpich" else 0)
        assert done["transfers_between_nodes"]["answered_by_servers"] > 0


@pytest.mark.parametrize("mpi", MPIS)
def test_servers_that_are_stopped(program, tmp_path, mpi):
    """Others answer in their stead, and ranks start transfers themselves; what was begun is done."""
    report = tmp_path / "report.json"
    settings = {"TUTTI_SERVERS": "1", "TUTTI_SERVE": "all"}
    expect_ok(mpi, 2, program(mpi), "stopped", report=report, **settings)
    done = json.loads(report.read_text())["endpoints"]
    assert done["handed"] >= 4 and done["lost"] == 0


@pytest.mark.parametrize(("mpi", "without"), [("mpich", 0), ("openmpi", 2)])
def test_memory_that_runs_out(compiled, tmp_path, mpi, without):
    """At one rank. A call that makes a group fails at all ranks; once it succeeds, servers get
    transfers. A transfer that this rank could not start fails; no rank waits for ever.

    The ledger of handles takes memory inside the host's calls, so none is kept.
    """
    report = tmp_path / "report.json"
    settings = {"TUTTI_SERVERS": "2", "TUTTI_SERVE": "all", "TEST_TUTTI_LEDGER": "0"}
    program = compiled(mpi, "no_memory", tutti=True)
    per_node = ("--per-node", 2)
    expect_ok(mpi, 3, program, without, placement=per_node, report=report, **settings)
    done = json.loads(report.read_text())["endpoints"]
    assert done["count"] == 4 and done["handed"] > 0 and done["lost"] == 0


@pytest.mark.parametrize(
    ("ranks", "placement", "servers", "at_once", "most"),
    [(2, BLOCK, 2, 128, 3), (4, ("--per-node", 2), 1, 2, 600), (6, ("--per-node", 3), 2, 4, 100)],
)
@pytest.mark.parametrize("mpi", MPIS)
def test_servers_exchange_alltoalls(
    compiled, tmp_path, mpi, ranks, placement, servers, at_once, most
):
    """Blocking and non-blocking ones, with parts of one length and of different ones."""
    report = tmp_path / "report.json"
    algorithm = f"direct:{at_once}:served"
    settings = {
        "TUTTI_ALGORITHM_ALLTOALL": algorithm,
        "TUTTI_SERVERS": str(servers),
        "TUTTI_SERVE": "all",
    }
    program = compiled(mpi, "by_servers")
    expect_ok(mpi, ranks, program, most, placement=placement, report=report, **settings)
    done = json.loads(report.read_text())
    rows = [row for row in done["collectives"] if row["collective"] == "alltoall" and row["calls"]]
    assert {row["algorithm"] for row in rows} - {""} == {algorithm}, rows  # "": one rank
    assert done["endpoints"]["handed"] > 0 and done["endpoints"]["lost"] == 0


@pytest.mark.parametrize("mpi", MPIS)
def test_alltoalls_by_a_rule_without_servers(compiled, tmp_path, mpi):
    """The plan serves."""
    report = tmp_path / "report.json"
    settings = {"TUTTI_ALGORITHM_ALLTOALL": "direct:4:served"}
    expect_ok(mpi, 2, compiled(mpi, "by_servers"), 5, report=report, **settings)
    done = json.loads(report.read_text())
    assert "transfers_between_nodes" not in done or done["transfers_between_nodes"]["gets"] == 0


@pytest.mark.parametrize("mpi", MPIS)
def test_a_rank_that_is_late_for_an_alltoall_by_servers(compiled, mpi):
    """The watchdog says so; with TUTTI_STALL=abort the job ends."""
    settings = SERVERS | {"TUTTI_ALGORITHM_ALLTOALL": "direct:4:served"}
    stall = {"TUTTI_STALL_SECONDS": "1", "TUTTI_STALL": "abort"}
    words = mpi_words(mpi, 2, TUTTI_RUN, compiled(mpi, "by_servers"), "late")[1:]
    result = script("mpiexec", *words, code=None, **settings, **stall)
    assert result.returncode != 0
    assert "no progress for 1 s in alltoall by servers, waits for other ranks" in result.stderr


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
@pytest.mark.parametrize("mpi", MPIS)
def test_what_handing_a_transfer_over_takes_of_its_caller(compiled, tmp_path, mpi):
    """At most 0.6 times the instructions of starting it itself, with its completion."""
    wrapper, counts = tmp_path / "wrapper", tmp_path / "counts"
    wrapper.write_text(
        '#!/bin/sh\n[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 ] || exec "$@"\n'
        "exec valgrind -q --tool=callgrind --combine-dumps=yes "
        f"--callgrind-out-file={counts} --toggle-collect='counted_*' \"$@\"\n"
    )
    wrapper.chmod(0o755)
    program = compiled(mpi, "handing_costs", tutti=True)
    preload = f"LD_PRELOAD={BUILD / 'lib' / f'libtutti-{mpi}.so'}"
    command = mpi_words(mpi, 2, "env", preload, wrapper, program, 3)[1:]
    settings = {"TUTTI_SERVERS": "1", "TUTTI_SERVE": "all", "TUTTI_STALL_SECONDS": "0"}
    result = script("mpiexec", *command, **settings)
    assert "ok" in result.stdout.split(), result.stderr
    parts = re.findall(
        r"Client Request: (\w+)$.*?^totals: (\d+)$", counts.read_text(), re.MULTILINE | re.DOTALL
    )
    least = {name: min(int(n) for other, n in parts if other == name) for name, _ in parts}
    for kind in ("put", "get"):
        for length in (8, 64, 512, 4096):
            itself, servers = (least[f"{way}_{kind}_{length}"] for way in ("itself", "servers"))
            assert servers <= 0.6 * itself, (kind, length, least)


@pytest.mark.parametrize("mpi", MPIS)
def test_a_server_answers_while_the_program_computes(program, tmp_path, mpi):
    report = tmp_path / "report.json"
    expect_ok(mpi, 2, program(mpi), "computes", report=report, **SERVERS)
    assert json.loads(report.read_text())["transfers_between_nodes"]["answered_by_servers"] == 1


@pytest.mark.parametrize("settings", [SERVERS, SERVERS | {"TUTTI_SERVE": "none"}, {}])
@pytest.mark.parametrize("mpi", MPIS)
def test_the_report_tells_transfers_between_nodes(program, tmp_path, mpi, settings):
    """And who answered them: servers, unless there are none or they are told to leave them alone."""
    report = tmp_path / "report.json"
    expect_ok(mpi, 3, program(mpi), "private", report=report, **settings)
    done = json.loads(report.read_text())["transfers_between_nodes"]
    assert done["puts"] > 0 and done["gets"] > 0 and done["bytes"] > 0
    answered = done["answered_by_servers"] + done["answered_by_ranks"]
    # Each transfer with data is a request or more, of at most 64 KiB each.
    assert done["puts"] + done["gets"] <= answered
    assert answered <= done["puts"] + done["gets"] + done["bytes"] // 32768
    if settings != SERVERS:
        assert done["answered_by_servers"] == 0


@pytest.mark.parametrize("mpi", MPIS)
def test_servers_that_are_told_to_leave_transfers_to_ranks(program, tmp_path, mpi):
    """The client waits, and says for whom. Servers go on when they are enabled."""
    report = tmp_path / "report.json"
    stall = {"TUTTI_STALL_SECONDS": "1", "TUTTI_STALL": "report"}
    result = expect_ok(mpi, 2, program(mpi), "disabled", report=report, **stall, **SERVERS)
    assert "has waited 1 s for rank 1, on another node, to answer a put of 8" in result.stderr
    assert "while servers are disabled on its node" in result.stderr
    done = json.loads(report.read_text())["transfers_between_nodes"]
    assert done["answered_by_ranks"] == 1 and done["answered_by_servers"] == 1


@pytest.mark.parametrize("mpi", MPIS)
def test_a_rank_answers_while_it_ends(program, tmp_path, mpi):
    """Also if a report is gathered, which waits for all ranks."""
    report = tmp_path / "report.json"
    expect_ok(mpi, 2, program(mpi), "ends", report=report)
    done = json.loads(report.read_text())["transfers_between_nodes"]
    assert done == {
        "puts": 0, "gets": 1, "bytes": 8, "answered_by_servers": 0, "answered_by_ranks": 1
    }  # fmt: skip


@pytest.mark.parametrize("mpi", MPIS)
def test_a_target_that_calls_nothing(program, mpi):
    """Without a server the client says for whom it waits, and goes on when the target does."""
    stall = {"TUTTI_STALL_SECONDS": "1", "TUTTI_STALL": "report"}
    result = expect_ok(mpi, 2, program(mpi), "late", **stall)
    assert "has waited 1 s for rank 1, on another node, to answer a put of 100" in result.stderr
    assert "without servers" in result.stderr


@pytest.mark.parametrize("mpi", MPIS)
def test_a_target_that_does_not_answer(program, mpi):
    """With TUTTI_STALL=abort the client ends the job."""
    words = mpi_words(mpi, 2, TUTTI_RUN, program(mpi), "late")[1:]
    stall = {"TUTTI_STALL_SECONDS": "2", "TUTTI_STALL": "abort"}
    result = script("mpiexec", *words, code=None, **stall)
    assert result.returncode != 0 and "ok" not in result.stdout.split()
    assert "has waited 2 s for rank 1, on another node, to answer a put" in result.stderr
    assert "stalled for 2 s; ended because TUTTI_STALL=abort" in result.stderr


@pytest.mark.parametrize("mpi", MPIS)
def test_a_put_that_signals_and_that_no_server_begins(program, tmp_path, mpi):
    """Its rank executes it while it waits for a signal of the target, which waits for the put."""
    report = tmp_path / "report.json"
    settings = SERVERS | {"TUTTI_SERVE": "all"}
    placement = ("--per-node", 2)
    expect_ok(mpi, 4, program(mpi), "taken_back", placement=placement, report=report, **settings)
    done = json.loads(report.read_text())["endpoints"]
    assert done["taken_back"] == 1 and done["lost"] == 0


@pytest.mark.parametrize("settings", [SERVERS, {}])
@pytest.mark.parametrize("mpi", MPIS)
def test_a_signal_that_does_not_come(program, mpi, settings):
    """With TUTTI_STALL=abort the rank that waits says so, and ends the job."""
    words = mpi_words(mpi, 2, TUTTI_RUN, program(mpi), "waits")[1:]
    stall = {"TUTTI_STALL_SECONDS": "2", "TUTTI_STALL": "abort"}
    result = script("mpiexec", *words, code=None, **settings, **stall)
    assert result.returncode != 0 and "going" in result.stdout.split(), result.stderr
    waited = r"has waited 2 s for puts to add to the signal at 0x\w+, which is 5 of 6"
    assert re.search(waited, result.stderr), result.stderr
    assert "stalled for 2 s; ended because TUTTI_STALL=abort" in result.stderr


def measured(mpi, kind, *words, **settings):
    """The rows of a kind of tutti-ranks, on two nodes."""
    libraries = {"LD_LIBRARY_PATH": str(ROOT / ".mpi" / mpi / "lib")}
    program = BUILD / "bin" / f"tutti-ranks-{mpi}"
    if not program.exists():
        pytest.skip(f"no {program}")
    command = mpi_words(mpi, 2, TUTTI_RUN, program, kind, *words)[1:]
    result = script("mpiexec", *command, **libraries, **settings)
    return read_rows(result.stdout.splitlines())


@pytest.mark.parametrize("mpi", MPIS)
def test_transfers_are_measured(mpi):
    """By Tutti, by the host and as messages; the program checks the data."""
    words = ("between", "8,70000", 1, "waits,computes")
    cells = rows_of(measured(mpi, *words, **SERVERS), "between")
    found = {(one["call"], one["bytes"], one["target"], one["way"]) for one in cells}
    ways = [(target, way) for target in ("waits", "computes") for way in ("tutti", "host")]
    ways.append(("waits", "ping_pong"))
    assert len(cells) == len(found) == 2 * 2 * len(ways)
    assert {(target, way) for _, _, target, way in found} == set(ways)
    for one in cells:
        assert one["ns"] > 0
        if one["way"] != "ping_pong":
            assert one["start_ns"] <= one["ns"]
            assert one["compute_ns"] > 0 and one["beside_ns"] > 0


@pytest.fixture
def map_between_nodes(tmp_path):
    """A function that measures a small map of an MPI and returns its file."""

    def measure(mpi):
        found = map_of(measured(mpi, "saturation", 1, 8, 16, 2))
        assert found["scope"] == "between nodes" and found["cores"] == [1]
        file = tmp_path / "map.json"
        file.write_text(json.dumps(found))
        return file, found

    return measure


@pytest.mark.parametrize("mpi", MPIS)
def test_the_map_says_how_much_is_under_way(program, mpi, map_between_nodes):
    """The measured map says it itself. A map of 2 MB/s and 10 s until a reply asks for the most
    that is allowed. TUTTI_UNDER_WAY is stronger than a map."""
    file, found = map_between_nodes(mpi)
    log = {"TUTTI_LOG": "info", "TUTTI_SATURATION": str(file)}
    result = expect_ok(mpi, 2, program(mpi), "random", **log)
    assert f"transfers between nodes follow the saturation map {file}" in result.stderr
    assert f"{found['under_way']} bytes are under way at once to a rank" in result.stderr
    found |= {kind: [[[8e-10, 2e-3]] * 2] for kind in ("puts", "gets")}
    file.write_text(json.dumps(found))
    result = expect_ok(mpi, 2, program(mpi), "random", **log)
    assert f"{16 << 20} bytes are under way at once to a rank" in result.stderr
    result = expect_ok(mpi, 2, program(mpi), "random", TUTTI_UNDER_WAY="64K", **log)
    assert f"{64 << 10} bytes are under way at once to a rank" in result.stderr


@pytest.mark.parametrize("mpi", MPIS)
def test_the_map_says_which_transfers_servers_get(program, tmp_path, mpi):
    """It is measured with servers, too. Servers that gain by it get all, and else none."""
    settings = {"TUTTI_SERVERS": "1", "TUTTI_SERVE": "all"}
    found = map_of(measured(mpi, "saturation", 1, 8, 8, 2, **settings))
    (by_one,) = found["served"]
    assert by_one["servers"] == 1
    file, report = tmp_path / "map.json", tmp_path / "report.json"
    for factor, served in ((2, True), (1, False)):
        for kind in ("puts", "gets"):
            found[kind] = [[[1e-3], [1e-3]]]
            by_one[kind] = [[[factor * 1e-3], [factor * 1e-3]]]
        file.write_text(json.dumps(found | {"bytes": [1 << 20]}))
        selective = SERVERS | {"TUTTI_SATURATION": str(file)}
        expect_ok(mpi, 2, program(mpi), "random", report=report, **selective)
        written = json.loads(report.read_text())
        assert written["servers"]["saturation_map"] == str(file)
        done = written["endpoints"]
        assert done["count"] == 2 and (done["handed"] > 0) == served


@pytest.mark.parametrize(("mpi", "settings"), [("mpich", {}), ("openmpi", SERVERS)])
def test_a_killed_target(program, mpi, settings):
    """The job ends as the launcher sees to it, although a rank waits for the target."""
    words = mpi_words(mpi, 2, TUTTI_RUN, program(mpi), "killed")[1:]
    result = script("mpiexec", *words, code=None, **settings)
    assert result.returncode != 0 and "going" in result.stdout.split(), result.stderr
    for node in range(1, NODES + 1):
        wait_for(lambda node=node: not running(f"node{node}", program(mpi)))


@pytest.mark.parametrize("what", ["server_killed", "server_stopped"])
@pytest.mark.parametrize("mpi", MPIS)
def test_a_rank_with_a_server_is_killed_or_stopped(program, mpi, what):
    """Other ranks' transfers go by its server. The job ends, if it is killed, and else says why."""
    words = mpi_words(mpi, 4, TUTTI_RUN, program(mpi), what, placement=("--per-node", 2))[1:]
    settings = {"TUTTI_SERVERS": "1", "TUTTI_SERVE": "all"}
    if what == "server_stopped":
        settings |= {"TUTTI_STALL_SECONDS": "4", "TUTTI_STALL": "abort"}
    result = script("mpiexec", *words, code=None, **settings)
    assert result.returncode != 0 and "going" in result.stdout.split(), result.stderr
    if what == "server_stopped":
        waited = r"has waited 4 s for (server 0 .* to exchange a put|rank \d+, on another node)"
        assert re.search(waited, result.stderr), result.stderr
        assert "ended because TUTTI_STALL=abort" in result.stderr, result.stderr
    for node in range(1, NODES + 1):
        wait_for(lambda node=node: not running(f"node{node}", program(mpi)))


def multigrid_answers(mpi, *words, arguments, **settings):
    """What the program prints as answers on two nodes, after `words` of tutti-run.

    After so few cycles the residual is too large for the program's own verification: code 1.
    """
    libraries = {"LD_LIBRARY_PATH": str(ROOT / ".mpi" / mpi / "lib")}
    program = BUILD / "bin" / f"tutti-app-multigrid-{mpi}"
    if not program.exists():
        pytest.skip(f"no {program}")
    command = mpi_words(mpi, 2, *words, program, "--side", "16", *arguments)[1:]
    result = script("mpiexec", *command, code=None, **libraries, **settings)
    assert result.returncode == 1, result.stderr
    answers = [line for line in result.stdout.splitlines() if line.startswith("answer")]
    assert len(answers) >= 2
    return answers


@pytest.mark.parametrize("exchange", ["tutti_get", "tutti_put"])
@pytest.mark.parametrize("mpi", MPIS)
def test_multigrid_answers_while_it_waits_for_reductions(mpi, exchange):
    """Without servers. A rank that waited for a reduction in the host MPI would answer no get, and
    a neighbour that waits for the reply would not take part in the reduction.
    """
    several = ("--cycles", "2", "--solves", "16", "--together", "4")
    stall = {"TUTTI_STALL_SECONDS": "60", "TUTTI_STALL": "abort"}
    by_messages = multigrid_answers(mpi, arguments=several)
    transfers = (*several, "--exchange", exchange)
    assert multigrid_answers(mpi, TUTTI_RUN, arguments=transfers, **stall) == by_messages


CORES = sorted(os.sched_getaffinity(0))
WAYS_TO_GIVE_CORES = CoreWays("multigrid", 1, (), len(CORES))


@pytest.mark.skipif(len(CORES) < 2, reason="needs a core for servers beside one for ranks")
@pytest.mark.parametrize(
    ("mpi", "ways"),
    [("mpich", ["pinned", "selective"]), ("openmpi", ["best effort", "partitioned"])],
)
def test_multigrid_moves_its_ghosts_by_servers(tmp_path, mpi, ways):
    """Its solution has the same bits as with messages, however cores are given."""
    small = ("--cycles", "1", "--solves", "1", "--bottom", "sweeps")

    def answers(*words, exchange):
        return multigrid_answers(mpi, *words, arguments=(*small, "--exchange", exchange))

    by_messages = answers(exchange="messages")
    assert len(by_messages) >= 3
    report = tmp_path / "report.json"
    for way in ways:
        options = WAYS_TO_GIVE_CORES.before_program(way, mpi)
        words = (TUTTI_RUN, f"--report={report}", *options)
        assert answers(*words, exchange="tutti_put") == by_messages, way
        done = json.loads(report.read_text())
        assert done["transfers_between_nodes"]["puts"] > 0
        assert answers(*words, exchange="tutti_get") == by_messages, way
        done = json.loads(report.read_text())
        assert done["transfers_between_nodes"]["gets"] > 0
        assert done["endpoints"]["count"] == 2
        assert done["endpoints"]["exchanged"] > 0 or way == "selective"
        anywhere = done["servers"]["where"] == "where their ranks may run"
        assert anywhere == (way == "best effort"), done["servers"]

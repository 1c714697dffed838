"""One-sided transfers between ranks of different nodes, with and without servers."""

import json

import pytest
from several_nodes import TUTTI_RUN, mpi_words, running, script, wait_for
from test_nodes import BLOCK, CYCLIC, MPIS, expect_ok

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
        (4, BLOCK, "random", {}),
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
    stall = {"TUTTI_STALL_SECONDS": "1", "TUTTI_STALL": "abort"}
    result = script("mpiexec", *words, code=None, timeout=40, **stall)
    assert result.returncode != 0 and "ok" not in result.stdout.split()
    assert "has waited 1 s for rank 1, on another node, to answer a put" in result.stderr
    assert "stalled for 1 s; ended because TUTTI_STALL=abort" in result.stderr


@pytest.mark.parametrize(("mpi", "settings"), [("mpich", {}), ("openmpi", SERVERS)])
def test_a_killed_target(program, mpi, settings):
    """The job ends as the launcher sees to it, although a rank waits for the target."""
    words = mpi_words(mpi, 2, TUTTI_RUN, program(mpi), "killed")[1:]
    result = script("mpiexec", *words, code=None, timeout=40, **settings)
    assert result.returncode != 0 and "going" in result.stdout.split(), result.stderr
    for node in range(1, NODES + 1):
        wait_for(lambda node=node: not running(f"node{node}", program(mpi)), 10)

"""Communicators whose first call is a non-blocking, persistent or neighbourhood collective: Tutti
serves it, without waiting for set-up.
"""

import json

import pytest
from support import expect_ok, fortran_program, job
from tutti.tracing import read

pytestmark = pytest.mark.mpi
USUAL = {"TUTTI_SETUP_AFTER": "auto"}


def host_calls(report):
    """Tutti's calls, and the host's by reason."""
    document = json.loads(report.read_text())
    reasons = {row["reason"]: row["calls"] for row in document["host_reasons"]}
    return sum(row["calls"] for row in document["collectives"]), reasons


def served(host, compiled, tmp_path, ranks, *arguments, variables=USUAL, program="first_calls"):
    """Runs the program, in which the host must serve no call; returns the report."""
    report = tmp_path / "report.json"
    options = [f"--report={report}"]
    expect_ok(
        job(
            host,
            ranks,
            compiled(host, program),
            *arguments,
            options=options,
            variables=variables,
        )
    )
    calls, reasons = host_calls(report)
    assert calls > 0 and reasons == {}, reasons
    return json.loads(report.read_text())


@pytest.mark.parametrize("ranks", [2, 3])
def test_every_making(host, compiled, tmp_path, ranks):
    """By every function that makes a communicator, from MPI_COMM_WORLD and from such ones."""
    served(host, compiled, tmp_path, ranks, "makings")


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 4, 5, 8])
def test_every_making_of_many_ranks(host, compiled, tmp_path, ranks):
    if ranks == 1:
        expect_ok(job(host, 1, compiled(host, "first_calls"), "makings", variables=USUAL))
    else:
        served(host, compiled, tmp_path, ranks, "makings")


@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_come_in_orders_of_their_own(host, compiled, tmp_path, ranks):
    """Some have freed a communicator before others make their first call on it."""
    served(host, compiled, tmp_path, ranks, "orders")


@pytest.mark.parametrize("persistent", [0, 1])
def test_a_root_far_ahead(host, compiled, tmp_path, persistent):
    """Pins an error: the root waited for ever, because it did not look for the others again."""
    served(host, compiled, tmp_path, 3, "ahead", persistent)


def test_set_up_and_end_while_operations_are_under_way(host, compiled, tmp_path):
    """The first call opens records; the communicator then sets up in its next blocking call."""
    report = served(host, compiled, tmp_path, 3, "mixed", 60)
    assert report["outliving"]["started"] == report["outliving"]["completed"] > 0


@pytest.mark.parametrize("own_handler", [0, 1])
def test_a_making_that_is_refused_at_one_rank(host, compiled, tmp_path, own_handler):
    """It is not counted, because the other ranks have not made it.

    After a program's own handler MPICH returns success.
    """
    served(host, compiled, tmp_path, 3, "refused", own_handler)


def test_groups_in_threads(host, compiled, tmp_path):
    """Tags tell apart communicators of one group that threads make in different orders."""
    served(host, compiled, tmp_path, 2, "threads")


def test_short_lived_ones_give_their_memory_back(host, compiled, tmp_path):
    """500 of them make a call; together they would hold 4.5 MiB."""
    report = served(host, compiled, tmp_path, 2, "short", 1000)
    assert report["outliving"]["most_bytes_held"] < 500_000


def test_many_at_once(host, compiled, tmp_path):
    """Each holds its ledgers, two rings of records, and no area."""
    communicators, ranks = 300, 2
    report = served(host, compiled, tmp_path, ranks, "many", communicators)
    assert report["outliving"]["most_bytes_held"] < communicators * 20_000


def test_without_memfds_the_host_serves_them(host_named, compiled, tmp_path):
    host, report = host_named("mpich"), tmp_path / "report.json"
    options, variables = [f"--report={report}"], USUAL | {"TUTTI_SHM": "posix"}
    program = compiled(host, "first_calls")
    expect_ok(job(host, 2, program, "makings", options=options, variables=variables))
    _, reasons = host_calls(report)
    assert any("memfds" in reason for reason in reasons), reasons


def test_ledgers_may_exceed_the_limit(host, compiled):
    variables = USUAL | {"TUTTI_OUTSTANDING_BYTES": "64K"}
    result = expect_ok(
        job(host, 2, compiled(host, "first_calls"), "many", 300, variables=variables)
    )
    assert result.stderr.count("more than TUTTI_OUTSTANDING_BYTES (65536)") == 2


@pytest.mark.parametrize("after", ["0", "1", "1000"])
def test_with_other_numbers_of_calls(host_named, compiled, tmp_path, after):
    """The first calls do not depend on when communicators set up.

    The host makes the one blocking call of the program, on MPI_COMM_WORLD.
    """
    host, report, variables = host_named("mpich"), tmp_path / "report.json", {}
    variables["TUTTI_SETUP_AFTER"] = after
    program, options = compiled(host, "first_calls"), [f"--report={report}"]
    expect_ok(job(host, 2, program, "orders", options=options, variables=variables))
    calls, reasons = host_calls(report)
    assert calls >= 2 * 4 * 36 and sum(reasons.values()) == (0 if after == "0" else 2), reasons


@pytest.mark.parametrize("ranks", [2, 3])
def test_sessions_beside_the_world(host, compiled, tmp_path, ranks):
    served(host, compiled, tmp_path, ranks, "first-beside", program="sessions")


@pytest.mark.parametrize("ranks", [2, 3])
def test_sessions_alone(host, compiled, ranks):
    expect_ok(job(host, ranks, compiled(host, "sessions"), "first-alone", variables=USUAL))


def test_sessions_alone_are_served(host, compiled):
    """The watchdog's line shows that Tutti serves the call, because such a job has no report."""
    variables = USUAL | {"TUTTI_STALL_SECONDS": "2", "TUTTI_STALL": "abort"}
    result = job(host, 2, compiled(host, "sessions"), "first-stall", variables=variables)
    assert result.returncode != 0
    assert "in a non-blocking allreduce: rank 0 of its communicator" in result.stderr, result.stderr


@pytest.mark.parametrize("face", ["MPIF", "USE_MPI", "USE_F08"])
@pytest.mark.parametrize("name", ["debian-mpich", "debian-openmpi"])
def test_fortran(host_named, name, face, tmp_path):
    """The makings are seen in every Fortran interface, and count as those in C do."""
    host, report = host_named(name), tmp_path / "report.json"
    program = fortran_program(host, "first_calls", face)
    expect_ok(job(host, 3, program, options=[f"--report={report}"], variables=USUAL))
    calls, reasons = host_calls(report)
    assert calls > 0 and reasons == {}, reasons


def test_traces(host_named, compiled, tmp_path):
    """Operations before and after set-up are those of one communicator, and the parts of a split are
    told apart.
    """
    host, trace = host_named("mpich"), tmp_path / "trace"
    program = compiled(host, "first_calls")
    expect_ok(job(host, 4, program, "mixed", 8, options=[f"--trace={trace}"], variables=USUAL))
    recorded = read(trace)
    used = set(recorded.operations["communicator"].tolist())
    assert len(used) == 1 + 6 + 2 * 2, used  # the last ones are two splits in two parts


FIRST = "first calls of a communicator (TUTTI_SETUP_AFTER)"
POSTPONED = (
    "first calls of a communicator, for which little shared memory was left "
    "(TUTTI_SHM_BYTES_PER_RANK)"
)


def test_reasons_name_the_cause(host_named, compiled, tmp_path):
    """They named TUTTI_SETUP_AFTER, on which none of these calls depends."""
    host, report = host_named("mpich"), tmp_path / "report.json"

    def reasons_of(program, *arguments, variables):
        how = {"options": [f"--report={report}"], "variables": variables}
        expect_ok(job(host, 3, compiled(host, program), *arguments, **how))
        return host_calls(report)[1]

    # Non-blocking, persistent and neighbourhood collectives on new communicators.
    reasons = reasons_of("first_calls", "ahead", 0, variables=USUAL | {"TUTTI_REACH": "net"})
    assert any("for which they must not wait" in reason for reason in reasons), reasons
    # A call that the host refuses at rank 0, on a communicator that would meet in it; the others'
    # part in it, and the next two calls, are then counted.
    refused = reasons_of("refused", 0, variables=USUAL)
    assert refused == {"arguments for the host MPI to judge": 1, FIRST: 9}


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_blocking_first_calls_meet(host, compiled, tmp_path, ranks):
    """Issue 33: the host made the first 24 or 48 calls of each communicator.

    Rank 0 of a communicator makes all its calls, and frees it, before others have made their first.
    While those hold the memory of many, a few communicators make their first calls in the host.
    """
    report = tmp_path / "report.json"
    program, options = compiled(host, "meeting"), [f"--report={report}"]
    expect_ok(job(host, ranks, program, "ahead", options=options, variables=USUAL))
    calls, reasons = host_calls(report)
    assert set(reasons) <= {POSTPONED} and calls > 9 * sum(reasons.values()), (calls, reasons)


def test_memory_is_left_for_communicators_of_many_calls(host, compiled, tmp_path):
    """Communicators that find little of it free make their first calls in the host."""
    report, variables = tmp_path / "report.json", USUAL | {"TUTTI_SHM_BYTES_PER_RANK": "256K"}
    program, options = compiled(host, "meeting"), [f"--report={report}"]
    expect_ok(job(host, 2, program, "living", 200, options=options, variables=variables))
    calls, reasons = host_calls(report)
    # The last communicator sets up after at most 48 of its 101 calls.
    assert set(reasons) == {POSTPONED}, reasons
    assert 2 * 100 < reasons[POSTPONED] <= 2 * (200 + 48), reasons
    assert calls >= 2 * (101 - 48)


@pytest.mark.parametrize("regions", [None, "numa:2 core:1"])
def test_set_up_is_postponed_with_and_without_regions(host, compiled, regions):
    """With several regions all ranks touch their memory, and wait for each other."""
    variables = USUAL | {"TUTTI_SHM_BYTES_PER_RANK": "256K"}
    if regions:
        variables["TUTTI_TOPOLOGY"] = regions
    expect_ok(job(host, 2, compiled(host, "meeting"), "living", 60, variables=variables))


def test_a_service_that_rank_0_keeps_no_longer(host, compiled):
    """Rank 0 has named it in an announcement that the others have not read yet."""
    variables = USUAL | {"TUTTI_SHM_BYTES_PER_RANK": "256K"}
    for settings in (USUAL, variables):
        expect_ok(job(host, 3, compiled(host, "meeting"), "taken", variables=settings))


def test_a_first_call_without_types(host_named, compiled):
    """MPICH does not look at the types of parts without elements."""
    host = host_named("mpich")
    expect_ok(job(host, 3, compiled(host, "meeting"), "types", variables=USUAL))


def test_first_calls_that_are_refused_at_one_rank(host_named, compiled):
    """That rank gets its error, and does not wait for rank 0, which waits for a word from it."""
    host = host_named("mpich")
    expect_ok(job(host, 3, compiled(host, "meeting"), "refused", variables=USUAL))


@pytest.mark.parametrize("topology", [{}, {"TUTTI_TOPOLOGY": "numa:2 core:1"}])
def test_a_first_call_that_is_refused_at_rank_0(host_named, compiled, topology):
    """The others, which only send, return as they do with the host alone."""
    host = host_named("mpich")
    program = compiled(host, "meeting")
    expect_ok(job(host, 3, program, "refused_0", variables=USUAL | topology))

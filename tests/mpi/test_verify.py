"""tutti-run --verify: ranks that pass arguments to a collective that do not fit are told so."""

import pytest
import support

pytestmark = pytest.mark.mpi

FAULTS = {
    "root": "rank 2 calls MPI_Bcast of 16 bytes, root 2; "
    "ranks 0, 1 call MPI_Bcast of 16 bytes, root 0",
    "count": "rank 2 calls MPI_Bcast of 8 bytes, root 0; "
    "ranks 0, 1 call MPI_Bcast of 16 bytes, root 0",
    "op": "integers of 4 bytes, MPI_MAX; ranks 0, 1 call MPI_Allreduce of 16 bytes, "
    "integers of 4 bytes, MPI_SUM",
    "type": "rank 2 calls MPI_Allreduce of 16 bytes, real numbers of 4 bytes, MPI_SUM; ranks 0, 1",
    "function": "rank 2 calls MPI_Allreduce of 16 bytes",
    "gather_of_roots": "rank 2 calls MPI_Gather of 4 bytes, root 2",
    "sum_of_parts": "rank 2 passes 8 bytes to rank 0 in MPI_Gatherv, which expects 4",
    "parts_among_all": "rank 2 passes 8 bytes to rank 0 in MPI_Alltoallv, which expects 4",
    "parts_among_neighbours": "rank 2 passes 8 bytes to rank 0 in MPI_Neighbor_allgather, which "
    "expects 4",
    "nonblocking_parts": "rank 0 passes 4 bytes to rank 2 in MPI_Iscatterv, which expects 8; "
    "this rank's call is at rubbish.c:{line} (nonblocking_parts)",
    "parts_of_reduce_scatter": "rank 2 passes 12 bytes to rank 0 in MPI_Reduce_scatter, which "
    "expects 8",
    "nonblocking_op": "rank 2 calls MPI_Iallreduce of 16 bytes, integers of 4 bytes, MPI_MAX; "
    "ranks 0, 1 call MPI_Iallreduce of 16 bytes, integers of 4 bytes, MPI_SUM; "
    "this rank's call is at rubbish.c:{line} (nonblocking_op)",
    "tested_op": "rank 2 calls MPI_Ireduce_scatter_block of 4 bytes, integers of 4 bytes, MPI_MAX",
    "persistent_op": "rank 2 calls MPI_Allreduce_init of 16 bytes, integers of 4 bytes, MPI_MAX",
    "persistent_root": "rank 2 calls MPI_Bcast_init of 16 bytes, root 2",
    "between_groups": "of an intercommunicator call MPI_Barrier; on the other side, "
    "rank 0 calls MPI_Allgather",
}
# The calls that are judged when they complete, or in MPI_Finalize.
OUTLIVE = ["nonblocking_op", "tested_op", "persistent_op", "persistent_root"]
# Programs in which all ranks go on and count those that got an error.
TOLD = ["parts_among_all", "sum_of_parts", *OUTLIVE[:3]]
# The calls that are at {line}.
CALLS = {
    "nonblocking_parts": "MPI_Iscatterv(",
    "nonblocking_op": "MPI_Iallreduce(in, out, 4, MPI_INT, wrong ?",
}


def line_of(call):
    lines = (support.PROGRAMS / "rubbish.c").read_text(encoding="utf-8").splitlines()
    [number] = [number for number, line in enumerate(lines, 1) if call in line]
    return number


def run(host, compiled, case, rounds, *options):
    words = [support.TUTTI_RUN, *options, compiled(host, "rubbish"), case, rounds]
    # Tutti finds other lengths itself in non-blocking calls that it serves.
    by_host = {"TUTTI_SERVE_COLLECTIVES": "0"} if case == "nonblocking_parts" else {}
    return support.run(
        [host.launcher, "-n", 3, *words],
        environment=support.clean_environment() | host.environment | by_host,
    )


# The host serves the first call of a communicator, and Tutti the tenth.
@pytest.mark.parametrize(("name", "rounds"), [("mpich", 9), ("openmpi", 0)])
@pytest.mark.parametrize("case", FAULTS)
def test_faults(host_named, compiled, name, rounds, case):
    result = run(host_named(name), compiled, case, rounds, "--verify")
    assert result.returncode != 0
    lines = [line for line in result.stderr.splitlines() if "error: --verify: " in line]
    if "group" not in case and case not in OUTLIVE and "non" not in case:
        assert len(lines) == 1, result.stderr
    fault = FAULTS[case].format(line=line_of(CALLS[case])) if case in CALLS else FAULTS[case]
    assert any(fault in line for line in lines), result.stderr
    if case in TOLD:
        assert "3 of 3 ranks were told" in result.stderr, result.stderr
    assert "tutti: where the ranks are (--verify has found" in result.stderr, result.stderr


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_arguments_that_fit(host_named, compiled, name):
    result = run(host_named(name), compiled, "fits", 9, "--verify")
    assert result.returncode == 0, result.stderr
    assert "verify" not in result.stderr, result.stderr


@pytest.mark.parametrize(
    ("name", "program", "case"),
    [("mpich", "persistent", "results"), ("openmpi", "outstanding", "many")],
)
def test_requests_that_fit(host_named, compiled, name, program, case):
    """Programs that complete requests in every way, and look at the results."""
    host = host_named(name)
    words = [compiled(host, program), case]
    result = support.expect_ok(support.job(host, 3, *words, options=["--verify"]))
    assert "verify" not in result.stderr, result.stderr

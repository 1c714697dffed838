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
    "sum_of_parts": "rank 0 has 4 bytes for the part of rank 2 in MPI_Gatherv, which passes 8",
    "parts_of_reduce_scatter": "rank 2 calls MPI_Reduce_scatter of 20 bytes",
    "nonblocking_op": "rank 2 calls MPI_Iallreduce of 16 bytes, integers of 4 bytes, MPI_MAX",
    "persistent_root": "rank 2 calls MPI_Bcast_init of 16 bytes, root 2",
    "between_groups": "of an intercommunicator call MPI_Barrier; on the other side, "
    "rank 0 calls MPI_Allgather",
}


def run(host, compiled, case, rounds, *options):
    words = [support.TUTTI_RUN, *options, compiled(host, "rubbish"), case, rounds]
    return support.run(
        [host.launcher, "-n", 3, *words],
        environment=support.clean_environment() | host.environment,
        timeout=60,
    )


# The host serves the first call of a communicator, and Tutti the tenth.
@pytest.mark.parametrize(("name", "rounds"), [("mpich", 9), ("openmpi", 0)])
@pytest.mark.parametrize("case", FAULTS)
def test_faults(host_named, compiled, name, rounds, case):
    result = run(host_named(name), compiled, case, rounds, "--verify")
    assert result.returncode != 0
    lines = [line for line in result.stderr.splitlines() if "error: --verify: " in line]
    if "group" not in case and "non" not in case and "persistent" not in case:
        assert len(lines) == 1, result.stderr
    assert any(FAULTS[case] in line for line in lines), lines
    assert "tutti: where the ranks are (--verify has found" in result.stderr, result.stderr


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_arguments_that_fit(host_named, compiled, name):
    result = run(host_named(name), compiled, "fits", 9, "--verify")
    assert result.returncode == 0, result.stderr
    assert "verify" not in result.stderr, result.stderr

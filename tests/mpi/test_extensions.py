"""What the hosts have beside the standard, together with collectives that Tutti serves.

docs/decisions/extensions-of-hosts.md lists the extensions.
"""

import pytest
from support import expect_case, expect_ok, job

pytestmark = pytest.mark.mpi
PARTS = [
    "threadcomm",
    "equal",
    "stream",
    "is_complete",
    "op_with_state",
    "types",
    "generalized",
    "partitioned",
]


@pytest.mark.parametrize("setup_after", ["0", "1"])
@pytest.mark.parametrize("part", PARTS)
def test_extension(host_named, compiled, part, setup_after):
    """Issue 33: threads as ranks, and an operation that only MPICH has."""
    host = host_named("mpich")
    variables = {"TUTTI_SETUP_AFTER": setup_after}
    expect_case(part, PARTS, host, 3, compiled(host, "extensions"), variables)


def test_partitioned_messages_of_open_mpi(host_named, compiled):
    host = host_named("openmpi")
    expect_ok(job(host, 3, compiled(host, "extensions"), "partitioned"))

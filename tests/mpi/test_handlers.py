"""Tutti keeps the program's error handlers: errors have the same effects as without Tutti."""

import pytest
from support import job

pytestmark = pytest.mark.mpi
KINDS = ["datatype", "group", "info", "reduce_local", "waitall", "duplicate", "self"]


@pytest.mark.parametrize("kind", KINDS)
def test_errors_end_as_without_tutti(host, compiled, kind):
    """With MPI_ERRORS_RETURN only on MPI_COMM_WORLD: compares whether the job ends, and the error
    class.
    """
    alone, served = (
        job(host, 2, compiled(host, "handlers"), kind, tutti=tutti) for tutti in (False, True)
    )
    assert (served.returncode == 0) == (alone.returncode == 0), (
        f"{served.stdout}\n{served.stderr}\n{alone.stderr}"
    )
    if alone.returncode == 0:
        assert sorted(served.stdout.splitlines()) == sorted(alone.stdout.splitlines()), (
            served.stderr
        )
        assert "ok" in served.stdout.split()

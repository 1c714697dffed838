"""Error handlers stay the program's: where it changes few of them, errors end as they do without Tutti."""

import pytest
from support import job

pytestmark = pytest.mark.mpi
KINDS = ["datatype", "group", "info", "reduce_local", "waitall", "duplicate", "self"]


@pytest.mark.parametrize("kind", KINDS)
def test_errors_end_as_without_tutti(host, compiled, kind):
    """MPI_ERRORS_RETURN on MPI_COMM_WORLD alone: whether the job ends, and which class the call returns."""
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

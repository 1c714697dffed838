"""Exceptions inside a call become MPI errors: memory may run out at any place."""

import pytest
from support import expect_ok, job

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("ranks", [2, 3])
def test_calls_that_fail_for_memory_may_be_repeated(host, compiled, ranks):
    """Every allocation of a call fails in turn at one rank; results are right when the call
    succeeds.
    """
    result = expect_ok(job(host, ranks, compiled(host, "thrown"), "retried"))
    assert result.stderr.count("memory ran out") == 1, result.stderr


@pytest.mark.parametrize("where", ["set_up", "middle"])
def test_errors_of_one_rank(host, compiled, where, tmp_path):
    """Other ranks may wait for the failed call, so the host does not serve it.

    The rank gets errors from further calls, and ends the job.
    """
    options = ["--trace", tmp_path / "run.trace"] if where == "middle" else []
    result = job(host, 2, compiled(host, "thrown"), where, options=options)
    assert "failed as it should" in result.stdout, f"{result.stdout}\n{result.stderr}"
    assert result.returncode != 0 and "terminate called" not in result.stderr
    if where == "middle":
        assert "rank 1 gave up in the middle of barrier: memory ran out" in result.stderr, (
            result.stderr
        )

"""The report: losses, calls that are no loss, calls that it does not cover, and reports of aborted
jobs.
"""

import json

import pytest
import support
from support import expect_ok, fortran_program, job

pytestmark = pytest.mark.mpi


def test_one_rank_is_no_loss(host, compiled, tmp_path):
    """Calls on communicators of one rank have their own line and do not count as the host's."""
    report = tmp_path / "report.json"
    expect_ok(job(host, 2, compiled(host, "aborted"), "none", options=[f"--report={report}"]))
    document = json.loads(report.read_text())
    assert document["calls_on_one_rank"] == 2 * 10 and document["aborted_by"] is None
    rows = {row["collective"]: row for row in document["collectives"]}
    assert (
        "bcast" not in rows
        and rows["allreduce"]["calls"] + rows["allreduce"]["host_calls"] == 2 * 25
    )
    assert [row["reason"] for row in document["host_reasons"]] == [
        "first calls of a communicator (TUTTI_SETUP_AFTER)"
    ]
    assert document["not_covered"] == ["files"]


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_one_sided_calls_are_counted(host_named, compiled, tmp_path, name):
    host, report = host_named(name), tmp_path / "report.json"
    said = expect_ok(job(host, 2, compiled(host, "windows"), options=["--report"])).stderr
    assert "calls, which the host serves: 18 puts, 18 gets, 36 accumulates" in said
    expect_ok(job(host, 2, compiled(host, "windows"), options=[f"--report={report}"]))
    counted = json.loads(report.read_text())["window_calls"]
    assert counted == {"puts": 18, "gets": 18, "accumulates": 36}


def test_the_table_shows_calls_on_one_rank(host_named, compiled):
    host = host_named("mpich")
    said = expect_ok(job(host, 2, compiled(host, "aborted"), "none", options=["--report"])).stderr
    assert "no loss: 20 calls on communicators of one rank" in said
    assert "not counted, because Tutti does not see them: files" in said


@pytest.mark.parametrize("name", ["mpich", "openmpi", "debian-mpich"])
@pytest.mark.parametrize("idle", ["auto", "sleep"])
def test_a_late_rank_is_told_from_a_long_allreduce(host_named, compiled, tmp_path, name, idle):
    """The others wait 0.2 s for it in ten allreduces, and rank 0 as long for its messages."""
    host, report = host_named(name), tmp_path / "report.json"
    options = [f"--report={report}", f"--idle={idle}"]
    expect_ok(job(host, 3, compiled(host, "late_rank"), options=options))
    document = json.loads(report.read_text())
    time, [row] = document["time"], document["collectives"]
    assert time["waits_least"]["rank"] == 2 and time["waits_most"]["rank"] in (0, 1), time
    waiting = row["waiting_us"] / 1e6
    # On a loaded machine the others come later themselves, and wait for less.
    assert 0.1 < waiting == pytest.approx(time["waiting_in_collectives_s"], abs=1e-5)
    assert time["waiting_in_collectives_s"] <= time["collectives_s"]
    assert document["point_to_point"]["calls"] == 10 + 5 + 2 * 5
    assert 0.05 < time["messages_s"] < time["all_s"] - time["collectives_s"]
    # Only waits of Tutti's own, and those that pass through its hooks, are seen.
    if idle == "sleep" or name != "mpich":
        assert 0.05 < time["waiting_for_messages_s"] <= time["messages_s"]


@pytest.mark.parametrize("who", ["one", "all"])
def test_a_job_that_aborts_leaves_its_report(host, compiled, tmp_path, who):
    """The aborting rank writes its report; if several ranks abort, one of them does."""
    report = tmp_path / "report.json"
    result = job(host, 3, compiled(host, "aborted"), who, options=[f"--report={report}"])
    assert result.returncode != 0
    document = json.loads(report.read_text())
    assert document["ranks"] == 3 and document["aborted_by"] in ([2] if who == "one" else [0, 1, 2])
    rows = {row["collective"]: row for row in document["collectives"]}
    assert rows["allreduce"]["calls"] + rows["allreduce"]["host_calls"] == 25


@pytest.mark.parametrize("how", ["part", "exit"])
@pytest.mark.parametrize("gone", [0, 2])
def test_ranks_that_end_alone_are_missing(host_named, compiled, tmp_path, how, gone):
    """The report waited for them for ever, where the launcher lets the other ranks go on."""
    host, report = host_named("mpich"), tmp_path / "report.json"
    command = [host.launcher, "-disable-auto-cleanup", "-n", 3, support.TUTTI_RUN]
    command += [f"--report={report}", compiled(host, "aborted"), how, gone]
    said = support.run(command, environment=support.clean_environment() | host.environment)
    assert report.exists(), said
    document = json.loads(report.read_text())
    assert document["missing_ranks"] == [gone] and document["aborted_by"] is None
    rows = {row["collective"]: row for row in document["collectives"]}
    assert rows["allreduce"]["calls"] + rows["allreduce"]["host_calls"] == 2 * 25


def test_late_ranks_are_named(host_named, compiled):
    host = host_named("mpich")
    how = {"options": ["--report"], "variables": {"TUTTI_STALL_SECONDS": "1"}}
    result = job(host, 3, compiled(host, "aborted"), "late", 1, **how)
    assert result.returncode == 0, result.stderr
    late = "the report waits for ranks that have not come to MPI_Finalize: 1\n"
    assert late in result.stderr, result.stderr


def test_a_late_rank_ends_the_job_on_request(host_named, compiled, tmp_path):
    host, report = host_named("mpich"), tmp_path / "report.json"
    variables = {"TUTTI_STALL_SECONDS": "1", "TUTTI_STALL": "abort"}
    how = {"options": [f"--report={report}"], "variables": variables}
    result = job(host, 3, compiled(host, "aborted"), "late", 1, **how)
    assert result.returncode != 0 and "ended because TUTTI_STALL=abort" in result.stderr
    assert json.loads(report.read_text())["missing_ranks"] == [1]


def test_an_aborted_jobs_table(host_named, compiled):
    host = host_named("mpich")
    said = job(host, 3, compiled(host, "aborted"), "all", options=["--report"]).stderr
    assert said.count("alone, which ended the job by MPI_Abort") == 1, said


@pytest.mark.parametrize("name", ["debian-mpich", "debian-openmpi"])
@pytest.mark.parametrize("face", ["MPIF", "USE_MPI", "USE_F08"])
def test_a_fortran_job_that_aborts(host_named, tmp_path, name, face):
    host, report = host_named(name), tmp_path / "report.json"
    program = fortran_program(host, "aborted", face)
    result = job(host, 2, program, options=[f"--report={report}"])
    assert result.returncode != 0
    assert json.loads(report.read_text())["aborted_by"] == 1

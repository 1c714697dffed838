"""Killed ranks, disconnected nodes, and launchers that no longer answer.

No rank waits for ever without a message, and with TUTTI_STALL=abort every rank ends. The
launcher's behaviour after the loss of a node is the host MPI's.
"""

import json
import re
import subprocess
from contextlib import contextmanager

import pytest
from retries import note_retry
from several_nodes import (
    HERE,
    TUTTI_RUN,
    environment,
    mpi_words,
    named,
    on,
    running,
    script,
    wait_for,
)

NODES = 3
RANKS = 6
pytestmark = [pytest.mark.mpi, pytest.mark.usefixtures("nodes")]
MPIS = ["mpich", "openmpi"]
ABORTS = {"TUTTI_STALL_SECONDS": "2", "TUTTI_STALL": "abort"}
MORE_PATIENT = {"TUTTI_STALL_SECONDS": "10"}


def ranks_left(program):
    return [number for k in range(1, NODES + 1) for number in running(f"node{k}", program)]


class Said:
    """The stderr of the ranks of each node, written to files, which needs no network."""

    def __init__(self, directory):
        self.directory = directory
        self.prefix = ["sh", "-c", f'exec 2>>{directory}/$(uname -n) "$@"', "sh"]

    def __call__(self, k):
        return (self.directory / f"node{k}").read_text()

    def forget(self):
        for file in self.directory.glob("node*"):
            file.unlink()


@pytest.fixture
def said(tmp_path):
    directory = tmp_path / "said"
    directory.mkdir()
    return Said(directory)


def end(process, program):
    """Ends the launcher and all processes of the job."""
    for k in range(1, NODES + 1):
        script("mend", k)
    if process.poll() is None:
        process.terminate()
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    wait_for(lambda: not ranks_left(program))


@contextmanager
def job(mpi, program, *arguments, said=None, **variables):
    """A job under Tutti with two ranks on each node, after it has printed "going".

    On a busy machine the host's first connections may take longer than the time after which a
    stalled job ends. Then the job is started again with a longer time.
    """
    words = mpi_words(mpi, RANKS, *(said.prefix if said else []), TUTTI_RUN, program, *arguments)
    attempts = [variables, variables | MORE_PATIENT] if "TUTTI_STALL" in variables else [variables]
    for attempt in attempts:
        if said:
            said.forget()
        process = subprocess.Popen(
            words,
            env=environment(**attempt),
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            going = process.stdout.readline()
            if going == "" and attempt is not attempts[-1]:
                note_retry("the job ended before its first connections were made")
                continue
            assert going == "going\n", process.communicate(timeout=100)[1]
            yield process
            return
        finally:
            end(process, program)


@pytest.mark.parametrize("mpi", MPIS)
def test_a_killed_rank_on_another_node(compiled, mpi):
    program = compiled(mpi, "endless")
    with job(mpi, program, "never", 3) as process:
        process.communicate(timeout=100)
        assert process.returncode != 0
        wait_for(lambda: not ranks_left(program))


def end_without(gone, compiled, tmp_path, *options):
    """Runs a job in which a rank ends alone, and MPICH's launcher lets the others go on.

    The launcher tells the nodes of it by a signal, and may fail because it finds a connection
    closed; then the job ends before the others come to what is tested, and is started again.
    """
    launcher = tmp_path / "mpiexec"
    launcher.write_text(
        "#!/bin/sh\ntrap '' PIPE\n"  # the launcher says that it has failed
        f'exec {HERE.parents[1]}/.mpi/mpich/bin/mpiexec -disable-auto-cleanup "$@"\n'
    )
    launcher.chmod(0o755)
    words = ["--mpi", launcher, "-n", RANKS, TUTTI_RUN, *options]
    words += [compiled("mpich", "aborted"), "exit", gone, 250]
    for _ in range(3):
        said = script("mpiexec", *words, code=None, **ABORTS).stderr
        if "HYD_pmcd_pmiserv_send_signal" not in said:
            break
        note_retry("MPICH's launcher could not tell a node of a rank that had ended")
    return said


@pytest.mark.parametrize("gone", [1, 5])
def test_reports_without_a_dead_rank(compiled, tmp_path, gone):
    """Nodes that cannot know that it died waited for it for ever."""
    report = tmp_path / "report.json"
    said = end_without(gone, compiled, tmp_path, f"--report={report}")
    assert "ended because TUTTI_STALL=abort" in said
    for k in range(1, NODES + 1):
        document = json.loads((tmp_path / f"report.node{k}.json").read_text())
        ranks = [2 * k - 2, 2 * k - 1]
        assert document["of_ranks"] == [rank for rank in ranks if rank != gone]
        assert document["missing_ranks"] == [rank for rank in ranks if rank == gone]
        rows = {row["collective"]: row for row in document["collectives"]}
        calls = rows["allreduce"]["calls"] + rows["allreduce"]["host_calls"]
        assert calls == 25 * len(document["of_ranks"])
    assert not report.exists()


def test_no_trace_without_a_dead_rank(compiled, tmp_path):
    said = end_without(5, compiled, tmp_path, "--trace", tmp_path / "run.trace")
    assert "the trace waits for rank 5" in said and "ended because TUTTI_STALL=abort" in said
    assert not list(tmp_path.glob("*.trace*"))


def ranks_in_tables(text):
    """The ranks of which a table of this node says in which call of MPI they are."""
    rows = re.findall(r"^  ranks? ([\d, -]+): MPI_", text, re.MULTILINE)
    spans = [span.split("-") for row in rows for span in row.split(", ")]
    return {
        rank for first, *last in spans for rank in range(int(first), int([first, *last][-1]) + 1)
    }


@pytest.mark.parametrize("mpi", MPIS)
def test_a_node_disconnected_for_a_while(compiled, said, tmp_path, mpi):
    """Each node has a table of its ranks; then the job continues with right results."""
    with job(
        mpi, compiled(mpi, "endless"), tmp_path / "end", said=said, TUTTI_STALL_SECONDS="1"
    ) as process:
        script("cut", 2)
        wait_for(lambda: all(ranks_in_tables(said(k)) >= {2 * k - 2, 2 * k - 1} for k in (1, 2)))
        assert process.poll() is None
        script("mend", 2)
        (tmp_path / "end").touch()
        assert process.communicate(timeout=100)[0] == "ok\n"
        assert process.returncode == 0
    assert "ranks 2, 3: do not answer (nor does the node)" in said(1), said(1)


BY_HOST = {
    f"TUTTI_ALGORITHM_{name}": "hierarchical+host" for name in ("BARRIER", "BCAST", "ALLREDUCE")
}


@pytest.mark.parametrize("mpi", MPIS)
def test_leaders_that_wait_inside_the_host(compiled, said, tmp_path, mpi):
    """The tables name them, too; then the job continues."""
    with job(
        mpi,
        compiled(mpi, "endless"),
        tmp_path / "end",
        said=said,
        TUTTI_STALL_SECONDS="1",
        **BY_HOST,
    ) as process:
        script("cut", 2)
        wait_for(lambda: all(ranks_in_tables(said(k)) >= {2 * k - 2, 2 * k - 1} for k in (1, 2)))
        script("mend", 2)
        (tmp_path / "end").touch()
        assert process.communicate(timeout=100)[0] == "ok\n"
        assert process.returncode == 0


@pytest.mark.parametrize("mpi", MPIS)
def test_leaders_inside_the_host_end_with_the_job(compiled, said, mpi):
    """Other ranks of their nodes stall, and end the job."""
    program = compiled(mpi, "endless")
    with job(mpi, program, "never", said=said, **ABORTS, **BY_HOST) as process:
        script("cut", 2)
        wait_for(lambda: "ended because TUTTI_STALL=abort" in said(2))
        script("mend", 2)
        wait_for(lambda: not ranks_left(program))
        process.terminate()
        process.communicate(timeout=100)
        assert process.returncode != 0


@pytest.mark.parametrize("what", ["fatal", "returns"])
@pytest.mark.parametrize("mpi", MPIS)
def test_a_cut_ends_the_ranks_of_all_nodes(compiled, said, mpi, what):
    """This includes programs with MPI_ERRORS_RETURN."""
    program = compiled(mpi, "endless")
    with job(mpi, program, "never", -1, what, said=said, **ABORTS) as process:
        script("cut", 2)
        wait_for(lambda: not ranks_left(program))
        script("mend", 2)
        process.terminate()  # as the launcher does after it has lost a node
        process.communicate(timeout=100)
        assert process.returncode != 0
    assert "ended because TUTTI_STALL=abort" in said(1) + said(3)
    assert "ended because TUTTI_STALL=abort" in said(2)


DAEMONS = {"mpich": "hydra_pmi_proxy", "openmpi": "prted"}


@pytest.mark.parametrize("mpi", MPIS)
def test_ranks_end_if_the_launcher_does_not_answer(compiled, mpi):
    """MPI_Abort does not return in this case."""
    program = compiled(mpi, "endless")
    with job(mpi, program, "never", **ABORTS):
        daemons = named("node2", DAEMONS[mpi])
        on("node2", "kill", "-STOP", *daemons)
        try:
            script("cut", 2)
            wait_for(lambda: not ranks_left(program))
        finally:
            on("node2", "kill", "-CONT", *daemons)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("port node1", "port node1"),
        ("between 1 2 fast 0", "between 1 2 fast 0"),
        ("hosts 3", "hosts 3"),
        ("delay", "delay"),
    ],
)
def test_a_wrong_line_of_the_switch_is_named(links, tmp_path, line, what):
    script("link", "1ms")  # which compiles it
    file = tmp_path / "switch"
    file.write_text(f"delay 0\n{line}\n")
    switch = HERE.parents[1] / "build" / "hosts" / "switch"
    result = subprocess.run(
        [switch, "serve", tmp_path / "socket", file],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert result.returncode != 0
    assert len(result.stderr.splitlines()) == 1
    assert f"{file}:2: cannot read '{what}'" in result.stderr


WRONG_FILES = {
    "tutti-clusters 1\nwest: node1\neast: node2 node1\n": ':3: host "node1" a second time',
    "tutti-clusters 1\nwest node1\n": ":2: expected a cluster's name and a colon",
    "tutti-clusters 1\nwest: node1\neast: node3\n": ": host 'node2' is in no cluster",
}


@pytest.mark.parametrize("text", WRONG_FILES, ids=["twice", "no colon", "a node is missing"])
@pytest.mark.parametrize("mpi", MPIS)
def test_a_wrong_file_of_clusters_ends_the_job(compiled, tmp_path, mpi, text):
    """The job ends before anything runs, with one line that names the place of the error."""
    file = tmp_path / "clusters"
    file.write_text(text)
    words = mpi_words(mpi, RANKS, TUTTI_RUN, compiled(mpi, "endless"), tmp_path / "end")[1:]
    result = script("mpiexec", *words, code=None, TUTTI_CLUSTERS=str(file))
    assert result.returncode != 0 and "going" not in result.stdout
    lines = [line for line in result.stderr.splitlines() if str(file) in line]
    assert len(lines) == 1 and WRONG_FILES[text] in lines[0], result.stderr

"""Ranks that are killed, cables that are drawn, launchers that answer no more: nobody waits for ever without a word, and
where the user asks for it every rank ends. What becomes of a launcher that lost a node is the host MPI's affair."""

import re
import subprocess
from contextlib import contextmanager

import pytest
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
    """What the ranks of each node wrote to stderr, which needs no network to get there."""

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
    """The launcher, and all with it."""
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
    """A job under Tutti, two ranks a node, that said that it is going. On a machine that has much else to do the host's first
    connections may take longer than a job waits that is to end when it stalls: it is started again then, with more patience."""
    words = mpi_words(mpi, RANKS, *(said.prefix if said else []), TUTTI_RUN, program, *arguments)
    attempts = [variables, variables | MORE_PATIENT] if "TUTTI_STALL" in variables else [variables]
    for attempt in attempts:
        if said:
            said.forget()
        process = subprocess.Popen(words, env=environment(**attempt), text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        try:
            going = process.stdout.readline()
            if going == "" and attempt is not attempts[-1]:
                continue
            assert going == "going\n", process.communicate(timeout=20)[1]
            yield process
            return
        finally:
            end(process, program)


@pytest.mark.parametrize("mpi", MPIS)
def test_a_killed_rank_on_another_node(compiled, mpi):
    program = compiled(mpi, "endless")
    with job(mpi, program, "never", 3) as process:
        process.communicate(timeout=30)
        assert process.returncode != 0
        wait_for(lambda: not ranks_left(program), 10)


def speakers(text):
    """Ranks that said that nothing goes on."""
    lines = re.findall(
        r"\[rank (\d+)\] warning: no progress for \d+ s in .*; where the ranks of this node stand",
        text,
    )
    return {int(rank) for rank in lines}


STANDING = (
    r"rank (\d+) \(process \d+\): in [a-z]+.*, waits for (a message of )?rank \d+, on another node"
)


@pytest.mark.parametrize("mpi", MPIS)
def test_a_cable_drawn_for_a_while(compiled, said, tmp_path, mpi):
    """Every node is told where its ranks stand; then the job goes on, with the right results."""
    with job(
        mpi, compiled(mpi, "endless"), tmp_path / "end", said=said, TUTTI_STALL_SECONDS="1"
    ) as process:
        script("cut", 2)
        wait_for(lambda: all(speakers(said(k)) == {2 * k - 2, 2 * k - 1} for k in (1, 2, 3)))
        assert process.poll() is None
        script("mend", 2)
        (tmp_path / "end").touch()
        assert process.communicate(timeout=60)[0] == "ok\n"
        assert process.returncode == 0
    for k in (1, 2, 3):
        lines = said(k).splitlines()
        assert {int(found[1]) for line in lines if (found := re.search(STANDING, line))} & {
            2 * k - 2,
            2 * k - 1,
        }, lines
        assert {
            int(found[1]) for line in lines if (found := re.search(r"warning:   rank (\d+)", line))
        } == {2 * k - 2, 2 * k - 1}


BY_HOST = {
    f"TUTTI_ALGORITHM_{name}": "hierarchical+host" for name in ("BARRIER", "BCAST", "ALLREDUCE")
}


@pytest.mark.parametrize("mpi", MPIS)
def test_leaders_that_wait_inside_the_host(compiled, said, tmp_path, mpi):
    """The others of their nodes say so, since they cannot; then the job goes on."""
    with job(
        mpi,
        compiled(mpi, "endless"),
        tmp_path / "end",
        said=said,
        TUTTI_STALL_SECONDS="1",
        **BY_HOST,
    ) as process:
        script("cut", 2)
        wait_for(lambda: all(speakers(said(k)) == {2 * k - 1} for k in (1, 2, 3)))
        script("mend", 2)
        (tmp_path / "end").touch()
        assert process.communicate(timeout=60)[0] == "ok\n"
        assert process.returncode == 0
    for k in (1, 2, 3):
        leader = rf"rank {2 * k - 2} \(process \d+\): in [a-z]+.*, in the host MPI's own collective among the nodes' leaders"
        assert re.search(leader, said(k)), said(k)


@pytest.mark.parametrize("mpi", MPIS)
def test_leaders_inside_the_host_end_with_the_job(compiled, said, mpi):
    """The others of their nodes stall, and end the job."""
    program = compiled(mpi, "endless")
    with job(mpi, program, "never", said=said, **ABORTS, **BY_HOST) as process:
        script("cut", 2)
        wait_for(lambda: "ended because TUTTI_STALL=abort" in said(2), 60)
        script("mend", 2)
        wait_for(lambda: not ranks_left(program), 60)
        process.terminate()
        process.communicate(timeout=20)
        assert process.returncode != 0


@pytest.mark.parametrize("what", ["fatal", "returns"])
@pytest.mark.parametrize("mpi", MPIS)
def test_a_cut_ends_the_ranks_of_all_nodes(compiled, said, mpi, what):
    """Also of programs whose errors are fatal to nobody."""
    program = compiled(mpi, "endless")
    with job(mpi, program, "never", -1, what, said=said, **ABORTS) as process:
        script("cut", 2)
        wait_for(lambda: not ranks_left(program), 60)
        script("mend", 2)
        process.terminate()  # what it does without a word from a node
        process.communicate(timeout=20)
        assert process.returncode != 0
    assert "ended because TUTTI_STALL=abort" in said(1) + said(3)
    assert "ended because TUTTI_STALL=abort" in said(2)


DAEMONS = {"mpich": "hydra_pmi_proxy", "openmpi": "prted"}


@pytest.mark.parametrize("mpi", MPIS)
def test_ranks_end_where_the_launcher_does_not_answer(compiled, mpi):
    """MPI_Abort does not come back then."""
    program = compiled(mpi, "endless")
    with job(mpi, program, "never", **ABORTS):
        daemons = named("node2", DAEMONS[mpi])
        on("node2", "kill", "-STOP", *daemons)
        try:
            script("cut", 2)
            wait_for(lambda: not ranks_left(program), 60)
        finally:
            on("node2", "kill", "-CONT", *daemons)


@pytest.mark.parametrize(("line", "what"), [("port node1", "port node1"), ("between 1 2 fast 0", "between 1 2 fast 0"),
                                            ("hosts 3", "hosts 3"), ("delay", "delay")])  # fmt: skip
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
    """Before anything runs, with one line that says where it is wrong."""
    file = tmp_path / "clusters"
    file.write_text(text)
    words = mpi_words(mpi, RANKS, TUTTI_RUN, compiled(mpi, "endless"), tmp_path / "end")[1:]
    result = script("mpiexec", *words, code=None, TUTTI_CLUSTERS=str(file))
    assert result.returncode != 0 and "going" not in result.stdout
    lines = [line for line in result.stderr.splitlines() if str(file) in line]
    assert len(lines) == 1 and WRONG_FILES[text] in lines[0], result.stderr

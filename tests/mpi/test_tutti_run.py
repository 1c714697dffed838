"""tutti-run: how it finds the MPI and binds ranks, and its one-line errors."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import support


def refused(*arguments, variables=None):
    """The one line of a refusal."""
    environment = support.clean_environment() | (variables or {})
    result = support.run([support.TUTTI_RUN, *arguments], environment=environment)
    assert result.returncode == 2, f"{result.returncode}\n{result.stdout}\n{result.stderr}"
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("tutti-run: "), result.stderr
    return lines[0]


def test_no_program():
    assert "no program" in refused()
    assert "no program" in refused("--report")
    assert "no program" in refused("--")


def test_unknown_option():
    assert "--mpi NAME" in refused("--what", "ls")
    assert "mpich, openmpi or mpiabi" in refused("--mpi")
    assert "mpich, openmpi or mpiabi" in refused("--mpi", "lam", "ls")


def test_missing_program(tmp_path):
    assert "not on the PATH" in refused("no-such-program")
    assert "No such file" in refused(tmp_path / "nothing")
    assert "directory" in refused(tmp_path)


def test_not_executable(tmp_path):
    (tmp_path / "text").write_text("hello")
    assert "not executable" in refused(tmp_path / "text")


def test_statically_linked(tmp_path):
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    for option in ("-static", "-static-pie"):
        subprocess.run(
            ["cc", option, "-o", tmp_path / "static", tmp_path / "main.c"], check=True, timeout=60
        )
        assert "statically linked" in refused(tmp_path / "static")


@pytest.mark.parametrize("mode", [0o4755, 0o2755])
def test_setuid(tmp_path, mode):
    shutil.copy("/bin/true", tmp_path / "privileged")
    (tmp_path / "privileged").chmod(mode)
    assert "setuid" in refused(tmp_path / "privileged")


def test_libraries_are_read_in_large_pieces():
    """tutti-run took 200 system calls to read the headers of libc and the dynamic linker."""
    command = [support.TUTTI_RUN, "--mpi", "mpich", "cat", "/proc/self/io"]
    result = support.run(command, environment=support.clean_environment())
    assert result.returncode == 0, result.stderr
    assert int(re.search(r"syscr: (\d+)", result.stdout)[1]) <= 120


def test_an_mpi_without_interposer(tmp_path):
    (tmp_path / "mpi.c").write_text("int MPI_Init(int* c, char*** v) { return 0; }\n")
    (tmp_path / "main.c").write_text(
        "int MPI_Init(int*, char***); int main(void) { return MPI_Init(0, 0); }\n"
    )
    library = tmp_path / "libmpi.so.1"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.1", "-o", library, tmp_path / "mpi.c"],
        check=True,
        timeout=60,
    )
    subprocess.run(
        ["cc", "-o", tmp_path / "old", tmp_path / "main.c", library, f"-Wl,-rpath,{tmp_path}"],
        check=True,
        timeout=60,
    )
    assert "libmpi.so.1" in refused(tmp_path / "old")


def linked_to(library, directory, rpath):
    """A program in a directory that is linked to a library of this name, which does nothing."""
    (directory / "mpi.c").write_text("int MPI_Init(int* c, char*** v) { return 0; }\n")
    (directory / "main.c").write_text(
        "int MPI_Init(int*, char***); int main(void) { return MPI_Init(0, 0); }\n"
    )
    for command in (
        ["cc", "-shared", "-fPIC", f"-Wl,-soname,{library}", "-o", library, "mpi.c"],
        ["cc", "-o", "program", "main.c", library, f"-Wl,-rpath,{rpath}"],
    ):
        subprocess.run(command, check=True, timeout=60, cwd=directory)
    return directory / "program"


@pytest.mark.parametrize("name", ["$ORIGIN", "a${ORIGIN}b", "$ORIGIN$ORIGIN"])
def test_a_directory_named_as_the_linkers_word(tmp_path, name):
    """Issue 33: the directory's own name was replaced again and again."""
    directory = tmp_path / name
    directory.mkdir()
    assert "libmpi.so.1" in refused(linked_to("libmpi.so.1", directory, "$ORIGIN"))


@pytest.mark.parametrize(
    ("words", "variables"), [(["--mpi", "openmpi"], {}), ([], {"TUTTI_MPI": "openmpi"})]
)
def test_another_mpi_than_the_programs(tmp_path, words, variables):
    program = linked_to("libmpi.so.12", tmp_path, tmp_path)
    line = refused(*words, program, variables=variables)
    assert "is linked to an MPI of the ABI mpich" in line and "--mpi openmpi" in line


@pytest.mark.mpi
def test_a_script_under_another_mpi_than_named(host_named, compiled):
    """tutti-run cannot look into a script, so the interposer says that it serves nothing."""
    host = host_named("mpich")
    script = ["sh", "-c", str(compiled(host, "again"))]
    command = [host.launcher, "-n", 2, support.TUTTI_RUN, "--mpi", "openmpi", *script]
    environment = support.clean_environment() | host.environment
    result = support.run(command, environment=environment)
    lines = [line for line in result.stderr.splitlines() if "is no MPI of the ABI" in line]
    assert len(lines) == 1 and "leave --mpi and TUTTI_MPI out" in lines[0], result.stderr


VARIABLES = sorted(
    set(re.findall(r"^\| `(TUTTI_\w+)`", (support.ROOT / "docs/environment.md").read_text(), re.M))
)


@pytest.mark.mpi
@pytest.mark.parametrize("variable", VARIABLES)
def test_nonsense_in_a_variable_is_one_line(host_named, compiled, variable):
    """Whatever reads the variable, one rank says which one it is, and what is accepted."""
    host = host_named("mpich")
    environment = support.clean_environment() | host.environment | {variable: "/nowhere/nonsense"}
    command = [host.launcher, "-n", 2, support.TUTTI_RUN, compiled(host, "plans")]
    result = support.run(command, environment=environment)
    lines = [line for line in result.stderr.splitlines() if "/nowhere/nonsense" in line]
    assert len(lines) == 1 and variable in lines[0], result.stderr


def test_an_unknown_mpi():
    assert "--mpi" in refused("bash", "-c", "true")


@pytest.mark.parametrize(
    "name", ["mpiexec", "mpirun", "mpiexec.hydra", "mpirun.openmpi", "orterun", "prterun", "srun"]
)
def test_tutti_run_before_the_launcher(tmp_path, name):
    (tmp_path / name).write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / name).chmod(0o755)
    said = refused("--report", tmp_path / name, "-n", "2", "./app")
    assert f"{name} ... tutti-run ./app" in said


def test_where_to_bind():
    assert "numa, core or none" in refused("--bind", "socket", "ls")
    assert "numa, core or none" in refused("--bind")
    assert "none, numa or core" in refused("ls", variables={"TUTTI_BIND": "socket"})


WHERE = "import os, sys; sys.stdout.write(f'{sorted(os.sched_getaffinity(0))}\\n')"


def bound(host, ranks, *options, cores=None):
    """The cores of each rank, and the lines on stderr."""
    environment = support.clean_environment() | host.environment
    command = [host.launcher, "-n", ranks, support.TUTTI_RUN, *options, sys.executable, "-c", WHERE]
    if cores is not None:
        command = ["taskset", "-c", cores, *command]
    result = support.run(command, environment=environment)
    assert result.returncode == 0, result.stderr
    return sorted(result.stdout.splitlines()), result.stderr


@pytest.mark.mpi
def test_binding(host_named):
    host, usable = host_named("mpich"), sorted(os.sched_getaffinity(0))
    assert bound(host, 2, "--bind", "none") == ([str(usable)] * 2, "")
    places, said = bound(host, len(usable) + 1, "--bind=core")
    assert said == "" and len(places) == len(usable) + 1
    held = [json.loads(place) for place in places]
    assert sorted({unit for units in held for unit in units}) == usable
    assert len(usable) == 1 or all(len(units) < len(usable) for units in held)
    one = str(usable[-1])
    for where in ("numa", "core"):  # a job that may use only one core
        assert bound(host, 2, "--bind", where, cores=one) == ([f"[{one}]"] * 2, "")


@pytest.mark.mpi
def test_bound_ranks_are_not_bound_again(host_named):
    host, usable = host_named("openmpi"), sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        pytest.skip("one core")
    assert bound(host, 2) == bound(
        host, 2, "--bind", "numa"
    )  # Open MPI binds two ranks to a core each


def test_servers_that_cannot_be_had():
    usable = sorted(os.sched_getaffinity(0))
    assert "2@6,7" in refused("--servers", "x", "ls")
    assert "2@6,7" in refused("--servers", "65", "ls")
    assert "2@6,7" in refused("ls", variables={"TUTTI_SERVERS": "1@"})
    assert "node, socket or numa" in refused("--servers-domain", "rack", "ls")
    assert "all, selective or none" in refused("--serve", "some", "ls")
    assert "threads or processes" in refused("--servers-as", "fibers", "ls")
    mpi = ["--mpi", "mpich"]
    assert "tutti-run: --servers 1@4000: this process may not use core 4000" in refused(
        *mpi, "--servers=1@4000", "ls"
    )
    by_variable = refused(*mpi, "ls", variables={"TUTTI_SERVERS": "1@4000"})
    assert "tutti-run: TUTTI_SERVERS=1@4000: this process may not use core 4000" in by_variable
    assert "2 servers in 1 domain on 1 core" in refused(*mpi, f"--servers=2@{usable[0]}", "ls")
    if len(usable) < 64:
        assert "ask for at most" in refused(*mpi, f"--servers={len(usable) + 1}", "ls")


def kept_apart(host, ranks, *options):
    """The cores of the ranks, and TUTTI_SERVERS as the program sees it."""
    where = (
        "import os, sys; "
        "sys.stdout.write(f'{sorted(os.sched_getaffinity(0))} {os.environ[\"TUTTI_SERVERS\"]}\\n')"
    )
    environment = support.clean_environment() | host.environment
    command = [host.launcher, "-n", ranks, support.TUTTI_RUN, *options, sys.executable, "-c", where]
    result = support.run(command, environment=environment)
    assert result.returncode == 0 and result.stderr == "", result.stderr
    return set(result.stdout.splitlines())


def cores_here():
    """The usable processing units of each core, in the order of the cores."""
    usable = sorted(os.sched_getaffinity(0))
    cores = {}
    for unit in usable:
        siblings = Path(f"/sys/devices/system/cpu/cpu{unit}/topology/thread_siblings_list")
        cores.setdefault(siblings.read_text() if siblings.exists() else unit, []).append(unit)
    return list(cores.values())


@pytest.mark.mpi
def test_ranks_keep_off_the_servers_cores(host_named):
    host, cores = host_named("mpich"), cores_here()
    if len(cores) < 2 or len(cores) > 64:
        pytest.skip("needs some cores")

    def units(cores):
        return sorted(unit for core in cores for unit in core)

    first, last = cores[0][0], cores[-1][0]
    assert kept_apart(host, 1, "--servers", "1") == {f"{units(cores[:-1])} 1@{last}"}
    assert kept_apart(host, 1, "--servers", f"1@{first}") == {f"{units(cores[1:])} 1@{first}"}
    one = kept_apart(host, 1, "--servers", "1", "--bind", "core")
    assert one == {f"{cores[0]} 1@{last}"}
    no_core_left = kept_apart(host, len(cores), "--servers", "1")
    assert no_core_left == {f"{units(cores)} 1"}


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({}, "65536"),
        ({"FI_TCP_MAX_SAVED": "7"}, "7"),
        ({"TUTTI_DISABLE": "1"}, ""),
    ],
)
def test_libfabric_keeps_many_messages(variables, told):
    words = [support.TUTTI_RUN, "--mpi", "mpich", "sh", "-c", 'echo "$FI_TCP_MAX_SAVED"']
    environment = support.clean_environment() | variables
    environment = {k: v for k, v in environment.items() if k in variables or k[:3] != "FI_"}
    result = support.run(words, environment=environment)
    assert (result.returncode, result.stdout) == (0, f"{told}\n"), result.stderr


def test_the_reason_why_a_rank_is_not_bound():
    command = [support.TUTTI_RUN, "--mpi", "mpich", "--bind", "core", "true"]
    environment = {
        key: value for key, value in support.clean_environment().items() if "LOCAL" not in key
    }
    result = support.run(command, environment=environment)
    assert result.returncode == 0
    lines = result.stderr.splitlines()
    assert len(os.sched_getaffinity(0)) == 1 or (
        len(lines) == 1 and "which rank of its node" in lines[0]
    ), result.stderr


def test_malformed_environment():
    assert "auto, spin, yield or sleep" in refused("bash", variables={"TUTTI_WAIT": "doze"})


def test_help_and_version():
    for option, word in (("--help", "usage:"), ("--version", "tutti-run ")):
        result = support.run([support.TUTTI_RUN, option])
        assert result.returncode == 0 and word in result.stdout


def test_arguments_and_preload_are_kept():
    environment = support.clean_environment() | {"LD_PRELOAD": "libm.so.6"}
    result = support.run(
        [
            support.TUTTI_RUN,
            "--mpi",
            "mpich",
            "--",
            "bash",
            "-c",
            'echo "$LD_PRELOAD $1 $2"',
            "-",
            "--report",
            "a b",
        ],
        environment=environment,
    )
    assert result.returncode == 0, result.stderr
    preload, rest = result.stdout.split(" ", 1)
    assert preload.startswith("libm.so.6:") and preload.endswith("libtutti-mpich.so")
    assert rest == "--report a b\n"


@pytest.mark.mpi
def test_indirect_mpi(host, compiled, tmp_path):
    """The MPI is that of a library that the program needs."""
    (tmp_path / "solver.c").write_text(
        "#include <mpi.h>\nint solve(void) { return MPI_Init(0, 0) || MPI_Finalize(); }\n"
    )
    (tmp_path / "main.c").write_text("int solve(void); int main(void) { return solve(); }\n")
    subprocess.run(
        [host.compiler, "-shared", "-fPIC", "-o", tmp_path / "libsolver.so", tmp_path / "solver.c"],
        check=True,
        timeout=60,
    )
    subprocess.run(
        [
            "cc",
            "-o",
            tmp_path / "app",
            tmp_path / "main.c",
            f"-L{tmp_path}",
            "-lsolver",
            f"-Wl,-rpath,{tmp_path}",
            "-Wl,--allow-shlib-undefined",
            "-Wl,--unresolved-symbols=ignore-all",
        ],
        check=True,
        timeout=60,
    )
    result = support.job(host, 2, tmp_path / "app", options=["--report"])
    assert result.returncode == 0, result.stderr
    assert f"over {host.abi}" in result.stderr


@pytest.mark.mpi
def test_one_line_a_job(host):
    result = support.job(host, 3, "no-such-program")
    assert result.returncode != 0
    assert result.stderr.count("tutti-run: ") == 1, result.stderr


@pytest.mark.mpi
@pytest.mark.parametrize("plans", ["tutti-run", "the program"])
def test_a_late_rank_0_reports(host, compiled, tmp_path, plans):
    """The launcher ends the job when rank 1 fails, but not before rank 0 has said why."""
    program = compiled(host, "plans")
    late = 'test "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" != 0 || sleep 0.2; exec "$@"'
    options = ["--plans", tmp_path / "none"] if plans == "tutti-run" else []
    variables = {} if plans == "tutti-run" else {"TUTTI_PLANS": str(tmp_path / "none")}
    environment = support.clean_environment() | host.environment | variables
    command = [host.launcher, "-n", 2, "sh", "-c", late, "late"]
    result = support.run([*command, support.TUTTI_RUN, *options, program], environment=environment)
    assert result.returncode == 2, result.stderr
    assert result.stderr.count("give a directory with a map and plans") == 1, result.stderr


@pytest.mark.mpi
def test_script(host, compiled, tmp_path):
    """A script is linked to no MPI; the job's launcher gives the MPI, and the program inside is
    interposed.
    """
    script = tmp_path / "script"
    script.write_text(f'#!/bin/sh\nexec {compiled(host, "errors")} "$@"\n')
    script.chmod(0o755)
    result = support.expect_ok(support.job(host, 2, script, options=["--report"]))
    assert f"over {host.abi}" in result.stderr

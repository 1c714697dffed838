"""libtutti-heap.so under programs without MPI: C, C++, Fortran and Python, fork and threads, and tight limits."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
LIBRARY = Path(os.environ.get("TEST_TUTTI_BUILD", ROOT / "build")) / "lib" / "libtutti-heap.so"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    directory = tmp_path_factory.mktemp("heap")

    def compile_program(compiler, *sources):
        program = directory / sources[0].split(".")[0]
        command = [
            compiler,
            "-O1",
            "-g",
            "-Wall",
            "-Werror",
            "-fno-builtin-malloc",
            "-fno-builtin-calloc",
        ]
        command = command if compiler != "gfortran" else [compiler, "-O1", "-g"]
        subprocess.run(
            [*command, "-o", program, *[HERE / source for source in sources], "-pthread"],
            check=True,
            timeout=60,
            cwd=directory,
        )
        return program

    return compile_program


def run(*command, timeout=60, **variables):
    environment = {**os.environ, "LD_PRELOAD": str(LIBRARY), **variables}
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=timeout
    )
    assert result.returncode == 0, (
        f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
    )
    return result


def expect_ok(result):
    assert result.stdout.splitlines()[-1:] == ["ok"], f"{result.stdout}\n{result.stderr}"


def test_the_library_is_there():
    assert LIBRARY.exists(), f"{LIBRARY} is missing: install libjemalloc-dev and run make"


def test_it_holds_no_json():
    """The library lies in every process's memory beside malloc; the JSON library is for reports and traces."""
    symbols = subprocess.run(
        ["nm", "-C", LIBRARY], capture_output=True, text=True, timeout=30, check=True
    ).stdout
    assert "tutti::" in symbols and "nlohmann" not in symbols


def test_memory(compiled):
    expect_ok(run(compiled("cc", "memory.c"), MALLOC_CONF="dirty_decay_ms:0"))


def test_fork(compiled):
    expect_ok(run(compiled("cc", "fork.c")))


def test_threads(compiled):
    expect_ok(run(compiled("c++", "threads.cpp")))


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="gfortran is not installed")
def test_fortran(compiled):
    expect_ok(run(compiled("gfortran", "allocatable.f90", "lies_in_heap.c")))


def test_python():
    expect_ok(run(sys.executable, HERE / "processes.py"))


@pytest.mark.parametrize("limit", ["-v 2000000", "-v 100000", "-f 0"])
def test_tight_limits(limit):
    """With little address space the heap takes a part of it, or none; the program runs either way."""
    script = (
        f"ulimit {limit}; exec env LD_PRELOAD={LIBRARY} sh -c 'ls / | sort | tail -n 1 && echo ok'"
    )
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=30)
    assert result.returncode == 0, result.stderr
    expect_ok(result)


def test_heaps_that_are_full(compiled, tmp_path):
    """When the heap is full, memory comes from the C library."""
    (tmp_path / "full.c").write_text(
        '#include "heap.h"\n'
        "int main(void) {\n"
        "  int inside = 0, outside = 0;\n"
        "  for (int i = 0; i < 30; ++i) {\n"
        "    char* memory = malloc(4 << 20);\n"
        "    CHECK(memory != NULL);\n"
        "    memory[i] = 1;\n"
        "    memory = realloc(memory, 5 << 20);\n"
        "    CHECK(memory != NULL && memory[i] == 1);\n"
        "    in_heap(memory) ? ++inside : ++outside;\n"
        "  }\n"
        "  CHECK(inside > 3 && outside > 3);\n"
        '  puts("ok");\n'
        "  return 0;\n"
        "}\n"
    )
    subprocess.run(
        ["cc", "-O1", f"-I{HERE}", "-o", tmp_path / "full", tmp_path / "full.c"],
        check=True,
        timeout=60,
    )
    script = f"ulimit -v 400000; exec env LD_PRELOAD={LIBRARY} {tmp_path / 'full'}"
    expect_ok(subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=30))

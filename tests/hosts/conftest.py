"""Fixtures of the tests on several nodes. A module says in NODES how many it wants."""

import subprocess

import pytest
from several_nodes import HERE, ROOT, script


@pytest.fixture(scope="module")
def nodes(request):
    result = script("up", request.module.NODES, code=None)
    if result.returncode == 77:
        pytest.skip(result.stderr.strip())  # it says what is missing, on one line
    assert result.returncode == 0, result.stderr
    yield request.module.NODES
    script("down")


@pytest.fixture
def links():
    """For tests that change them."""
    yield
    script("clusters", 1)
    script("link", 0)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """compiled("mpich", "name") compiles NAME.c of this directory, or of tests/mpi/programs, once and returns the program."""
    directory = tmp_path_factory.mktemp("programs")

    def compile_program(mpi, name):
        compiler = ROOT / ".mpi" / mpi / "bin" / "mpicc"
        if not compiler.exists():
            pytest.skip(f"no {compiler}")
        program = directory / f"{name}.{mpi}"
        if not program.exists():
            places = (HERE, ROOT / "tests" / "mpi" / "programs")
            source = next(place / f"{name}.c" for place in places if (place / f"{name}.c").exists())
            command = [
                compiler,
                "-O1",
                "-g",
                "-Wall",
                "-Werror",
                "-o",
                program,
                source,
                "-pthread",
                "-lm",
            ]
            subprocess.run(command, check=True, timeout=120)
        return program

    return compile_program

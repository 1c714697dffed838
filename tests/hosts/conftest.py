"""Fixtures for the tests on several nodes. A module sets NODES to the number that it needs."""

import subprocess

import pytest
from several_nodes import BUILD, HERE, ROOT, script


@pytest.fixture(scope="module")
def nodes(request):
    result = script("up", request.module.NODES, code=None)
    if result.returncode == 77:
        pytest.skip(result.stderr.strip())  # one line that names what is missing
    assert result.returncode == 0, result.stderr
    yield request.module.NODES
    script("down")


@pytest.fixture
def links():
    """For tests that change the links; they are restored at the end."""
    yield
    script("clusters", 1)
    script("link", 0)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """compiled("mpich", "name") compiles NAME.c once and returns the program.

    The source is in this directory or in tests/mpi/programs. With `tutti` the program is linked to
    libtutti.so.
    """
    directory = tmp_path_factory.mktemp("programs")

    def compile_program(mpi, name, tutti=False):
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
            if tutti:
                library = BUILD / "lib"
                command += [f"-I{ROOT / 'include'}", f"-L{library}", "-ltutti"]
                command += [f"-Wl,-rpath,{library}"]
            subprocess.run(command, check=True, timeout=120)
        return program

    return compile_program

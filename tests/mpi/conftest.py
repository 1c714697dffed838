"""Fixtures for the tests that start mpiexec."""

import subprocess

import pytest
import support


@pytest.fixture(scope="session", autouse=True)
def built():
    """Checks that the tested launcher and libraries exist."""
    if not support.TUTTI_RUN.exists():
        pytest.fail(
            f"{support.TUTTI_RUN} is missing: run make, or set TUTTI_TEST_BUILD to a build "
            "directory"
        )


@pytest.fixture(params=["mpich", "openmpi", "mpiabi"])
def host(request):
    """The host MPIs that Tutti supports."""
    return installed_host(request.param)


def installed_host(name):
    host = support.HOSTS[name]
    if not host.installed:
        pytest.skip(f"{name} is not installed ({host.compiler}, {host.launcher})")
    return host


@pytest.fixture
def host_named():
    return installed_host


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """compiled(host, "name") compiles programs/name.c once and returns the program.

    With `nonblocking` each blocking collective of the program becomes a non-blocking one that is
    completed at once (programs/nonblocking.h).
    """
    directory = tmp_path_factory.mktemp("programs")

    def compile_program(host, name, nonblocking=False):
        program = directory / f"{name}{'.nonblocking' if nonblocking else ''}.{host.name}"
        include = ["-include", support.PROGRAMS / "nonblocking.h"] if nonblocking else []
        if not program.exists():
            source = support.PROGRAMS / f"{name}.c"
            command = [
                host.compiler,
                "-O1",
                "-g",
                "-Wall",
                "-Werror",
                *include,
                "-o",
                program,
                source,
                "-pthread",
                "-lm",
            ]
            subprocess.run(command, check=True, timeout=120)
        return program

    return compile_program

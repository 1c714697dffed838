"""Fixtures for the tests that start mpiexec."""

import fcntl
import os
import subprocess

import pytest
import support


@pytest.fixture(scope="session", autouse=True)
def built():
    """Checks that the tested launcher and libraries exist."""
    if not support.TUTTI_RUN.exists():
        pytest.fail(
            f"{support.TUTTI_RUN} is missing: run make, or set TEST_TUTTI_BUILD to a build "
            "directory"
        )


def pytest_collection_modifyitems(config, items):
    """Of each test function with several variants, only the last runs with the standard ABI.

    The standard ABI's interposer is compiled from the same sources as MPICH's, and runs on MPICH.
    """
    last, left_out = {}, []
    for item in items:
        variant = getattr(item, "callspec", None)
        if variant is not None and "mpiabi" in variant.params.values():
            left_out.append(last.get(item.function))
            last[item.function] = item
    left_out = {item for item in left_out if item is not None}
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


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
def host_named(monkeypatch):
    def named(name):
        host = installed_host(name)
        if name == "intel":  # its compiler finds nothing without
            monkeypatch.setenv("I_MPI_ROOT", host.environment["I_MPI_ROOT"])
        return host

    return named


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """compiled(host, "name") compiles programs/name.c or .cpp once and returns the program.

    With `nonblocking` each blocking collective of the program becomes a non-blocking one that is
    completed at once (programs/nonblocking.h). With `tool` the program has a tool linked in
    (programs/wrapping_tool.c). The processes that run tests in parallel share the programs of one
    run.
    """
    directory = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        directory = directory.parent  # each process has a directory of its own in it
    directory /= "programs"
    directory.mkdir(exist_ok=True)

    def compile_program(host, name, nonblocking=False, tool=False, large=False):
        headers = ["nonblocking.h"] * nonblocking + ["wrapping_tool.c"] * tool
        headers += ["large_messages.h"] * large
        program = directory / ".".join([name, *(header[:-2] for header in headers), host.name])
        include = [word for header in headers for word in ("-include", support.PROGRAMS / header)]
        with open(f"{program}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if program.exists():
                return program
            unfinished = program.with_name(f"{program.name}.unfinished")
            source, compiler = support.PROGRAMS / f"{name}.c", [host.compiler]
            if not source.exists():
                source = source.with_suffix(".cpp")
                compiler = [host.compiler.replace("mpicc", "mpicxx"), "-std=c++20"]
            command = [
                *compiler,
                "-O1",
                "-g",
                "-Wall",
                "-Werror",
                *include,
                "-o",
                unfinished,
                source,
                "-pthread",
                "-lm",
                "-ldl",
            ]
            subprocess.run(command, check=True, timeout=120)
            unfinished.rename(program)
        return program

    return compile_program


@pytest.fixture(scope="session")
def with_tutti(tmp_path_factory):
    """with_tutti(host, name) compiles programs/NAME.c and links it to libtutti.so."""
    directory = tmp_path_factory.mktemp("with_tutti")

    def compile_program(host, name):
        program = directory / f"{name}.{host.name}"
        if not program.exists():
            library = support.BUILD / "lib"
            command = [host.compiler, "-O1", "-g", "-Wall", "-Werror", "-o", program]
            command += [f"-I{support.ROOT / 'include'}", support.PROGRAMS / f"{name}.c"]
            command += [f"-L{library}", "-ltutti", f"-Wl,-rpath,{library}"]
            subprocess.run(command, check=True, timeout=120)
        return program

    return compile_program

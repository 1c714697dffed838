"""Fixtures for the tests that start mpiexec."""

import os

import pytest
import support


@pytest.fixture(scope="session", autouse=True)
def built(tmp_path_factory):
    """Checks that the tested launcher and libraries exist, and makes a place for programs."""
    if not support.TUTTI_RUN.exists():
        pytest.fail(
            f"{support.TUTTI_RUN} is missing: run make, or set TEST_TUTTI_BUILD to a build "
            "directory"
        )
    directory = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        directory = directory.parent  # each process has a directory of its own in it
    support.made_here = directory / "programs"


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
def compiled():
    """compiled(host, "name") compiles programs/name.c or .cpp once and returns the program.

    With `nonblocking` each blocking collective of the program becomes a non-blocking one that is
    completed at once (programs/nonblocking.h). With `tool` the program has a tool linked in
    (programs/wrapping_tool.c).
    """

    def compile_program(host, name, nonblocking=False, tool=False, large=False):
        headers = ["nonblocking.h"] * nonblocking + ["wrapping_tool.c"] * tool
        headers += ["large_messages.h"] * large
        include = [word for header in headers for word in ("-include", support.PROGRAMS / header)]
        source, compiler = support.PROGRAMS / f"{name}.c", [host.compiler]
        if not source.exists():
            source = source.with_suffix(".cpp")
            compiler = [host.compiler.replace("mpicc", "mpicxx"), "-std=c++20"]
        flags, libraries = ["-O1", "-g", "-Wall", "-Werror"], ["-pthread", "-lm", "-ldl"]
        command = [*compiler, *flags, *include, source, *libraries]
        return support.compiled_once(f"{name}.{host.name}", command)

    return compile_program


@pytest.fixture(scope="session")
def with_tutti():
    """with_tutti(host, name) compiles programs/NAME.c and links it to libtutti.so."""

    def compile_program(host, name):
        library = support.BUILD / "lib"
        command = [host.compiler, "-O1", "-g", "-Wall", "-Werror"]
        command += [f"-I{support.ROOT / 'include'}", support.PROGRAMS / f"{name}.c"]
        command += [f"-L{library}", "-ltutti", f"-Wl,-rpath,{library}"]
        return support.compiled_once(f"{name}.{host.name}", command)

    return compile_program

"""Programs that use UCX themselves beside a host MPI over UCX (src/mpi/progress/ucx.cpp)."""

import re

import pytest
from support import PROGRAMS, compiled_once, expect_ok, job

pytestmark = [pytest.mark.mpi]


@pytest.fixture
def host(host_named):
    return host_named("debian-mpich")


def compiled(file, compiler, *options, source):
    """Compiles programs/SOURCE.c."""
    flags = ["-O1", "-g", "-Wall", "-Werror", "-fPIC"]
    return compiled_once(file, [compiler, *flags, PROGRAMS / f"{source}.c", *options])


@pytest.mark.parametrize("ucx", ["linked", "dlopened"])
@pytest.mark.parametrize(("ranks", "wait"), [(2, "yield"), (2, "spin"), (5, "yield"), (5, "sleep")])
def test_polls_of_its_own_workers_do_not_rest(host, ranks, wait, ucx):
    """Waits in MPI do."""
    options = ["-rdynamic", "-lucp", "-lucs", "-ldl"]
    program = compiled("own_ucx", host.compiler, *options, source="own_ucx")
    result = expect_ok(job(host, ranks, program, ucx, variables={"TUTTI_WAIT": wait}))
    rests = re.findall(r"rests: (\d+) by own polls, (\d+) in MPI", result.stderr)
    assert len(rests) == 2 * (ranks - 1)
    assert {own for own, _ in rests} == {"0"}
    assert (sum(int(in_mpi) for _, in_mpi in rests) > 0) == (wait != "spin")


@pytest.mark.parametrize("wait", ["yield", "spin"])
def test_a_second_ucx_in_the_process(host, wait):
    """Each library's calls go to the UCX that it would have without Tutti."""

    def library(file, compiler, role, *options):
        options = ["-shared", f"-D{role}", *options]
        return compiled(file, compiler, *options, source="second_ucx")

    other = library("libother_ucp.so.0", "gcc", "UCX", "-Wl,-soname,libother_ucp.so.0")
    owner = library("libowner.so", "gcc", "OWNER", other, f"-Wl,-rpath,{other.parent}")
    user = library("libuser.so", host.compiler, "USER")
    program = compiled("second_ucx", "gcc", "-ldl", source="second_ucx")
    expect_ok(job(host, 2, program, owner, user, variables={"TUTTI_WAIT": wait}))

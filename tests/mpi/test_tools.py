"""Tools that wrap MPI's functions, before Tutti, after it, and in the program."""

import json
import os
import re

import pytest
import support
from support import (
    compiled_once,
    expect_ok,
    fortran_compiler,
    fortran_program,
    job,
    preloaded,
    wrapping_tool,
)

pytestmark = pytest.mark.mpi

ALL_HOSTS = ["mpich", "openmpi", "debian-mpich", "debian-openmpi", "intel", "mpiabi"]
PLACES = ["before", "after", "linked", "library"]


def in_fortran(*faces):
    """MPIs and Fortran's interfaces of them. Intel's wheel has modules for Intel's compiler alone."""
    debian = [(name, face) for name in ("debian-mpich", "debian-openmpi") for face in faces]
    return [*debian, ("intel", "MPIF")]


def sources(*names):
    return [support.PROGRAMS / name for name in names]


def compiled_with(host, place, *options):
    """The program, with the tool in it or linked to it, and the tool as a library."""
    tool = wrapping_tool(host, *options, "-ldl", name="counting_tool")
    command = [host.compiler, "-O1", "-g", *sources("under_tools.c")]
    if place == "linked":
        command += [*options, *sources("counting_tool.c"), "-ldl"]
    elif place == "library":
        command += [f"-L{tool.parent}", "-Wl,--no-as-needed", "-lcounting_tool",
                    f"-Wl,-rpath,{tool.parent}"]  # fmt: skip
    return compiled_once("program", command), tool


def placed(host, place, tool, tutti=True):
    """The words before the program that put the tool in its place."""
    alone = [wrapping_tool(host, "-ldl", name="polite_ucx")] if host.name == "debian-mpich" else []
    below = [host.interposer] if tutti else alone
    libraries = {"before": [tool, *below], "after": [*below, tool]}.get(place, below)
    own = os.environ.get("LD_PRELOAD", "")
    return ["env", "LD_PRELOAD=" + ":".join(filter(None, [own, *map(str, libraries)]))]


def run(host, ranks, words, variables=None):
    return expect_ok(job(host, ranks, *words, tutti=False, variables=variables))


def seen(result):
    """What the tool has said, by rank."""
    return sorted(re.findall("the tool.*", result.stderr))


def read_report(file):
    """The calls that Tutti served and those of the host, by collective, and the whole report."""
    told = json.loads(file.read_text())
    calls = {}
    for row in told["collectives"]:
        served, hosts = calls.get(row["collective"], (0, 0))
        calls[row["collective"]] = (served + row["calls"], hosts + row["host_calls"])
    return calls, told


def share_served(calls):
    served = sum(one for one, _ in calls.values())
    return served / (served + sum(hosts for _, hosts in calls.values()))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ALL_HOSTS)
def test_a_tool_sees_what_it_sees_alone(host_named, tmp_path, name, place):
    """Tutti serves the calls below it."""
    host, report = host_named(name), tmp_path / "report.json"
    program, tool = compiled_with(host, place)
    alone = run(host, 3, [*placed(host, place, tool, tutti=False), program])
    variables = {"TUTTI_REPORT": str(report)}
    result = run(host, 3, [*placed(host, place, tool), program], variables)
    assert seen(result) == seen(alone) and len(seen(alone)) == 3, result.stderr
    calls, told = read_report(report)
    assert share_served(calls) >= 0.99 and told["hidden"] == "", told
    assert calls["alltoall"][0] > 700 and calls["allreduce"][0] > 1100, calls


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_the_launcher_puts_tutti_behind_tools(host_named, tmp_path, name):
    host, report = host_named(name), tmp_path / "report.json"
    program, tool = compiled_with(host, "before")
    alone = expect_ok(job(host, 2, program, tutti=False, variables=preloaded(tool)))
    result = expect_ok(job(host, 2, program, options=[f"--report={report}"],
                           variables=preloaded(tool)))  # fmt: skip
    assert seen(result) == seen(alone) and len(seen(alone)) == 2, result.stderr
    assert share_served(read_report(report)[0]) >= 0.99


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_tool_beside_two_interposers(host_named, tmp_path, at):
    """Interpreters that Hydra starts get both. The one whose MPI it is serves."""
    host, report = host_named("mpich"), tmp_path / "report.json"
    program, tool = compiled_with(host, "before")
    alone = run(host, 3, [*placed(host, "before", tool, tutti=False), program])
    libraries = [host_named("mpiabi").interposer, host.interposer]
    libraries.insert(at, tool)
    words = ["env", "LD_PRELOAD=" + ":".join(map(str, libraries)), program]
    result = run(host, 3, words, {"TUTTI_REPORT": str(report)})
    assert seen(result) == seen(alone) and len(seen(alone)) == 3, result.stderr
    assert share_served(read_report(report)[0]) >= 0.99


@pytest.mark.parametrize("place", ["before", "after", "linked"])
@pytest.mark.parametrize(("name", "face"), in_fortran("MPIF", "USE_MPI"))
def test_a_tool_in_fortran(host_named, tmp_path, name, place, face):
    host, report = host_named(name), tmp_path / "report.json"
    command = [fortran_compiler(host), "-shared", "-fPIC", *sources("fortran_tool.F90")]
    tool = compiled_once("libfortran_tool.so", command)
    parts = sources("fortran_tool.F90") if place == "linked" else []
    program = fortran_program(host, "under_tools", face, *parts)
    alone = run(host, 3, [*placed(host, place, tool, tutti=False), program])
    variables = {"TUTTI_REPORT": str(report)}
    result = run(host, 3, [*placed(host, place, tool), program], variables)
    assert seen(result) == ["the tool: 300 allreduces, 150 bcasts"] * 3 == seen(alone)
    assert share_served(read_report(report)[0]) >= 0.99


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize(("name", "face"), in_fortran("MPIF", "USE_F08"))
def test_a_tool_in_c_under_a_program_in_fortran(host_named, tmp_path, name, place, face):
    """MPICH's routines call MPI_*, which the tool counts, and Open MPI's call PMPI_*."""
    host, report = host_named(name), tmp_path / "report.json"
    tool = wrapping_tool(host, "-ldl", name="counting_tool")
    program = fortran_program(host, "under_tools", face)
    alone = run(host, 2, [*placed(host, place, tool, tutti=False), program])
    variables = {"TUTTI_REPORT": str(report)}
    result = run(host, 2, [*placed(host, place, tool), program], variables)
    assert seen(result) == seen(alone), result.stderr
    assert share_served(read_report(report)[0]) >= 0.99


def at_rank_0(directory, tool):
    """Words before the program that preload the tool at rank 0 alone."""
    script = directory / "at_rank_0"
    script.write_text(
        f'#!/bin/sh\n[ "${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}" = 0 ] && '
        f'export LD_PRELOAD="${{LD_PRELOAD:+$LD_PRELOAD:}}{tool}"\nexec "$@"\n'
    )
    script.chmod(0o755)
    return script


@pytest.mark.parametrize("name", ALL_HOSTS)
@pytest.mark.parametrize("options", [(), ("-DAROUND",), ("-DBYPASS",)])
def test_a_tool_at_one_rank(host_named, tmp_path, name, options):
    """Who serves is the same at all ranks."""
    host, report = host_named(name), tmp_path / "report.json"
    program, tool = compiled_with(host, "before", *options)
    words = [at_rank_0(tmp_path, tool), support.TUTTI_RUN, f"--report={report}", program]
    result = run(host, 3, words)
    assert len(seen(result)) == 1, result.stderr
    calls, told = read_report(report)
    if "-DBYPASS" in options:
        assert calls["allreduce"][0] == 0 and calls["bcast"][0] > 700, calls
        assert told["hidden"] == "libcounting_tool.so hides MPI_Allreduce, MPI_Iallreduce", told
    else:
        assert share_served(calls) >= 0.99 and told["hidden"] == "", told


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
@pytest.mark.parametrize("option", ["-DAROUND", "-DBYPASS"])
def test_a_tool_that_does_not_come_back(host_named, tmp_path, name, place, option):
    """AROUND: Tutti notes what a tool does around the call. BYPASS: the host serves at all ranks what
    the tool hides, and Tutti serves the rest."""
    host, report = host_named(name), tmp_path / "report.json"
    program, tool = compiled_with(host, place, option)
    alone = run(host, 3, [*placed(host, place, tool, tutti=False), program])
    variables = {"TUTTI_REPORT": str(report)}
    result = run(host, 3, [*placed(host, place, tool), program], variables)
    assert seen(result) == seen(alone) and len(seen(alone)) == 3, result.stderr
    calls, told = read_report(report)
    if option == "-DBYPASS":
        assert calls.get("allreduce", (0, 0))[0] == 0 and calls["bcast"][0] > 700, calls
        assert told["hidden"] == "libcounting_tool.so hides MPI_Allreduce, MPI_Iallreduce", told
    else:
        assert share_served(calls) >= 0.99 and told["hidden"] == "", told


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_a_tool_that_hides_completions(host_named, tmp_path, name):
    """Only Tutti can complete its requests, so it is off at all ranks, and one line says why."""
    host = host_named(name)
    program, tool = compiled_with(host, "before", "-DBYPASS_WAIT")
    result = run(host, 3, [at_rank_0(tmp_path, tool), support.TUTTI_RUN, program])
    lines = [line for line in result.stderr.splitlines() if "do not come back by PMPI_*" in line]
    assert len(lines) == 1 and "libcounting_tool.so hides MPI_Wait" in lines[0], result.stderr


@pytest.mark.parametrize("name", ["mpich", "openmpi", "debian-mpich", "debian-openmpi"])
def test_calls_of_the_hosts_own_library(host_named, tmp_path, name):
    """ROMIO calls PMPI_* while it holds the host's lock: those calls stay with the host."""
    host = host_named(name)
    program, _ = compiled_with(host, "before")
    romio = {"OMPI_MCA_io": "^ompio"}  # Open MPI has an implementation of its own, too
    calls = []
    for words in ([], [tmp_path / "file"]):
        report = tmp_path / "report.json"
        command = [support.TUTTI_RUN, f"--report={report}", program, *words]
        run(host, 3, command, romio)
        calls.append(read_report(report)[0])
    barriers = [{**one, "barrier": sum(one["barrier"])} for one in calls]
    barriers[0]["barrier"] += 3  # the program's own, between writing and reading
    assert barriers[0] == barriers[1]

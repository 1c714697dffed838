"""One-sided transfers between MPI processes, by their callers and by servers."""

import json
import subprocess

import pytest
import support

pytestmark = pytest.mark.mpi


CASES = {
    "callers": (3, 0, 2, []),
    "one server": (2, 1, 2, ["--servers", "1", "--serve", "all"]),
    "servers and heap": (3, 2, 1, ["--shared-heap", "--servers", "2", "--serve", "all"]),
    "selective": (2, 1, 2, ["--servers", "1"]),
}


@pytest.mark.parametrize("case", CASES)
def test_transfers(host_named, with_tutti, case):
    host = host_named("mpich")
    ranks, servers, memory, options = CASES[case]
    program = with_tutti(host, "one_sided")
    support.expect_ok(support.job(host, ranks, program, servers, memory, options=options))


@pytest.mark.parametrize("name", ["openmpi", "mpiabi"])
def test_transfers_on_other_hosts(host_named, with_tutti, name):
    host = host_named(name)
    options = ["--servers", "1", "--serve", "all"]
    support.expect_ok(support.job(host, 2, with_tutti(host, "one_sided"), 1, 2, options=options))


def test_reach_is_restricted(host_named, with_tutti):
    """Without the system's copies only the heap is reached, and servers leave private memory."""
    host = host_named("mpich")
    result = support.job(
        host, 2, with_tutti(host, "one_sided"), 1, 1,
        options=["--servers", "1", "--serve", "all"], variables={"TUTTI_REACH": "direct"},
    )  # fmt: skip
    support.expect_ok(result)


def test_memory_that_is_not_reached(host_named, with_tutti):
    host = host_named("mpich")
    result = support.job(
        host, 2, with_tutti(host, "one_sided"), 0, 2, variables={"TUTTI_REACH": "direct"}
    )
    assert result.returncode != 0
    assert "is not in its shared heap" in result.stderr


def test_without_tutti_run(host_named, with_tutti):
    host = host_named("mpich")
    result = support.job(host, 2, with_tutti(host, "one_sided"), 0, 1, tutti=False)
    assert result.returncode != 0
    assert "groups of MPI processes need tutti-run" in result.stderr


def test_the_report_tells_what_servers_did(host_named, with_tutti, tmp_path):
    host, file = host_named("mpich"), tmp_path / "report.json"
    options = ["--servers", "1", "--serve", "all", f"--report={file}"]
    support.expect_ok(support.job(host, 2, with_tutti(host, "one_sided"), 1, 1, options=options))
    report = json.loads(file.read_text())
    done, servers = report["one_sided"], report["servers"]
    assert servers["count"] == 1 and servers["transfers"] > 0 and servers["slept_s"] > 0
    assert done["by_callers"] > 0
    # A server counts after it has told the client.
    assert servers["transfers"] + done["taken_back"] <= done["handed_to_servers"]


def functions_of(library):
    command = ["nm", "--dynamic", "--defined-only", "--format=posix", library]
    listed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout
    return {line.split()[0] for line in listed.splitlines() if line.startswith("tutti_")}


def test_the_preloaded_library_has_all_functions(host_named):
    """Else a program would call two libraries in turn, which tell errors apart from each other."""
    own, preloaded = support.BUILD / "lib" / "libtutti.so", host_named("mpich").interposer
    assert len(functions_of(own)) > 20
    assert functions_of(own) <= functions_of(preloaded)


def test_the_preloaded_library_needs_no_hwloc(host_named):
    """A program's machine need not have it."""
    command = ["readelf", "--dynamic", host_named("mpich").interposer]
    listed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout
    assert "NEEDED" in listed and "hwloc" not in listed

"""One-sided transfers between MPI processes, by their callers and by servers."""

import json
import os
import re
import shutil
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


@pytest.mark.parametrize(("name", "what", "servers"), [
    ("mpich", "random", 0), ("mpich", "mistakes", 1), ("mpiabi", "random", 1),
])  # fmt: skip
def test_transfers_between_nodes(host_named, with_tutti, name, what, servers):
    """MPICH plays two nodes; tests/hosts has real ones."""
    host, options = host_named(name), ["--servers", servers]
    two_nodes = {"MPIR_CVAR_NUM_CLIQUES": "2"}
    program = with_tutti(host, "between_nodes")
    support.expect_ok(support.job(host, 4, program, what, options=options, variables=two_nodes))


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


def saturation_map(where, one_core, two_cores):
    """A map in which one core transfers one_core GB/s, and two together two_cores GB/s, whatever
    the messages are. A message that is handed over arrives after 100 ns."""
    return {
        "format": "tutti-saturation 1",
        "where": where,
        "cores": [1, 2],
        "messages": [1, 128],
        "bytes": [8, 1 << 20],
        "puts": [[[rate] * 2] * 2 for rate in (one_core, two_cores)],
        "gets": [[[rate] * 2] * 2 for rate in (one_core, two_cores)],
        "hand_over": {"client": 0, "server": [0, 0], "latency": 100},
    }


@pytest.fixture(scope="module")
def this_machine():
    """How maps name this machine: as tutti-threads writes it."""
    words = "saturation --cores 0,1 --milliseconds 1 --bytes 8,8 --messages 1".split()
    command = [support.BUILD / "bin" / "tutti-threads", *words]
    written = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    return json.loads(written.splitlines()[0])["where"]


@pytest.fixture
def put(host_named, with_tutti, tmp_path):
    """put(bytes, count, saturation, text) runs a job of two ranks, and a server on a core of its
    own, and returns its report and its stderr."""

    def run(length, count, saturation, text=None):
        if text is not None:
            saturation.write_text(text)
        host, report = host_named("mpich"), tmp_path / "report.json"
        result = support.job(
            host, 2, with_tutti(host, "waiting"), length, count,
            options=["--servers", f"1@{max(os.sched_getaffinity(0))}", f"--report={report}"],
            variables={"TUTTI_SATURATION": str(saturation)} if saturation else {},
        )  # fmt: skip
        support.expect_ok(result)
        return json.loads(report.read_text()), result.stderr

    return run


needs_two_cores = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="a server needs a core of its own"
)


@needs_two_cores
def test_the_map_decides_what_servers_get(put, this_machine, tmp_path):
    """Without a map servers get what is long. With one, what gains by it, also of few bytes."""
    file = tmp_path / "map.json"
    assert put(8, 64, None)[0]["one_sided"]["handed_to_servers"] == 0
    report = put(65536, 16, None)[0]
    assert report["one_sided"]["handed_to_servers"] > 0
    assert report["servers"]["saturation_map"] is None

    # A server alone is four times as fast as both ranks at once, from some messages on.
    gains = json.dumps(saturation_map(this_machine, 4, 1))
    report = put(8, 64, file, gains)[0]
    assert report["servers"]["saturation_map"] == str(file)
    assert report["one_sided"]["handed_to_servers"] >= 2 * 4 * 64  # all after the first phase
    assert put(8, 1, file)[0]["one_sided"]["handed_to_servers"] == 0

    nothing_gains = json.dumps(saturation_map(this_machine, 1, 2))
    assert put(65536, 16, file, nothing_gains)[0]["one_sided"]["handed_to_servers"] == 0


BAD_MAPS = {
    "missing": (None, "cannot be read; give a file that"),
    "broken": ("{", "is no JSON"),
    "another format": ('{"format": "tutti-plan 1"}', 'has not the format "tutti-saturation 1"'),
    "another machine": (json.dumps(saturation_map("a Cray", 1, 2)), 'another machine, "a Cray"'),
}


@needs_two_cores
@pytest.mark.parametrize("case", BAD_MAPS)
def test_a_bad_map_is_one_line_and_the_job_goes_on(put, tmp_path, case):
    file = tmp_path / "map.json"
    text, message = BAD_MAPS[case]
    report, err = put(65536, 16, file, text)
    assert report["one_sided"]["handed_to_servers"] > 0
    assert report["servers"]["saturation_map"] is None
    lines = [line for line in err.splitlines() if "TUTTI_SATURATION" in line]
    assert len(lines) == 1 and str(file) in lines[0] and message in lines[0]
    assert "tutti bench saturation" in lines[0]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
@pytest.mark.parametrize("options", [(), ("--servers", "1")], ids=["alone", "idle server"])
def test_instructions_of_a_short_transfer(host_named, with_tutti, tmp_path, options):
    """A put or get of 8 bytes that its caller executes takes at most 60 instructions, with the
    calling function's own; none of them waits or calls the system. An idle server adds none."""
    host, wrapper, counts = host_named("mpich"), tmp_path / "wrapper", tmp_path / "counts"
    wrapper.write_text(
        '#!/bin/sh\n[ "$PMI_RANK" = 1 ] || exec "$@"\nexec valgrind -q --tool=callgrind '
        f"--combine-dumps=yes --callgrind-out-file={counts} --toggle-collect='counted_*' \"$@\"\n"
    )
    wrapper.chmod(0o755)
    program = with_tutti(host, "put_costs")
    support.expect_ok(support.job(host, 2, wrapper, program, options=options))
    found = re.findall(
        r"Client Request: (\w+)$.*?^totals: (\d+)$", counts.read_text(), re.MULTILINE | re.DOTALL
    )
    print(found)
    assert len(found) == 10 and {name for name, _ in found} == {"put", "get"}
    for kind in ("put", "get"):
        assert 0 < min(int(count) for name, count in found if name == kind) <= 60


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

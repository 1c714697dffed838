"""Failures: wrong arguments, mismatched calls, killed ranks, a full /dev/shm, odd environments."""

import os
import subprocess
import time
from pathlib import Path

import pytest
import support
from support import expect_ok, job

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_wrong_arguments(host, compiled, ranks):
    expect_ok(job(host, ranks, compiled(host, "errors")))


# The required texts of the messages. A rank that only sends may have left its call before the
# mismatch is found; then the message says where that rank is.
MISMATCHES = {
    "bcast": ["called bcast of 4 bytes", "allreduce of 4 bytes"],
    "gather": ["called gather of", "must make the same collective calls"],
    "scatter": ["called scatter of", "must make the same collective calls"],
    "scan": ["scan of 4 bytes", "must make the same collective calls"],
}


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("what", MISMATCHES)
def test_mismatched_calls_are_named(host, compiled, ranks, what):
    result = job(host, ranks, compiled(host, "mismatch"), what)
    assert result.returncode != 0
    assert all(part in result.stderr for part in MISMATCHES[what]), result.stderr


def test_sides_of_a_nonblocking_call_that_differ(host, compiled):
    expect_ok(job(host, 4, compiled(host, "mismatch"), "sides"))


def test_statuses_tell_which_operation_has_failed(host, compiled):
    """MPI_ERR_IN_STATUS from MPI_Waitall and its like."""
    expect_ok(job(host, 3, compiled(host, "mismatch"), "statuses"))


@pytest.mark.parametrize("ranks", [2, 3])
def test_other_lengths_at_one_rank(host, compiled, ranks):
    """Issue 33: the rank made the host's call alone, and the others waited for ever."""
    expect_ok(job(host, ranks, compiled(host, "mismatch"), "lengths"))


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_callbacks_inside_finalize(host, compiled, ranks):
    expect_ok(job(host, ranks, compiled(host, "finalize")))


def processes_of(program):
    found = []
    for directory in Path("/proc").iterdir():
        try:
            if directory.name.isdigit() and os.readlink(directory / "exe") == str(program):
                found.append(directory.name)
        except OSError:
            pass
    return found


@pytest.mark.alone
@pytest.mark.parametrize("shared_memory", ["memfd", "posix"])
@pytest.mark.parametrize("calls", [1, 200])
def test_killed_rank(host, compiled, calls, shared_memory):
    """No rank waits for it for ever, and no file of Tutti's remains in /dev/shm."""
    program = compiled(host, "killed")
    before = set(Path("/dev/shm").iterdir())
    result = job(host, 3, program, calls, variables={"TUTTI_SHM": shared_memory})
    assert result.returncode != 0
    deadline = time.monotonic() + 100
    while processes_of(program) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes_of(program) == []
    assert [path for path in set(Path("/dev/shm").iterdir()) - before if "tutti" in path.name] == []


def private_shm(size, command):
    """The command with a private /dev/shm of this size."""
    return [
        "unshare",
        "--mount",
        "sh",
        "-c",
        f'mount -t tmpfs -o size={size} tmpfs /dev/shm && exec "$@"',
        "sh",
        *map(str, command),
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="a private /dev/shm needs root")
@pytest.mark.parametrize("size", ["4k", "64k"])
def test_tiny_dev_shm(host_named, compiled, size):
    """Without room there is no bus error; the host MPI serves all ranks."""
    host = host_named("openmpi")
    probe = support.run(private_shm("1m", ["true"]))
    if probe.returncode != 0:  # a container, or a chroot that is no mount point
        pytest.skip(f"no private /dev/shm here: {probe.stderr.strip()}")
    program = compiled(host, "communicators")
    environment = (
        support.clean_environment()
        | host.environment
        | {
            "TUTTI_SHM": "posix",
            "TUTTI_REPORT": "1",
            "OMPI_MCA_btl": "self,tcp",
            "OMPI_MCA_pml": "ob1",
            "PMIX_MCA_gds": "hash",
            "OMPI_MCA_osc": "^sm",
            "TUTTI_STALL_SECONDS": "15",
        }
    )
    command = private_shm(size, [host.launcher, "-n", 2, support.TUTTI_RUN, program, "makings"])
    result = support.run(command, environment=environment)
    expect_ok(result)
    assert "shared memory" in result.stderr or "/dev/shm" in result.stderr, result.stderr


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_programs_with_a_sanitizer(host_named, tmp_path, name):
    """Issue 33: they did not start, because the interposer came before the sanitizer's runtime."""
    host, program = host_named(name), tmp_path / "derived"
    source = support.PROGRAMS / "derived.c"
    words = [host.compiler, "-g", "-fsanitize=address", "-o", program, source]
    subprocess.run(words, check=True, timeout=120)
    variables = {"ASAN_OPTIONS": "detect_leaks=0"}
    for options in ([], ["--shared-heap"]):
        result = expect_ok(job(host, 2, program, options=options, variables=variables))
        assert ("no shared heap" in result.stderr) == bool(options), result.stderr


def test_disabled(host, compiled):
    result = expect_ok(
        job(
            host,
            2,
            compiled(host, "derived"),
            variables={"TUTTI_DISABLE": "1", "TUTTI_REPORT": "1"},
        )
    )
    assert "tutti" not in result.stderr


def test_ranks_with_different_variables(host, compiled, tmp_path):
    """All ranks stay on the host MPI, and one message says so."""
    script = tmp_path / "different"
    script.write_text(
        '#!/bin/sh\nexport TUTTI_SETUP_AFTER=$(( ${PMI_RANK:-$PMIX_RANK} + 1 ))\nexec "$@"\n'
    )
    script.chmod(0o755)
    command = [host.launcher, "-n", 3, script, support.TUTTI_RUN, compiled(host, "derived")]
    result = support.run(command, environment=support.clean_environment() | host.environment)
    expect_ok(result)
    assert result.stderr.count("different TUTTI_SETUP_AFTER;") == 1, result.stderr


def test_malformed_variable_without_the_launcher(host, compiled):
    """With LD_PRELOAD set by hand too, there is one line and exit code 2, and nothing runs."""
    environment = support.clean_environment() | host.environment | {"TUTTI_WAIT": "doze"}
    command = [
        host.launcher,
        "-n",
        2,
        "env",
        f"LD_PRELOAD={host.interposer}",
        compiled(host, "derived"),
    ]
    result = support.run(command, environment=environment)
    assert result.returncode != 0
    lines = [line for line in result.stderr.splitlines() if "TUTTI_WAIT" in line]
    assert len(lines) == 1 and "auto, spin, yield or sleep" in lines[0], result.stderr


def test_preload_into_a_program_without_mpi(host):
    result = subprocess.run(
        ["bash", "-c", "echo fine; ls / >/dev/null"],
        capture_output=True,
        text=True,
        timeout=30,
        env=os.environ | {"LD_PRELOAD": str(host.interposer)},
        check=True,
    )
    assert result.stdout == "fine\n" and result.stderr == ""


def test_symbols(host):
    """The library exports only the interposed functions, those of libtutti.so, the one that changes
    rules, and those of the loader and of UCX that it interposes.

    Each function of MPI has both names, MPI_* and PMPI_*. Fortran's routines are the host's. Loading
    needs no MPI.
    """

    def symbols(*options, library=host.interposer):
        text = subprocess.run(
            ["nm", "-D", *options, library],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        ).stdout
        return [line.split()[-1] for line in text.splitlines()]

    makers = [
        "Comm_dup",
        "Comm_dup_with_info",
        "Comm_idup",
        "Comm_idup_with_info",
        "Comm_create_from_group",
        "Comm_create",
        "Comm_create_group",
        "Comm_split",
        "Comm_split_type",
        "Cart_create",
        "Cart_sub",
        "Graph_create",
        "Dist_graph_create",
        "Dist_graph_create_adjacent",
        "Comm_free",
        "Comm_disconnect",
    ]
    defined = set(symbols("--defined-only"))
    first_names = {name for name in defined if name.startswith("MPI_")}
    others = defined - first_names
    native = symbols("--defined-only", library=support.BUILD / "lib" / "libtutti.so")
    ours = {name for name in native if name.startswith("tutti_")} | {"tutti_comm_table"}
    extensions = ["Comm_revoke"]
    if host.abi != "openmpi":
        extensions += ["Request_is_complete", "Threadcomm_init", "Threadcomm_free"]
    # src/mpi/entry/loader.cpp and src/mpi/progress/ucx.cpp
    hooks = {"dlopen", *(f"ucp_worker_{name}" for name in ("create", "destroy", "progress"))}
    second_names = {f"P{name}" for name in first_names}
    assert others == ours | {f"MPIX_{name}" for name in extensions} | second_names | hooks
    assert {f"MPI_{name}" for name in makers} <= first_names
    assert [
        name
        for name in symbols("--undefined-only")
        if "mpi" in name.lower() or "tutti" in name.lower()
    ] == []
    needed = subprocess.run(
        ["readelf", "-d", host.interposer], capture_output=True, text=True, timeout=30, check=True
    )
    libraries = [
        line.split("[")[1].rstrip("]") for line in needed.stdout.splitlines() if "(NEEDED)" in line
    ]
    assert all(
        name.startswith(("libc.", "libm.", "ld-linux", "libpthread.", "libdl.", "librt."))
        for name in libraries
    )

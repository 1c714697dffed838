"""Jobs whose processes may do little, as in containers and under batch systems."""

import json
import os
import subprocess

import pytest
import support
from support import expect_ok

pytestmark = pytest.mark.mpi

# The program, and collectives that Tutti serves although ranks cannot read each other's memory.
SHORT = ("under_tools",), {"bcast", "alltoall"}
LONG = ("limits", "long", 3 << 20), {"bcast", "neighbor_allgather"}
CASES = [
    *((name, shm, SHORT) for name in ("mpich", "openmpi") for shm in ("memfd", "posix")),
    *((name, "memfd", SHORT) for name in ("debian-mpich", "debian-openmpi")),
    # Debian's MPICH over UCX hangs by itself in MPI_Finalize after such messages.
    *((name, "memfd", LONG) for name in ("mpich", "openmpi", "debian-openmpi")),
]


@pytest.fixture
def mounted(tmp_path):
    """The words before a command that mount what was built at another path alone, and 64 MiB of
    /dev/shm, and that path."""
    place = tmp_path / "mounted"
    place.mkdir()
    script = (
        'mount -t tmpfs -o size=64m tmpfs /dev/shm && mount --bind "$1" "$2" && '
        'for hidden in bin lib; do mount -t tmpfs -o size=4k tmpfs "$1/$hidden" || exit; done && '
        'shift 2 && exec "$@"'
    )
    words = ["unshare", "--mount", "sh", "-c", script, "sh", support.BUILD, place]
    probe = support.run([*words, "true"])
    if os.geteuid() != 0 or probe.returncode != 0:  # a container, or a chroot that is no mount
        pytest.skip(f"mounts need root and its rights: {probe.stderr.strip()}")
    return words, place


@pytest.mark.parametrize(("name", "shared_memory", "case"), CASES)
def test_few_rights(host_named, compiled, tmp_path, mounted, name, shared_memory, case):
    """No capability, no ptrace, little /dev/shm, and Tutti at a path that only this mount has."""
    (program, *arguments), served = case
    host, report, (words, place) = host_named(name), tmp_path / "report.json", mounted
    confined = tmp_path / "confined"
    source = support.PROGRAMS / "confined.c"
    subprocess.run(["gcc", "-Wall", "-Werror", "-o", confined, source], check=True, timeout=60)
    launcher = place / support.TUTTI_RUN.relative_to(support.BUILD)
    command = [*words, "setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    command += [host.launcher, "-n", 3, confined, launcher, f"--report={report}"]
    command += [compiled(host, program), *arguments]
    environment = support.clean_environment() | host.environment
    environment |= {"TUTTI_SHM": shared_memory, "TUTTI_STALL_SECONDS": "15"}
    expect_ok(support.run(command, environment=environment))
    rows = json.loads(report.read_text())["collectives"]
    assert served <= {row["collective"] for row in rows if row["calls"] >= 12 > row["host_calls"]}

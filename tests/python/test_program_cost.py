"""The instructions in which a rank makes its program of a collective of 256 ranks, from nothing.

Where all ranks do the same, they grow with the steps of that rank and not with all ranks' transfers.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("TEST_TUTTI_BUILD", Path(__file__).resolve().parents[2] / "build"))
PROGRAM = BUILD / "src" / "group" / "group_test"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind"),
    pytest.mark.skipif(not PROGRAM.exists(), reason="built without the unit tests"),
]

# Millions of instructions, a tenth above those that were counted.
MOST = {
    "allgather_ring": 6.0,
    "allgather_flat": 4.3,
    "alltoall_flat": 16.5,
    "alltoall_bruck": 16.5,
    "reduce_scatter_ring": 9.8,
    "allreduce_ring": 15.2,
    "bcast_ring": 157,
    "allreduce_tiled": 184,
}


@pytest.mark.parametrize("name", MOST)
def test_a_program_of_256_ranks(name: str, tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    command = [
        "valgrind",
        "-q",
        "--tool=callgrind",
        f"--callgrind-out-file={counts}",
        "--toggle-collect=tutti::group::program_for*",
        PROGRAM,
        f"--gtest_filter=*ProgramOf256Ranks.IsMade/{name}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and "[  PASSED  ] 1 test." in done.stdout, done.stdout + done.stderr
    found = re.search(r"^totals: (\d+)$", counts.read_text(), re.MULTILINE)
    assert found is not None
    millions = int(found[1]) / 1e6
    print(f"{millions:.2f} million instructions")
    assert 0 < millions <= MOST[name]

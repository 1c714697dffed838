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
FUNCTION = "tutti::group::program_for(tutti::group::ProgramRequest const&)"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind"),
    pytest.mark.skipif(not PROGRAM.exists(), reason="built without the unit tests"),
]

# Millions of instructions, a tenth above those that were counted, in the order of group_test. All
# but the last are made from patterns.
MOST = {
    "allgather_ring": 6.0,
    "allgather_flat": 4.3,
    "alltoall_flat": 16.5,
    "alltoall_bruck": 16.5,
    "reduce_scatter_ring": 9.8,
    "reduce_scatter_all_read_all": 6.2,
    "allreduce_ring": 15.2,
    "bcast_ring": 153,
}


def test_programs_of_256_ranks(tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    command = [
        "valgrind",
        "-q",
        "--tool=callgrind",
        "--combine-dumps=yes",
        f"--callgrind-out-file={counts}",
        f"--toggle-collect={FUNCTION}",
        f"--dump-after={FUNCTION}",
        PROGRAM,
        "--gtest_filter=*ProgramOf256Ranks.IsMade/*",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"OK \] .*IsMade/(\w+)", done.stdout) == list(MOST)
    totals = [int(total) for total in re.findall(r"^totals: (\d+)$", counts.read_text(), re.M)]
    found = dict(zip(MOST, (total / 1e6 for total in totals if total > 0), strict=True))
    print(found)
    assert {name: count for name, count in found.items() if count > MOST[name]} == {}

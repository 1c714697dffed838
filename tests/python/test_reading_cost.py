"""The instructions for reading and checking a plan, as every rank does at init, grow linearly with
ranks.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("TEST_TUTTI_BUILD", Path(__file__).resolve().parents[2] / "build"))
PROGRAM = BUILD / "src" / "select" / "select_test"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind"),
    pytest.mark.skipif(not PROGRAM.exists(), reason="built without the unit tests"),
]


def instructions(ranks: int, counts: Path) -> int:
    """The instructions of tutti::select::load_library for a tree of two levels."""
    command = [
        "valgrind",
        "-q",
        "--tool=callgrind",
        f"--callgrind-out-file={counts}",
        "--toggle-collect=tutti::select::load_library*",
        PROGRAM,
        f"--gtest_filter=LibraryTest.ReadsATreeOf{ranks}Ranks",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and "1 test ran" in re.sub(
        r"1 test from .* ran", "1 test ran", done.stdout
    ), done.stdout + done.stderr
    found = re.search(r"^totals: (\d+)$", counts.read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def test_four_times_the_ranks_take_at_most_five_times_the_instructions(tmp_path: Path) -> None:
    few, many = (instructions(ranks, tmp_path / "counts") for ranks in (1024, 4096))
    print(f"{few} and {many} instructions")
    assert 0 < few and many <= 5 * few

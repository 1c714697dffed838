"""All sources are formatted: C and C++ by clang-format, Python by ruff.

`make format` formats them.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TOOLS = Path(sys.executable).parent


def tracked(*patterns: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return listed.stdout.split()


def test_c_and_cpp():
    sources = tracked("*.h", "*.cpp", "*.c")
    assert len(sources) > 300
    checked = subprocess.run(
        [TOOLS / "clang-format", "--dry-run", "-Werror", *sources],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stderr


def test_python():
    checked = subprocess.run(
        [TOOLS / "ruff", "format", "--check", "."], cwd=ROOT, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout

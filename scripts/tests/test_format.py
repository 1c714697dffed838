"""All sources are formatted: C and C++ by clang-format, Python by ruff.

`make format` formats them. Prose in Markdown is wrapped at 100 columns; tables, code and links that cannot be broken are
as long as they are.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def too_long(text: str) -> list[int]:
    """The numbers of the lines of prose that have more than 100 columns and could be broken before."""
    lines, fenced, before = [], False, ""
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.startswith("```")
        code = fenced or (line.startswith("    ") and not before.strip())
        words = re.sub(r"^\s*([-*]|\d+\.)?\s*", "", line[:101])
        if len(line) > 100 and " " in words and not code and not line.startswith("|"):
            lines.append(number)
        before = "" if code else line
    return lines


@pytest.mark.parametrize("page", tracked("*.md"))
def test_markdown(page):
    assert too_long((ROOT / page).read_text()) == []


def test_long_lines_are_found():
    word = "x" * 60
    assert too_long(f"{word} {word}\n\n    {word} {word}\n| {word} {word}\n{word * 2}\n") == [1]

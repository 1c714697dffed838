"""All relative links and anchors in Markdown pages exist, all files of the project that pages name,
and all pages of docs/ that sources name."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import mpi_functions  # noqa: E402

LINK = re.compile(r"\[[^\[\]]*\]\(([^()\s]+)\)")
NAMED_PAGE = re.compile(r"\bdocs/[\w./-]+\.md\b")
LINK_TARGET = re.compile(r"\]\([^()\s]+\)")
# A path from the root of the project.
NAMED_PATH = re.compile(
    r"(?<![\w./:~-])(?:bench|cmake|docs|examples|include|plans|python|scripts|src|tests)/[\w./-]*\w"
)
# A path from src/ or from a room with rooms inside it, in backquotes: group/group.h.
NAMED_SOURCE = re.compile(r"`(\w+/[\w./-]*\w)`")
# A reader puts something else in place of these: src/ROOM/NAME_test.cpp.
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}(?![a-z])")


def tracked(*patterns: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return listed.stdout.split()


def prose(text: str) -> list[str]:
    """The lines outside code: indented and fenced blocks come out empty, so that line numbers stay."""
    lines, fenced, before = [], False, ""
    for line in text.split("\n"):
        fence = line.startswith("```")
        indented = line.startswith("    ") and not before.strip()
        lines.append("" if fenced or fence or indented else line)
        fenced ^= fence
        before = "" if indented else line
    return lines


def anchors(text: str) -> set[str]:
    """The anchors that GitHub and GitLab give to a page's headings."""
    seen: Counter[str] = Counter()
    found = set()
    for line in prose(text):
        if re.match(r"#{1,6} ", line):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", line.lstrip("#").strip())
            anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
            seen[anchor] += 1
    return found


def faults(page: Path) -> list[str]:
    """The faults of a page's links: one line for each that leads nowhere."""
    text = page.read_text()
    wrong = []
    for target in LINK.findall("\n".join(prose(text))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists():
            wrong.append(f"{page.name}: {target}: no such file")
        elif anchor and anchor not in anchors(file.read_text()):
            wrong.append(f"{page.name}: {target}: no such heading")
    return wrong


@pytest.mark.parametrize("page", tracked("*.md"))
def test_links_lead_somewhere(page):
    assert faults(ROOT / page) == []


def missing_files(text: str, files: list[str]) -> list[str]:
    """The paths that a page names and that no file or directory has. A name may leave out the
    ending of a source: src/plan/geometry."""
    directories = {str(parent) for file in files for parent in Path(file).parents}
    rooms = {Path(name).name for name in directories if name.startswith("src/")}
    known = directories | set(files) | {re.sub(r"\.(h|cpp|py)$", "", file) for file in files}
    sources = [name for name in known if name.startswith("src/")]
    text = LINK_TARGET.sub("]", text)
    missing = [name for name in NAMED_PATH.findall(text) if name not in known]
    for name in NAMED_SOURCE.findall(text):
        in_room = name.split("/")[0] in rooms and not NAMED_PATH.match(name)
        if in_room and not any(source.endswith("/" + name) for source in sources):
            missing.append(name)
    return [name for name in missing if not PLACEHOLDER.search(name)]


# The changelog also names files of the past.
@pytest.mark.parametrize("page", sorted(set(tracked("*.md")) - {"CHANGELOG.md"}))
def test_files_that_pages_name_exist(page):
    made = [f"src/{file}" for file in mpi_functions.GENERATED]
    assert missing_files((ROOT / page).read_text(), tracked() + made) == []


def test_missing_files_are_found():
    files = ["src/plan/check.h", "src/mpi/entry/life.cpp", "tests/fuzz/run.sh", "docs/plans.md"]
    there = (
        "`src/plan/check.h`, `src/plan/check`, `src/mpi/entry`, `plan/check`, `entry/life.cpp` and\n"
        "`src/ROOM/NAME_test.cpp`; `coll/han` and [x](src/none.h)\n\n    tests/fuzz/run.sh 60\n"
    )
    assert missing_files(there, files) == []
    gone = "`src/mpi/book.h`, `plan/offers.h`, src/plan/check.c\n\n    python bench/paths/run.py -n 2\n"
    assert missing_files(gone, files) == [
        "src/mpi/book.h",
        "src/plan/check.c",
        "bench/paths/run.py",
        "plan/offers.h",
    ]


def test_pages_that_sources_name_exist():
    sources = tracked("*.h", "*.cpp", "*.c", "*.py", "*.map", "*.sh", "*.txt")
    assert len(sources) > 300
    missing = [
        f"{source}: {name}"
        for source in sources
        for name in NAMED_PAGE.findall((ROOT / source).read_text(errors="replace"))
        if not (ROOT / name).exists()
    ]
    assert missing == []


def test_faults_are_found(tmp_path):
    (tmp_path / "other.md").write_text("# One `word`, and more\n\n## One\n\n## One\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](other.md) [b](other.md#one-word-and-more) [c](other.md#one-1) [d](https://x.org)\n"
        "[e](none.md) [f](other.md#two) [g\nh](#here) [i](other.md#one-2)\n\n    [j](code.md)\n"
    )
    assert faults(page) == [
        "page.md: none.md: no such file",
        "page.md: other.md#two: no such heading",
        "page.md: #here: no such heading",
        "page.md: other.md#one-2: no such heading",
    ]

"""All relative links and anchors in Markdown pages exist, and all pages of docs/ that sources name."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"\[[^\[\]]*\]\(([^()\s]+)\)")
NAMED_PAGE = re.compile(r"\bdocs/[\w./-]+\.md\b")


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
    """What is wrong with a page's links: one line for each that leads nowhere."""
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

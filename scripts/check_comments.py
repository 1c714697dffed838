"""Finds comments that open with a fragment: "Of each rank.", "What is left.", "By rank: ...", `// of this thread`.

Usage: check_comments.py [FILE...]

Without files, it looks at the C, C++ and Python files of ROOMS that git tracks. Prints one line for each comment at
fault and exits 1. A reader must guess the subject of a fragment; a comment is a sentence with its subject first, or,
beside code, a noun phrase ("the sender's rank", not "of the sender").

A comment is a run of lines: one `/* */`, `//` or `#` comments in one column, or a docstring of Python. The rules look
at its first word, and at the first words of its sentences:

- A comment opens with no preposition or relative word (OPENINGS). "By default ranks spin" can begin with "Ranks".
- It begins with a capital, unless its first word is a name, as of a function, or part of a list: a small English word
  (SMALL) is neither.
- Beside code it begins with none of BESIDE.
- No later sentence opens with "Of", "What", "Which" or "Who" in place of its subject.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("src", "include", "bench", "examples", "python", "scripts")
C_SUFFIXES = (".c", ".cpp", ".h")
PYTHON_SUFFIXES = (".py", ".pyi")

OPENINGS = {"Of", "What", "By", "As", "That", "Which", "Who", "Whose", "Whom", "Whether"}
SENTENCES = {"Of", "What", "Which", "Who"}
SMALL = set(
    "a an and as at but by each for from how if in into it its no of on or so than that the their "
    "these this those to what when where whether which who whose with without".split()
)
BESIDE = {"of", "that", "by", "what", "which", "who", "whose"}

TOKEN = re.compile(
    r"""
    (?P<comment>//[^\n]* | /\*.*?\*/)
  | (?:u8|[uUL])?R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"
  | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
  | \.?\d(?:'?[\w.])* | \w+
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass
class Comment:
    line: int
    column: int
    beside: bool  # code stands before it on its line
    text: str
    end: int  # its last line


def in_c(text: str) -> Iterator[Comment]:
    """The comments of C or C++, each `//` line on its own."""
    for match in TOKEN.finditer(text):
        if match["comment"] is None:
            continue
        begin = text.rfind("\n", 0, match.start()) + 1
        line = text.count("\n", 0, match.start()) + 1
        words = re.sub(r"^/[/*]|\*/$|^\s*\*(?!/)", "", match[0], flags=re.MULTILINE)
        beside = text[begin : match.start()].strip() != ""
        yield Comment(line, match.start() - begin, beside, words, line + match[0].count("\n"))


def in_python(text: str) -> Iterator[Comment]:
    """The comments of Python, each line on its own, and the docstrings."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            beside = token.line[:column].strip() != ""
            yield Comment(line, column, beside, token.string[1:], line)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            words = ast.get_docstring(node)
            if words is not None:
                first = node.body[0]
                yield Comment(first.lineno, first.col_offset, False, words, first.lineno - 1)


def joined(lines: Iterator[Comment]) -> list[Comment]:
    """The comments, with lines in one column that follow each other as one."""
    found: list[Comment] = []
    for each in lines:
        last = found[-1] if found else None
        if (
            last is not None
            and not each.beside
            and (each.line, each.column) == (last.end + 1, last.column)
        ):
            last.text += "\n" + each.text
            last.end = each.end
        else:
            found.append(each)
    return found


def fault(comment: Comment) -> str | None:
    """The rule that the comment breaks; None if it reads well."""
    first = re.match(r"\s*([A-Za-z]+)(?=[\s,:;.]|$)", comment.text)
    word = first[1] if first is not None else ""
    if comment.beside and word in BESIDE:
        return f'a comment beside code begins with "{word}"; begin with the thing itself'
    if not comment.beside and word in OPENINGS:
        return f'a comment opens with "{word}"; begin with the subject'
    if not comment.beside and word in SMALL:
        return f'a comment begins with "{word}" in lower case; write a sentence'
    for sentence in re.finditer(r"[.:]\s+([A-Z][a-z]*)\s", comment.text):
        if sentence[1] in SENTENCES:
            return f'a sentence opens with "{sentence[1]}"; begin with the subject'
    return None


def check(name: str, text: str) -> list[tuple[int, str]]:
    """The lines of comments that are at fault, each with the rule."""
    lines = in_python(text) if name.endswith(PYTHON_SUFFIXES) else in_c(text)
    faults = ((comment.line, fault(comment)) for comment in joined(lines))
    return sorted((line, rule) for line, rule in faults if rule is not None)


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", *ROOMS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    suffixes = C_SUFFIXES + PYTHON_SUFFIXES
    return [ROOT / name for name in listed.stdout.split("\0") if name.endswith(suffixes)]


def complaints(files: list[Path]) -> list[str]:
    return [
        f"{file}:{line}: {rule}"
        for file in files
        for line, rule in check(file.name, file.read_text(encoding="utf-8"))
    ]


def main() -> int:
    found = complaints([Path(name) for name in sys.argv[1:]] or tracked())
    print("\n".join(found) or "no comment opens with a fragment")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

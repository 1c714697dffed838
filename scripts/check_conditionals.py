"""Finds conditional expressions that lie inside others: `x if a else y if b else z` in Python, `a ? x : b ? y : z` in C
and C++.

Usage: check_conditionals.py [FILE...]

Without files, it looks at every Python, C and C++ file that git tracks. Prints one line for each statement with such an
expression and exits 1. A reader has to match the parts of nested conditions; statements, or a function with returns,
name them one after another.

Python is read by its own parser. C and C++ are cut into tokens, and these into expressions: at semicolons, commas and
assignments, at the end of the brackets around them, after the head of an if or a loop, and after a block. An expression
with a `?` of its own must have no other, neither at its level nor in brackets inside.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
C_SUFFIXES = (".c", ".cpp", ".h")
PYTHON_SUFFIXES = (".py", ".pyi")

TOKEN = re.compile(
    r"""
    (?P<blank>\s+ | //(?:[^\n\\]|\\.)* | /\*.*?\*/ | \\\n)
  | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)")
  | (?P<text>(?:u8|[uUL])?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
  | (?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign>::|[-+*/%^&|]=|<<=|>>=|[=!<>]=|->|&&|\|\||\+\+|--|.)
    """,
    re.VERBOSE | re.DOTALL,
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
CLOSING = {"(": ")", "[": "]", "{": "}"}
HEADS = {"if", "while", "for", "switch", "constexpr"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<<=", ">>="}


@dataclass
class Token:
    kind: str
    text: str
    line: int


@dataclass
class Expression:
    """The tokens between two cuts at one level of brackets."""

    own: list[int] = field(default_factory=list)  # the lines of its `?`
    inside: bool = False  # brackets in it hold another `?`
    open: int = 0  # `?` whose `:` has not come yet

    @property
    def nested(self) -> bool:
        return len(self.own) > 1 or (bool(self.own) and self.inside)


def tokens(text: str, line: int = 1) -> Iterator[Token]:
    for match in TOKEN.finditer(text):
        if match.lastgroup is not None and match.lastgroup != "blank":
            yield Token(match.lastgroup, match[0], line)
        line += match[0].count("\n")


class Reader:
    """Reads brackets level by level and collects the lines of the expressions that are at fault."""

    def __init__(self, stream: Iterator[Token]) -> None:
        self.tokens = list(stream)
        self.place = 0
        self.found: list[int] = []

    def level(self, closing: str) -> bool:
        """Reads up to the closing bracket; tells whether there was a `?`."""
        expression = Expression()
        asked = False
        previous = Token("sign", ";", 0)

        def cut() -> None:
            nonlocal expression, asked
            if expression.nested:
                self.found.append(expression.own[0])
            asked = asked or bool(expression.own) or expression.inside
            expression = Expression()

        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            self.place += 1
            if token.text == closing:
                break
            if token.text in CLOSING and token.kind == "sign":
                head = token.text == "(" and previous.text in HEADS
                expression.inside = self.level(CLOSING[token.text]) or expression.inside
                if head or (token.text == "{" and self.begins_a_statement()):
                    cut()
            elif token.text == "?":
                expression.own.append(token.line)
                expression.open += 1
            elif token.text == ":" and expression.open > 0:
                expression.open -= 1
            elif token.text == ";" or (
                expression.open == 0 and (token.text == "," or token.text in ASSIGNMENTS)
            ):
                cut()
            previous = token
        cut()
        return asked

    def begins_a_statement(self) -> bool:
        """The token behind a closed brace: an operator would go on with the expression."""
        if self.place == len(self.tokens):
            return True
        following = self.tokens[self.place]
        return following.kind in ("word", "number") or following.text in ("{", "}", "[")


def in_c(text: str) -> list[int]:
    """The lines of C or C++ on which an expression with a nested one begins."""
    found: list[int] = []
    if text.count("?") < 2:
        return found

    def read(part: str, line: int) -> None:
        reader = Reader(tokens(part, line))
        while reader.place < len(reader.tokens):
            reader.level("")
        found.extend(reader.found)

    def directive(match: re.Match[str]) -> str:
        read(match[0].replace("#", " ", 1), text.count("\n", 0, match.start()) + 1)
        return "\n" * match[0].count("\n")

    read(DIRECTIVE.sub(directive, text), 1)
    return sorted(set(found))


def in_python(text: str) -> list[int]:
    """The lines of Python on which an expression with a nested one begins."""
    outer = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.IfExp))
    return sorted(
        {
            node.lineno
            for node in outer
            if any(inner is not node and isinstance(inner, ast.IfExp) for inner in ast.walk(node))
        }
    )


def check(file: Path) -> list[int]:
    text = file.read_text(encoding="utf-8")
    return in_python(text) if file.suffix in PYTHON_SUFFIXES else in_c(text)


def tracked() -> list[Path]:
    patterns = [f"*{suffix}" for suffix in (*C_SUFFIXES, *PYTHON_SUFFIXES)]
    listed = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def main() -> int:
    files = [Path(name) for name in sys.argv[1:]] or tracked()
    complaints = [
        f"{file}:{line}: a conditional expression inside another; write statements or a function"
        for file in files
        for line in check(file)
    ]
    print("\n".join(complaints) or "no conditional expression lies inside another")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

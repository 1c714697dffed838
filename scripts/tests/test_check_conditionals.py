"""No conditional expression lies inside another (scripts/check_conditionals.py), and the script finds those that do."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location(
    "check_conditionals", ROOT / "scripts" / "check_conditionals.py"
)
script = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(script)

NESTED_IN_C = [
    "x = a ? b : c ? d : e;",
    "x = a ? b ? c : d : e;",
    "x = (a ? b : c) ? d : e;",
    "x = a ? f(b, c ? d : e) : g;",
    "x = a ? b\n : c ? d\n : e;",
    "f(a ? b : c ? d : e);",
    "auto g = [] { return a ? b : c ? d : e; };",
    "for (int i = a ? 1 : b ? 2 : 3; i < n; ++i) {}",
    "if (a) x = b ? T{c ? d : e} : T{};",
    "x = a ? std::max<int>(b, c) : d ? 1'000 : '?';",
    "x += a ? b, c : d ? e : f;",
    "#define M(a) ((a) ? b : \\\n  c ? d : e)",
    'text += i == 0 ? "?" : i == 1 ? ":" : ", ";',
    'x = a ? R"(?)" : b ? c : d;',
    "int f() {}\nint y = a ? b : c ? d : e;",
]
PLAIN_IN_C = [
    "x = a ? b : c; y = d ? e : f;",
    "int x = a ? b : c, y = d ? e : f;",
    "f(a ? b : c, d ? e : f);",
    "x = (a ? b : c) + (d ? e : f);",
    "if (a ? b : c) x = d ? e : f;",
    "while (a ? b : c) { x = d ? e : f; }",
    "if (a ? b : c) {} x = d ? e : f;",
    "x[a ? 0 : 1] = b ? c : d;",
    "x = a ? '?' : ':'; // b ? c : d ? e : f",
    'x = a ? "b ? c : d" : R"(? ?)";',
    "x = a ? b : c; /* ? */ x = d ? e : f;",
    "const T t{a ? b : c, d ? e : f};",
    "A() : a_(x ? 1 : 2), b_(y ? 1 : 2) {}",
    "for (int i = a ? b : c; d ? e : f; i = g ? h : i) {}",
    "#define M(a) ((a) ? b : c)\n#define N(a) ((a) ? b : c)",
    "switch (a ? b : c) { case 1: return d ? e : f; }",
    "x = a ? std::max(b, c) : ns::d;",
]


@pytest.mark.parametrize("text", NESTED_IN_C)
def test_nested_ones_in_c_are_found(text: str) -> None:
    assert len(script.in_c(text)) == 1, text


@pytest.mark.parametrize("text", PLAIN_IN_C)
def test_others_in_c_are_not(text: str) -> None:
    assert script.in_c(text) == [], text


def test_in_c_lines_are_those_of_the_first_condition() -> None:
    assert script.in_c("/* one\n two */\nchar c = '\"';\n\nx =\n  a ? b\n  : c ? d : e;\n") == [6]
    assert script.in_c("#define A \\\n 1\nx = a ? b : c ? d : e;") == [3]


def test_nested_ones_in_python_are_found() -> None:
    assert script.in_python("x = 1\ny = a if b else c if d else e\n") == [2]
    assert script.in_python("x = (a if b else c) if d else e\n") == [1]
    assert script.in_python("x = f(a if b else c) if d else e\n") == [1]
    assert script.in_python("x = (a if b else c) + (d if e else f)\ny = a if b else c\n") == []


def test_the_tree_has_none() -> None:
    files = script.tracked()
    assert len(files) > 500
    found = {file.relative_to(ROOT).as_posix(): script.check(file) for file in files}
    complaints = [
        f"{file}:{line}: a conditional expression inside another; write statements or a function"
        for file, lines in found.items()
        for line in lines
    ]
    assert not complaints, "\n".join(complaints)

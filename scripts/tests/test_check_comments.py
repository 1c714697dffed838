"""No comment opens with a fragment (scripts/check_comments.py), and the script finds those that do."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location(
    "check_comments", ROOT / "scripts" / "check_comments.py"
)
script = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = script  # dataclasses look their module up
SPEC.loader.exec_module(script)

FRAGMENTS_IN_C = [
    "// Of each rank.\nint x;",
    "/* What is left. */",
    "  // By rank: the last one.\n  // It is -1 at first.",
    "// As the hosts do.",
    "// Whether it waits.",
    "int x;  // of this rank",
    "int x; /* that have left */",
    "f(a,  // by rank\n  b);",
    "// without a root",
    "// A map. What it lacks is unknown.",
    "/* One line.\n *\n * Who makes it owns it. */",
    'const char* s = "//"; // what is said',
    "char c = '\"'; // whose it is",
    'auto t = R"(")"; // which one',
    "x = 1'000; // of these",
]
PLAIN_IN_C = [
    "// The rank's last step.\nint x;",
    "// Offers are made here.",
    "// find() finds it. of() does not.",
    "// dst[i] = a[i]. as_dict: the other one.",
    "// bcast, reduce and barrier.",
    "int x;  // the sender's rank",
    "int x;  // offset in bytes\n        // of the sender's block",
    "// A line that ends before\n// what follows it.",
    'const char* s = "// Of each rank.";',
    'auto s = R"(/* What */)";',
    "// Whatever comes. Offsets count from here.",
    "",
]


@pytest.mark.parametrize("text", FRAGMENTS_IN_C)
def test_fragments_in_c_are_found(text: str) -> None:
    assert len(script.check("a.cpp", text)) == 1, text


@pytest.mark.parametrize("text", PLAIN_IN_C)
def test_others_in_c_are_not(text: str) -> None:
    assert script.check("a.h", text) == [], text


def test_fragments_in_python_are_found() -> None:
    text = '"""What it does."""\nx = 1  # of y\n# By name.\ns = "# Of x"\n\n\ndef f():\n    """As g."""\n'
    assert [line for line, _ in script.check("a.py", text)] == [1, 2, 3, 8]
    assert (
        script.check("a.py", '"""The one.\n\nOffers."""\n# A name,\n# of x\nx = 1  # one of y\n')
        == []
    )


def test_lines_and_rules_are_told() -> None:
    assert script.check("a.c", "int x;\n\n/* Of\n x. */\nint y; // by x\n") == [
        (3, 'a comment opens with "Of"; begin with the subject'),
        (5, 'a comment beside code begins with "by"; begin with the thing itself'),
    ]


def test_the_tree_has_none() -> None:
    files = script.tracked()
    assert len(files) > 500
    assert not script.complaints(files)

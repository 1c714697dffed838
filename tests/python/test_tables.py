"""Tables and help texts in 80 columns: no number and no word of them is lost (issue 33)."""

import io
import re
from pathlib import Path

import pytest
import tutti
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from tutti.cli import whole_app
from tutti.tables import Table, new_console
from typer.testing import CliRunner

PACKAGE = Path(tutti.__file__).parent


def shown(table: Table, width: int) -> str:
    file = io.StringIO()
    Console(file=file, width=width).print(table)
    return file.getvalue()


words = st.text("abcdefgh:[]", min_size=1, max_size=9)
texts = st.lists(words, min_size=1, max_size=5).map(" ".join)
numbers = st.floats(0.001, 1e7).map(lambda number: f"{number:,.3f}")
coloured = st.tuples(st.sampled_from(["red", "green", "yellow", "default"]), numbers)


@settings(max_examples=40)
@given(st.data(), st.integers(0, 2), st.integers(1, 14), st.integers(30, 200))
def test_no_number_is_cut(data, text_columns, number_columns, width):
    """Each column of numbers is there with all its digits, or it is named as left out."""
    table = Table(title="a title", title_justify="left")
    for i in range(text_columns):
        table.add_column(f"text {i}")
    for i in range(number_columns):
        table.add_column(f"number {i},", justify="right", spare=data.draw(st.booleans()))
    rows = data.draw(st.integers(1, 3))
    cells = [[data.draw(numbers) for _ in range(number_columns)] for _ in range(rows)]
    for row in cells:
        colours = [data.draw(coloured)[0] for _ in row]
        marked = [f"[{c}]{n}[/]" for c, n in zip(colours, row, strict=True)]
        table.add_row(*(data.draw(texts) for _ in range(text_columns)), *marked)
    text = shown(table, width)
    assert "…" not in text and "..." not in text
    assert all(len(line.rstrip()) <= width for line in text.splitlines())
    head, _, left_out = text.partition("columns have no room for:")
    for column in range(number_columns):
        there = f"number {column}," in " ".join(head.split())
        assert there or f"number {column}," in " ".join(left_out.split())
        for row in cells:
            assert not there or re.search(rf"(?<![\d,.]){re.escape(row[column])}(?![\d,.])", head)


def test_a_table_that_fits_is_whole():
    table = Table(title="a title that is wider than the table", title_justify="left")
    table.add_column("name")
    table.add_column("n", justify="right", spare=True)
    table.add_row("a [b] :ring: c", "[red]12.50x[/]")
    text = shown(table, 80)
    assert text.splitlines()[0] == "a title that is wider than the table"
    assert "a [b] :ring: c" in text and " 12.50x " in text and "no room" not in text


def test_consoles_show_texts_as_they_are(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    console = new_console(132)
    console.print("levels:ring:4 [as many as cores]")
    assert (capsys.readouterr().out, console.width) == ("levels:ring:4 [as many as cores]\n", 70)


@pytest.mark.parametrize(
    "source", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_all_tables_and_consoles_are_these(source):
    if source.name == "tables.py":
        return
    text = source.read_text(encoding="utf-8")
    assert "rich.table" not in text
    assert not re.search(r"(?<!\w)Console\((?!stderr=True\))", text), "use new_console()"


def commands(command, path=()):
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))


COMMANDS = dict(commands(typer.main.get_command(whole_app())))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_loses_no_word(path):
    done = CliRunner().invoke(whole_app(), [*path, "--help"], env={"COLUMNS": "80"})
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert all(len(line) <= 80 and "…" not in line for line in lines)
    assert not [line for line in lines if "..." in line and not line.startswith("Usage:")]
    text = "".join(done.output.split())
    for parameter in COMMANDS[path].params:
        for name in (*parameter.opts, *parameter.secondary_opts):
            assert not name.startswith("-") or name in text
        assert "".join((getattr(parameter, "help", None) or "").split()) in text

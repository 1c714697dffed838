"""Tables for people, in as many columns as the terminal has.

A table that is wider than the terminal leaves whole columns out and says which. Numbers are never
cut, and text is only wrapped between words. Texts are shown as they are: what looks like Rich's
markup or emoji (an algorithm `nary:ring:4`, a path with brackets) stays, except for the tags of
these colours.
"""

import os
import re
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Column as RichColumn
from rich.table import Table as RichTable
from rich.text import Text

# A column of text that is no wider than this is not wrapped.
SHORT_TEXT = 12
NO_TAG = re.compile(r"\[(?!(?:red|green|yellow|default|/)\])")


def new_console(width: int, **options: Any) -> Console:
    """Makes a console as wide as the terminal; elsewhere as COLUMNS says, or `width`."""
    options |= {"markup": False, "emoji": False}
    console = Console(**options)
    if console.is_terminal:
        return console
    columns = os.environ.get("COLUMNS", "")
    return Console(width=int(columns) if columns.isdigit() and int(columns) else width, **options)


def _as_it_is(cell: Any, style: str = "") -> Any:
    if not isinstance(cell, str):
        return cell
    return Text.from_markup(NO_TAG.sub(r"\\[", cell), emoji=False, style=style)


class Table(RichTable):
    """A table whose columns on the right, or those added as `spare`, are left out where they do not
    fit. Columns that are justified to the right hold numbers.
    """

    def __init__(self, title: str | None = None, **options: Any) -> None:
        self._spare: list[bool] = []
        super().__init__(title=_as_it_is(title, "table.title"), **options)

    def add_column(
        self, header: Any = "", *words: Any, spare: bool = False, **options: Any
    ) -> None:
        self._spare.append(spare)
        super().add_column(_as_it_is(header), *words, **options)

    def add_row(self, *cells: Any, **options: Any) -> None:
        super().add_row(*map(_as_it_is, cells), **options)

    def _widths(self, console: Console, column: RichColumn) -> tuple[int, int]:
        """The least and the natural width of a column's text."""
        cells = [*([column.header] if self.show_header else []), *column.cells]
        measured = [console.measure(cell) for cell in cells]
        natural = max((cell.maximum for cell in measured), default=0)
        whole = column.justify == "right" or column.no_wrap or natural <= SHORT_TEXT
        return (natural if whole else max(cell.minimum for cell in measured)), natural

    def _around(self, columns: int) -> int:
        """The width of borders and padding."""
        left, right = self.padding[3], self.padding[1]
        return columns * (left + right) + (columns + 1 if self.box else 0)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [self._widths(console, column) for column in self.columns]
        kept = list(range(len(self.columns)))
        while len(kept) > 1:
            if sum(widths[i][0] for i in kept) + self._around(len(kept)) <= options.max_width:
                break
            kept.remove(max(kept[1:], key=lambda i: (self._spare[i], i)))
        if self.title:  # as wide as the console, also above a narrow table
            yield self.title
        shown = copy(self)
        shown.title = None
        shown.columns = []
        for i in kept:
            column = copy(self.columns[i])
            column._index = len(shown.columns)
            column.min_width, natural = widths[i]
            column.no_wrap = column.min_width == natural
            shown.columns.append(column)
        yield from RichTable.__rich_console__(shown, console, options)
        if left_out := [self.columns[i].header for i in range(len(widths)) if i not in kept]:
            names = ", ".join(" ".join(str(name).split()) or "remarks" for name in left_out)
            yield Text(
                f"{options.max_width} columns have no room for: {names}. A wider terminal shows "
                "them, and so does --json.",
                style="dim",
            )


@dataclass(frozen=True)
class Column:
    """A declared column of a table: its head, and the text of each entry in it."""

    head: str
    text: Callable[..., str]
    options: dict[str, Any] = field(default_factory=dict)  # those of Table.add_column


def words(head: str, text: Callable[..., str], **options: Any) -> Column:
    return Column(head, text, options)


def number(head: str, text: Callable[..., str], **options: Any) -> Column:
    return Column(head, text, {"justify": "right"} | options)


def table_of(
    title: str,
    columns: Iterable[Column],
    entries: Iterable[Any],
    section: Callable[[Any], Any] | None = None,
    **options: Any,
) -> Table:
    """The table with a row for each entry; a line where the value of `section` changes."""
    table = Table(title=title, **({"title_justify": "left"} | options))
    columns = list(columns)
    for column in columns:
        table.add_column(column.head, **column.options)
    last: Any = None
    for number_of_row, entry in enumerate(entries):
        here = section(entry) if section is not None else None
        if number_of_row and here != last:
            table.add_section()
        last = here
        table.add_row(*(column.text(entry) for column in columns))
    return table


def grid_of(rows: Iterable[tuple[str, ...]]) -> RichTable:
    """Texts side by side, without borders: words that are too wide are folded, and nothing is left
    out.
    """
    rows = list(rows)
    grid = RichTable.grid(padding=(0, 2, 0, 0))
    for _ in range(len(rows[0]) if rows else 0):
        grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*map(_as_it_is, row))
    return grid


def unwrapped() -> RichColumn:
    """A column of a progress bar that keeps its text in one line on a narrow terminal."""
    return RichColumn(no_wrap=True)

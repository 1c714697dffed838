"""Rows, in which Tutti's programs write what they have measured (bench/rows.h).

A row is a line with an object of JSON, whose first member is "what". Times are nanoseconds. The
programs write nothing else on their standard output, but the launchers of jobs may.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

PrintedRow = dict[str, Any]
One = TypeVar("One")
Key = TypeVar("Key")


def read_rows(lines: Iterable[str]) -> list[PrintedRow]:
    return [json.loads(line) for line in lines if line.startswith('{"what":')]


def rows_of(rows: Sequence[PrintedRow], *what: str) -> list[PrintedRow]:
    """The rows of these kinds."""
    return [row for row in rows if row["what"] in what]


def job_of(rows: Sequence[PrintedRow]) -> PrintedRow:
    """The members of the row of the job, which hold for all rows."""
    (job,) = rows_of(rows, "job")
    return {name: value for name, value in job.items() if name != "what"}


def members(one: Any, *names: str, digits: int | None = None) -> dict[str, Any]:
    """These members of an object, for a document; numbers are rounded to so many digits."""
    found = {name: getattr(one, name) for name in names}
    if digits is None:
        return found
    return {
        name: round(value, digits) if isinstance(value, float) else value
        for name, value in found.items()
    }


def grouped(some: Iterable[One], key: Callable[[One], Key]) -> dict[Key, list[One]]:
    """Lists of those that have the same key, in their order."""
    found: dict[Key, list[One]] = {}
    for one in some:
        found.setdefault(key(one), []).append(one)
    return found


def microseconds(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else round(nanoseconds / 1000, 7)


def times_by(rows: Sequence[PrintedRow], *members: str) -> dict[Any, Any]:
    """The times of rows as dictionaries in each other, by the values of these members."""
    found: dict[Any, Any] = {}
    for row in rows:
        inner = found
        for member in members[:-1]:
            inner = inner.setdefault(row[member], {})
        inner[row[members[-1]]] = row["ns"]
    return found

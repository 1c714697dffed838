"""The command `tutti papers`."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from pathlib import Path
from shlex import split
from typing import Annotated, Any

import typer
from rich.console import Console

from tutti.bench.present import Output, Report
from tutti.bench.progress import with_progress
from tutti.errors import RunError, UserError
from tutti.options import AsJson, JsonFile, option
from tutti.papers.row import (
    CONTRADICTED,
    FAILED,
    VERDICTS,
    Compared,
    Found,
    Row,
    compared,
    verdict_of,
)
from tutti.papers.table import ROWS
from tutti.tables import number, table_of, words

WIDTH = 80
LONGEST = 3600.0


@dataclass(frozen=True)
class Result:
    row: Row
    values: list[Compared]
    failure: str = ""

    @property
    def verdict(self) -> str:
        if self.failure:
            return FAILED
        return verdict_of(self.row, self.values) if self.values else self.row.verdict

    @property
    def changed(self) -> bool:
        return self.verdict != self.row.verdict


def named_rows(names: Sequence[str]) -> list[Row]:
    """The rows of these names; a paper's name, or the beginning of a row's, names several."""
    found: list[Row] = []
    for name in names:
        some = [row for row in ROWS if row.name == name]
        some = some or [row for row in ROWS if name == "all" or row.name.startswith(name)]
        if not some:
            raise UserError(f"no row is named '{name}'; `tutti papers --list` lists them")
        found += [row for row in some if row not in found]
    return found


def run_command(line: str, folder: Path, seconds: float) -> dict[str, Any] | None:
    """Runs a line of `command_lines`, for so many seconds at most; the document that it writes, if
    it is one of Tutti's that does."""
    program, *arguments = split(line)
    if program == "echo":
        content, _, file = arguments
        (folder / file).write_text(content)
        return None
    has_document = arguments[0] != "plan"
    arguments += ["--json"] if has_document else []
    with subprocess.Popen(
        [sys.executable, "-m", "tutti.cli", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            written, errors = process.communicate(timeout=seconds)
        except BaseException as cause:
            os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(cause, subprocess.TimeoutExpired):
                raise
            raise RunError(f"{line}: no end within {seconds:g} s; give more --seconds") from None
    if process.returncode != 0:
        raise RunError(f"{line}: {errors.strip() or 'it ended without a word'}")
    document: dict[str, Any] | None = json.loads(written) if has_document else None
    return document


@lru_cache(maxsize=4)
def _found(lines: tuple[str, ...], seconds: float) -> Found:
    """Several rows read the same commands: `command_lines` of them, which also name the files."""
    with tempfile.TemporaryDirectory(prefix="tutti-papers-") as name:
        documents = [run_command(line, Path(name), seconds) for line in lines]
    return Found([one for one in documents if one is not None])


def run_row(row: Row, seconds: float = LONGEST) -> Result:
    if not row.commands:
        return Result(row, [])
    try:
        found = _found(tuple(command_lines(row)), seconds)
        return Result(row, [compared(value, found) for value in row.values])
    except RunError as error:
        return Result(row, [], str(error))
    except (LookupError, ValueError) as error:
        return Result(row, [], f"the commands' documents lack a value of the row: {error}")


def sum_of(verdicts: Sequence[str]) -> dict[str, int]:
    counts = Counter(verdicts)
    return {verdict: counts[verdict] for verdict in (*VERDICTS, FAILED)}


def sum_text(verdicts: Sequence[str]) -> str:
    counts = sum_of(verdicts)
    told = [f"{n} {verdict}" for verdict, n in counts.items() if n or verdict != FAILED]
    return f"{len(verdicts)} row{'s' if len(verdicts) != 1 else ''}: " + ", ".join(told)


def contradicted_first(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row.verdict != CONTRADICTED)


def text_of(value: float | str | tuple[float, float], unit: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        least, most = value
        if most == inf:
            return f"from {text_of(least, unit)} on"
        return f"{least:.3g} to {text_of(most, unit)}"
    shown = f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
    if unit == "x":
        return shown + unit
    return f"{shown} {unit}".rstrip()


def difference_text(one: Compared) -> str:
    difference = one.difference
    if isinstance(one.paper, tuple):
        return ""
    if difference is None:
        return "same" if one.holds else "other"
    return f"{difference:+.0%}"


def range_of(one: Compared) -> list[float | None] | None:
    """For JSON: the range that a sentence of the paper stands for; no upper end is None."""
    if not isinstance(one.paper, tuple):
        return None
    return [None if end == inf else end for end in one.paper]


def command_lines(row: Row) -> list[str]:
    """The lines that repeat a row by hand."""
    files = [f"echo '{json.dumps(content)}' > {name}" for name, content in row.files.items()]
    return files + [f"tutti {line}" for line in row.commands]


def said(row: Row) -> str:
    return row.says + (f" (not here: {row.why})" if row.verdict == CONTRADICTED else "")


def show_list(console: Console, rows: Sequence[Row]) -> None:
    console.print(sum_text([row.verdict for row in rows]), highlight=False)
    console.print(
        table_of(
            "the papers' rows, as they were last compared; contradicted ones first",
            [
                words("row", lambda row: row.name, no_wrap=True),
                words("here", lambda row: row.verdict, no_wrap=True),
                words("the paper", said),
            ],
            contradicted_first(rows),
            section=lambda row: row.paper,
        )
    )


def show_result(console: Console, result: Result) -> None:
    row = result.row
    now = f"{result.verdict} (the table says {row.verdict})" if result.changed else result.verdict
    console.print(f"{row.name}: {row.says}", highlight=False)
    for line in command_lines(row):
        console.print(f"  {line}", highlight=False, soft_wrap=True)
    if result.failure:
        console.print(f"  failed: {result.failure}", highlight=False)
    if result.values:
        console.print(
            table_of(
                "",
                [
                    words("", lambda one: one.what),
                    number("the paper", lambda one: text_of(one.paper, one.unit)),
                    number("ours", lambda one: text_of(one.ours, one.unit)),
                    number("difference", difference_text),
                    words("holds", lambda one: "yes" if one.holds else "no"),
                ],
                result.values,
            )
        )
    console.print(f"  {now}" + (f": {row.why}" if row.why else ""), highlight=False)


def document_of(results: Sequence[Result], was_run: bool) -> dict[str, Any]:
    return {
        "format": "tutti-papers 1",
        "sum": sum_of([one.verdict for one in results]),
        "rows": [
            {
                "name": one.row.name,
                "says": one.row.says,
                "commands": command_lines(one.row),
                "verdict": one.verdict if was_run else one.row.verdict,
                "recorded": one.row.verdict,
                "why": one.row.why,
                "failure": one.failure,
                "values": [
                    {
                        "what": value.what,
                        "paper": None if isinstance(value.paper, tuple) else value.paper,
                        "range": range_of(value),
                        "ours": value.ours,
                        "unit": value.unit,
                        "difference": value.difference,
                        "holds": value.holds,
                    }
                    for value in one.values
                ],
            }
            for one in results
        ],
    }


def papers(
    rows: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ROWS]", help="Rows, papers or beginnings of names (hmpi, mpich2/9), or all."
        ),
    ] = None,
    list_: Annotated[bool, option("List the rows and run nothing.", "--list")] = False,
    quick: Annotated[bool, option("Leave out rows that take a minute or more.")] = False,
    seconds: Annotated[
        float, option("Stop a command that takes more seconds than this.", min=0.001)
    ] = LONGEST,
    as_json: AsJson = False,
    json_file: JsonFile = None,
) -> None:
    """Compare what the papers say with what today's code gives. Without rows: list them."""
    chosen = named_rows(rows or ["all"])
    if quick:
        chosen = [row for row in chosen if row.minutes < 1]
    output = Output(as_json, json_file, None)
    if list_ or not rows:
        listed = document_of([Result(row, []) for row in chosen], False)
        output.present(Report(lambda console: show_list(console, chosen), listed, width=WIDTH))
        return

    def work(before: Callable[..., None]) -> list[Result]:
        results = []
        for row in chosen:
            before(row.name + (f", about {row.minutes:g} min" if row.minutes >= 1 else ""))
            results.append(run_row(row, seconds))
        return results

    results = with_progress(len(chosen), chosen[0].name if chosen else "", work, ticks=1)

    def show(console: Console) -> None:
        console.print(sum_text([one.verdict for one in results]), highlight=False)
        for one in results:
            show_result(console, one)

    output.present(Report(show, document_of(results, True), width=WIDTH))
    failed = [one.row.name for one in results if one.failure]
    if failed:
        raise RunError(f"{len(failed)} rows did not run: {', '.join(failed)}")
    changed = [one.row.name for one in results if one.changed]
    if changed:
        raise RunError(
            f"{len(changed)} rows came out otherwise than the table in tutti/papers says: "
            f"{', '.join(changed)}"
        )

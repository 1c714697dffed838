"""`tutti papers`: the table of rows, what two of them give today, and the page that lists them."""

import json
import os
from math import inf
from pathlib import Path

from tutti.papers.command import (
    contradicted_first,
    range_of,
    run_row,
    sum_of,
    sum_text,
    text_of,
)
from tutti.papers.row import VERDICTS, Compared, Found, Row, Value, compared, verdict_of
from tutti.papers.table import ROWS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers.md"
BEGIN, END = "<!-- rows: begin -->\n", "<!-- rows: end -->\n"


def page_rows():
    """The part of the page that the table gives."""
    lines = [sum_text([row.verdict for row in ROWS]) + ".", "", "| row | the paper | here | why |"]
    lines += ["| --- | --- | --- | --- |"]
    for row in contradicted_first(ROWS):
        lines.append(f"| `{row.name}` | {row.says} | {row.verdict} | {row.why} |")
    return "\n".join(lines) + "\n"


def test_the_page_has_every_row():
    head, _, rest = PAGE.read_text().partition(BEGIN)
    listed, _, tail = rest.partition(END)
    if "TEST_TUTTI_WRITE_GOLDEN" in os.environ:
        PAGE.write_text(head + BEGIN + page_rows() + END + tail)
        listed = page_rows()
    assert listed == page_rows(), "set TEST_TUTTI_WRITE_GOLDEN=1 to write it again"


def test_the_rows_are_whole():
    assert len({row.name for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert row.verdict in VERDICTS, row.name
        assert bool(row.commands) == bool(row.values), row.name
        assert row.why or (row.commands and row.verdict == "reproduced"), row.name
        assert row.commands or row.verdict != "reproduced", f"{row.name}: today's code shows it"
        assert not (row.is_part and row.verdict == "reproduced"), row.name
        assert not row.name.startswith("all") and "|" not in row.says + row.why


def test_a_value_holds_within_its_bounds():
    found = Found([{"cells": [{"algorithm": "flat", "bytes": 8, "predicted_us": 12.0}]}])
    near = compared(Value("time", 10, lambda f: f.us("flat", "8")), found)
    wide = compared(Value("time", lambda f: 10, lambda f: f.us("flat", "8"), 0.5, 1.5), found)
    assert not near.holds and wide.holds and near.difference == wide.difference == 12 / 10 - 1
    word = compared(Value("quickest", "flat", Found.quickest), found)
    assert word.holds and word.difference is None
    ahead = compared(Value("lead", None, lambda f: f.us("flat", "8"), 11.5, inf, "x"), found)
    some = compared(Value("lead", None, lambda f: f.us("flat", "8"), 1, 1.2, "x"), found)
    assert ahead.holds and not some.holds and ahead.difference is some.difference is None
    shown = [text_of(one.paper, "x") for one in (ahead, some)]
    assert shown == ["from 11.5x on", "1 to 1.2x"]
    assert [range_of(one) for one in (ahead, some, near)] == [[11.5, None], [1, 1.2], None]
    row = Row("x/1", "says", "in view")
    values: list[Compared] = [near, wide]
    assert verdict_of(row, values) == "partly"
    assert verdict_of(row, values[:1]) == "contradicted"
    assert verdict_of(row, values[1:]) == "in view"
    part = Row("x/1", "says", "partly", is_part=True)
    assert verdict_of(part, values[1:]) == "partly"
    assert verdict_of(part, values[:1]) == "contradicted"


def test_a_row_whose_commands_fail_counts_as_failed():
    """Not under the verdict of an earlier run. `first` ends with an error, and the document of
    `second` has no such algorithm."""
    value = Value("time", 10, lambda f: f.us("binomial", "8"))
    predict = "model predict bcast --machine hmpi-xeon --ranks 12 --bytes 8 --algorithm"
    first = Row("x/1", "says", "reproduced", (f"{predict} no_such",), (value,))
    second = Row("x/2", "says", "in view", (f"{predict} flat",), (value,))
    results = [run_row(first), run_row(second)]
    assert [one.verdict for one in results] == ["failed", "failed"]
    assert all(one.changed for one in results)
    assert "no_such" in results[0].failure and "8 bytes by binomial" in results[1].failure
    counts = sum_of([one.verdict for one in results])
    assert counts["failed"] == 2 and counts["reproduced"] == counts["in view"] == 0
    assert sum_text([one.verdict for one in results]).endswith(", 2 failed")
    assert "failed" not in sum_text([row.verdict for row in ROWS])


def test_a_command_that_takes_too_long_is_stopped():
    line = "model predict bcast --machine hmpi-xeon --ranks 12 --bytes 8 --algorithm flat"
    value = Value("time", 10, lambda f: f.us("flat", "8"))
    result = run_row(Row("x/1", "says", "in view", (line,), (value,)), seconds=0.01)
    assert result.verdict == "failed" and "no end within 0.01 s" in result.failure


def test_rows_give_today_what_the_table_says(tutti):
    result = tutti("papers", "hmpi/24", "numacol/5-superdome", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["sum"]["contradicted"] == found["sum"]["partly"] == 1
    assert [row["verdict"] for row in found["rows"]] == [row["recorded"] for row in found["rows"]]
    (crossing,) = found["rows"][0]["values"]
    assert crossing["paper"] == 16384 and crossing["ours"] < 1024 and crossing["difference"] < 0
    assert any("tutti model predict allreduce" in line for line in found["rows"][0]["commands"])


def test_the_list_and_unknown_rows(tutti):
    listed = tutti("papers", "--list")
    assert listed.returncode == 0 and f"{len(ROWS)} rows: " in listed.stdout
    assert max(map(len, listed.stdout.splitlines())) <= 80
    wrong = tutti("papers", "hmpy")
    assert wrong.returncode == 2 and "no row is named 'hmpy'" in wrong.stderr

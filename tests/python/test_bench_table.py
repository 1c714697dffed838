"""bench/table.py turns the output of `tutti bench --json` into data and a table."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "bench" / "table.py"


def ratio(value):
    return {"value": value, "low": value / 1.1, "high": value * 1.1}


def cell(collective, count, medians, means, two_modes=False, condition="plain"):
    return {
        "collective": collective,
        "bytes": count,
        "condition": condition,
        "peer": "openmpi",
        "peer_median_us": 2 * medians,
        "median_us": 2.0,
        "ratio_of_medians": ratio(medians),
        "ratio_of_means": ratio(means),
        "two_modes": two_modes,
        "slower": medians * 1.1 < 0.95,
    }


def table(*arguments):
    return subprocess.run(
        [sys.executable, SCRIPT, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_line_for_each_cell_and_a_row_for_each_variant(tmp_path):
    cells = [
        cell("bcast", 8, 2.0, 3.0),
        cell("gather", 4096, 0.5, 0.6),
        cell("scan", 3 << 20, 4.0, 1.5, two_modes=True),
        cell("bcast", 8, 9.0, 9.0, condition="cold"),
    ]
    result, data = tmp_path / "result.json", tmp_path / "data.csv"
    result.write_text(
        json.dumps(
            {
                "best_peers": [
                    {"ranks": 4, "variant": "mpich+tutti", "all_cells": ratio(1.6), "cells": cells}
                ]
            }
        )
    )
    done = table(result, "--csv", data)
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert (
        last
        == "| 4 | mpich+tutti | 3 | 1.60x (1.45-1.76) | gather 4 KiB 0.50x | gather 4 KiB 0.50x |"
    )
    with data.open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["collective"], row["ratio"], row["figure"]) for row in rows] == [
        ("bcast", "2.0", "medians"),
        ("gather", "0.5", "medians"),
        ("scan", "1.5", "means"),
    ]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"best_peers": []}', '{"best_peers": [{}]}'])
def test_other_files_are_named(tmp_path, text):
    result = tmp_path / "other.json"
    result.write_text(text)
    done = table(result)
    assert (
        done.returncode == 2 and str(result) in done.stderr and "tutti bench --json" in done.stderr
    )
    assert "Traceback" not in done.stderr
    assert table(tmp_path / "nothing").returncode == 2


def test_the_data_of_the_docs_have_these_columns():
    files = set((ROOT / "docs" / "data").glob("*.csv"))
    files -= set((ROOT / "docs" / "data").glob("candidates-*.csv"))  # scripts/candidate_rows.py
    assert files
    for file in files:
        assert (
            file.read_text().splitlines()[0]
            == "ranks,variant,collective,bytes,peer,peer_us,tutti_us,ratio,low,high,figure"
        )

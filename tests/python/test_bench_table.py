"""`tutti bench view` turns the output of `tutti bench calls --json` into data and a table in Markdown."""

import csv
import json
from pathlib import Path

import pytest
from tutti.bench.statistics import compare, geometric_mean

ROOT = Path(__file__).resolve().parents[2]
MPICH = [4.0, 4.1, 4.2, 4.0]
# Kinds of calls: the medians of Open MPI and of Tutti. The times of the last one have two modes.
TIMES = {
    ("bcast", 8): ([2.0, 2.1, 2.2, 2.0], [1.0, 1.1, 1.0, 1.2]),
    ("gather", 4096): ([2.0, 2.1, 2.0, 2.2], [4.0, 4.1, 4.3, 4.0]),
    ("scan", 3 << 20): ([2.0, 30.0, 2.0, 30.0], [1.0, 1.0, 1.0, 1.0]),
}


def cell(collective, size, openmpi, own, **words):
    times = {"mpich": [10 * time for time in MPICH], "openmpi": openmpi, "mpich+tutti": own}
    if openmpi[1] == 30:
        times["mpich"] = [100 * time for time in MPICH]
    variants = {
        name: {"median_us": some, "mean_us": [3 * time for time in some]}
        for name, some in times.items()
    }
    variants["mpich+tutti"]["mean_us"] = own
    return {"ranks": 4, "collective": collective, "bytes": size, "variants": variants} | words


def test_a_line_for_each_cell_and_a_row_for_each_variant(tutti, tmp_path):
    cells = [cell(*kind, *times) for kind, times in TIMES.items()]
    cells.append(cell("bcast", 8, *TIMES["bcast", 8], condition="cold"))
    result, data = tmp_path / "result.json", tmp_path / "data.csv"
    result.write_text(json.dumps({"cells": cells}))
    done = tutti("bench", "view", str(result), "--markdown", "--csv", str(data))
    assert done.returncode == 0, done.stderr
    pairs = list(TIMES.values())
    pairs[2] = ([3 * time for time in pairs[2][0]], pairs[2][1])  # the ratio of means
    every = geometric_mean(pairs)
    assert done.stdout.splitlines()[-1] == (
        f"| 4 | mpich+tutti | 3 | {every.value:.2f}x ({every.low:.2f}-{every.high:.2f}) | "
        "gather 4 KiB 0.51x | gather 4 KiB 0.51x |"
    )
    with data.open() as file:
        rows = list(csv.DictReader(file))
    assert [
        (row["collective"], row["peer"], float(row["ratio"]), row["figure"]) for row in rows
    ] == [
        (kind[0], "openmpi", round(compare(*pair).value, 3), figure)
        for kind, pair, figure in zip(TIMES, pairs, ("medians", "medians", "means"), strict=True)
    ]
    assert float(rows[0]["low"]) == round(compare(*pairs[0]).low, 3)
    # The file that was written gives the same ratios again.
    again = tutti("bench", "view", str(data), "--json")
    assert [one["value"] for one in json.loads(again.stdout)["cells"]] == [
        float(row["ratio"]) for row in rows
    ]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": []}', '{"cells": [{}]}'])
def test_other_files_are_named(tutti, tmp_path, text):
    result = tmp_path / "other.json"
    result.write_text(text)
    done = tutti("bench", "view", str(result), "--markdown")
    assert done.returncode == 2 and str(result) in done.stderr and "docs/data" in done.stderr
    assert tutti("bench", "view", str(tmp_path / "nothing"), "--csv", "x.csv").returncode == 2


def test_without_a_second_mpi_there_is_no_best_peer(tutti, tmp_path):
    one = cell("bcast", 8, *TIMES["bcast", 8])
    del one["variants"]["openmpi"]
    result = tmp_path / "one.json"
    result.write_text(json.dumps({"cells": [one]}))
    done = tutti("bench", "view", str(result), "--markdown")
    assert done.returncode == 2 and "--markdown" in done.stderr and "one MPI" in done.stderr


def test_the_data_of_the_docs_have_these_columns():
    files = set((ROOT / "docs" / "data").glob("*.csv"))
    files -= set((ROOT / "docs" / "data").glob("candidates-*.csv"))  # scripts/candidate_rows.py
    assert files
    for file in files:
        assert (
            file.read_text().splitlines()[0]
            == "ranks,variant,collective,bytes,peer,peer_us,tutti_us,ratio,low,high,figure"
        )

"""`tutti bench view` makes tables of files that earlier measurements left."""

import json
import math
from pathlib import Path

import pytest
from tutti.bench.statistics import compare, geometric_mean

DATA = Path(__file__).resolve().parents[2] / "docs" / "data"
MPICH, OPENMPI, TUTTI = [4.0, 5.0, 6.0], [2.0, 2.2, 2.1], [1.0, 1.1, 1.4]


@pytest.fixture
def view(tutti):
    """view(file, option, ...) returns what it prints on 80 columns; with --json, the document."""

    def run(*words):
        done = tutti("bench", "view", *map(str, words))
        assert done.returncode == 0, done.stderr
        if "--json" in words:
            return json.loads(done.stdout)
        assert max(map(len, done.stdout.splitlines())) <= 80
        return done.stdout

    return run


def document(cells):
    """As `tutti bench calls --json-file` writes it; `cells`: (words, medians by repetition of each variant)."""
    return {
        "cells": [
            {"ranks": 4, "collective": "bcast", "bytes": 8, **words}
            | {"variants": {name: {"median_us": times} for name, times in medians.items()}}
            for words, medians in cells
        ]
    }


def of(means, **words):
    """The value and the interval of the entry that has these words."""
    (one,) = [entry for entry in means if words.items() <= entry.items()]
    return one["value"], one["low"], one["high"]


def as_tuple(ratio):
    return ratio.value, ratio.low, ratio.high


def test_a_document_is_compared_by_repetition_with_each_mpi_and_the_best(view, tmp_path):
    times = {"mpich": MPICH, "openmpi": OPENMPI, "mpich+tutti": TUTTI}
    slow = times | {"mpich+tutti": [40.0, 41.0, 42.0]}
    cold = {"condition": "cold"}
    file = tmp_path / "result.json"
    file.write_text(json.dumps(document([({}, times), ({"bytes": 4096}, slow), (cold, slow)])))
    found = view(file, "--json")
    assert len(found["cells"]) == 6  # the cold one is left out
    for mpi, base in (("mpich", MPICH), ("openmpi", OPENMPI), ("best peer", OPENMPI)):
        cell = of(found["cells"], against=mpi, bytes=8)
        assert cell == pytest.approx(as_tuple(compare(base, TUTTI)))
        mean = geometric_mean([(base, TUTTI), (base, slow["mpich+tutti"])])
        assert of(found["means"], against=mpi) == pytest.approx(as_tuple(mean))
    assert [cell["bytes"] for cell in found["cells"] if cell["slower"]] == [4096] * 3
    text = view(file)
    slower = " ".join(text.partition("Clearly slower")[2].split())
    assert "4 ranks, mpich+tutti, against mpich: bcast 4 KiB 0.12x" in slower
    assert "8 B" not in slower
    assert "over openmpi" in view(file, "--cells") and "4 KiB" in view(file, "--cells")


def test_rows_of_medians_compare_the_default_in_the_jobs_that_have_both(view, tmp_path):
    lines = ["variant,ranks,collective,rule,bytes,repetition,median_us"]
    lines += [f"mpich,4,scan,host,8,{k},{time}" for k, time in enumerate(MPICH)]
    lines += [f"mpich+tutti,4,scan,default,8,{k},{time}" for k, time in enumerate(TUTTI[:2])]
    lines += ["mpich+tutti,4,scan,chain,8,0,0.001"]
    file = tmp_path / "candidates.csv"
    file.write_text("\n".join(lines))
    (cell,) = view(file, "--json")["cells"]
    ratio = compare(MPICH[:2], TUTTI[:2])
    assert (cell["value"], cell["low"], cell["high"]) == pytest.approx(as_tuple(ratio))


def test_the_rows_of_the_docs_give_the_means_of_the_docs(view):
    text = view(DATA / "sixteen-cores.csv", "--ranks", "16")
    rows = [line.split("│") for line in text.splitlines() if "best peer" in line]
    means = {row[2].strip(): row[5].strip() for row in rows if len(row) > 6}
    assert means == {"mpich+tutti": "1.45x", "mpich+tutti+heap": "1.91x",
                     "openmpi+tutti": "1.50x", "openmpi+tutti+heap": "2.00x"}  # fmt: skip
    assert "scatter 1 MiB 0.17x" in " ".join(text.split())
    for file in DATA.glob("*.csv"):
        cells = view(file, "--json")["cells"]
        assert cells and all(math.isfinite(cell["value"]) for cell in cells), file


def test_a_file_that_is_none_is_named(tutti, tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("ranks,variant\n1,x\n")
    for file in (empty, tmp_path / "missing", DATA / "sixteen-cores-lines.json"):
        done = tutti("bench", "view", str(file))
        assert done.returncode == 2 and str(file) in done.stderr and "docs/data" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    done = tutti("bench", "view", str(DATA / "two-ranks.csv"), "--ranks", "3")
    assert done.returncode == 2 and "no rows" in done.stderr

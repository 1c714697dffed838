"""`tutti bench lives` runs and reports its measurements of short-lived communicators."""

import pytest

pytestmark = pytest.mark.mpi


@pytest.mark.slow
def test_every_cell_is_measured(document_of, tmp_path):
    plot = tmp_path / "lives"
    words = "--calls 0,4 --rounds 20 --repetitions 2 --mpi mpich,openmpi"
    document, said = document_of(f"bench lives {words} --plot {plot}")
    assert document["format"] == "tutti-lives 1"
    assert [(row["mpi"].split()[0], row["calls"]) for row in document["rows"]] == [
        ("MPICH", 0),
        ("MPICH", 4),
        ("Open", 0),
        ("Open", 4),
    ]
    for row in document["rows"]:
        assert all(
            len(row[who]["median"]) == len(row[who]["mean"]) == 2 for who in ("host", "tutti")
        )
        assert row["low"] <= row["ratio"] <= row["high"]
    assert "MPICH" in said and "Tutti over host" in said
    assert plot.with_suffix(".png").stat().st_size > 1000

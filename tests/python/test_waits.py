"""`tutti bench waits` runs and reports calls that wait in the host."""

import pytest
from tutti.bench.mpis import find_mpis

pytestmark = [pytest.mark.mpi, pytest.mark.slow]
CALLS = ["Sendrecv ring", "halo, Waitall", "pipeline", "task farm", "Barrier", "Comm_split",
         "Fetch_and_op"]  # fmt: skip


@pytest.mark.skipif(not find_mpis(), reason="needs an MPI")
def test_every_call_is_measured_on_every_mpi(document_of):
    words = "--ranks 3 --rounds 10 --work 20 --repetitions 2"
    document, said = document_of(f"bench waits {words}")
    assert "3 ranks" in said and "20 us of work before each" in said
    assert max(map(len, said.splitlines())) <= 80
    assert (document["format"], document["ranks"], document["work_us"]) == ("tutti-waits 1", 3, 20)
    assert len(document["rows"]) >= len(CALLS)
    for mpi in {row["mpi"] for row in document["rows"]}:
        mine = [row for row in document["rows"] if row["mpi"] == mpi]
        assert [row["call"] for row in mine] == CALLS
        for row in mine:
            assert len(row["host"]) == len(row["tutti"]) == 2
            assert row["low"] <= row["gain"] <= row["high"]
            if row["call"] != "task farm":  # one rank hands out tasks only
                assert min(row["host"] + row["tutti"]) >= 20

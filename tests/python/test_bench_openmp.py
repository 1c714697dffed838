"""`tutti bench openmp`: the program verifies its results and measures every cell; a table shows
them.
"""

import pytest
from tutti.bench import threads
from tutti.bench.driver import execute
from tutti.places import find_program

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(find_program("tutti-openmp") is None, reason="the compiler has no OpenMP"),
]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_cell(count):
    document = threads.measure_openmp(count, [64, 4096], 2, 1)
    cells = threads.openmp_times(document)
    assert list(cells) == [64, 4096]
    for of_size in cells.values():
        assert {"openmp_c", *threads.TUTTI} <= set(of_size)
        assert all(len(times) == 2 and min(times) > 0 for times in of_size.values())


def test_command(document_of):
    words = "bench openmp --ranks 2 --bytes 64,4K --repetitions 2 --budget-ms 1"
    document, said = document_of(words)
    assert "2 ranks as threads" in said and "4 KiB" in said
    assert document[0]["threads"] == 2


def test_wrong_arguments():
    code, _, err = execute([str(find_program("tutti-openmp")), "0", "1", "1", "64"], {}, 30)
    assert code == 2 and "usage" in err

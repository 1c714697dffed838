"""`tutti bench openmp`: the program verifies its results and measures every cell; a table shows
them.
"""

import json

import pytest
from tutti.bench import threads
from tutti.bench.driver import execute
from tutti.cli import whole_app
from tutti.places import find_program
from typer.testing import CliRunner

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


def test_command(tmp_path):
    file = tmp_path / "openmp.json"
    result = CliRunner().invoke(
        whole_app(),
        [
            "bench",
            "openmp",
            "--ranks",
            "2",
            "--bytes",
            "64,4K",
            "--repetitions",
            "2",
            "--budget-ms",
            "1",
            "--json-file",
            str(file),
        ],
    )
    assert result.exit_code == 0, result.output
    assert "2 ranks as threads" in result.output and "4 KiB" in result.output
    assert json.loads(file.read_text())[0]["threads"] == 2


def test_wrong_arguments():
    code, _, err = execute([str(find_program("tutti-openmp")), "0", "1", "1", "64"], {}, 30)
    assert code == 2 and "usage" in err

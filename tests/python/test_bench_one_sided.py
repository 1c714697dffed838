"""`tutti bench --one-sided`: the program measures every member, and a table shows them."""

import json
import os

import pytest
from typer.testing import CliRunner

from tutti.bench import one_sided
from tutti.bench.driver import execute
from tutti.cli import whole_app
from tutti.places import program

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]


def test_command(tmp_path):
    file = tmp_path / "transfers.json"
    words = ["bench", "--one-sided", "--repetitions", "2", "--json", str(file)]
    result = CliRunner().invoke(whole_app(), words)
    assert result.exit_code == 0, result.output
    assert "put of 8 B by a server" in result.output
    document = json.loads(file.read_text())
    assert document["format"] == "tutti-transfers 1"
    assert len(document["repetitions"]) == 2
    for times in document["repetitions"]:
        assert {name for row in one_sided.ROWS for name in row[:2]} == set(times)
        assert all(0 < time < 1e6 for time in times.values())


def test_mistakes():
    result = CliRunner().invoke(whole_app(), ["bench", "--one-sided", "--halo"])
    assert result.exit_code != 0
    for words in ([], ["--cores", "0"], ["--cores", "0,0", "--repetitions", "1"]):
        code, _, err = execute([str(program("tutti-transfers")), *words], dict(os.environ), 30)
        assert code == 2 and "--cores" in err

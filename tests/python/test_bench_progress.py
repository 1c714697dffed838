"""The progress bar of `tutti bench`: one on a terminal, nothing elsewhere."""

from io import StringIO
from time import sleep

import pytest
from rich.console import Console
from tutti.bench import progress


@pytest.mark.parametrize("terminal", [True, False])
def test_one_bar_on_a_terminal_and_nothing_elsewhere(monkeypatch, terminal):
    stream = StringIO()
    monkeypatch.setattr(
        progress, "Console", lambda stderr: Console(file=stream, force_terminal=terminal, width=100)
    )

    def work(before_job):
        for line in ("first job", "second job"):
            before_job(line)
        return "done"

    assert progress.with_progress(2, "the machine", work) == "done"
    text = stream.getvalue()
    if not terminal:
        assert text == ""
        return
    assert "second job" in text and "1/2" in text
    assert text.count("\n") <= 1  # redrawn in place


def test_the_time_goes_on_within_a_job(monkeypatch):
    stream = StringIO()
    monkeypatch.setattr(
        progress, "Console", lambda stderr: Console(file=stream, force_terminal=True, width=80)
    )

    def work(before_job):
        before_job("one job")
        drawn = stream.getvalue().count("one job")
        while stream.getvalue().count("one job") < drawn + 2:
            sleep(0.01)

    progress.with_progress(1, "", work, ticks=20)


def test_a_long_line_leaves_room_for_the_counts(monkeypatch):
    stream = StringIO()
    monkeypatch.setattr(
        progress, "Console", lambda stderr: Console(file=stream, force_terminal=True, width=80)
    )
    line = "32x1, 2 nodes, 2 ranks, delay 1ms, Open MPI 5.0.11, Tutti, partitioned"
    progress.with_progress(92, "", lambda before_job: [before_job(line) for _ in range(12)])
    assert "11/92" in stream.getvalue() and "32x1, 2 nodes" in stream.getvalue()

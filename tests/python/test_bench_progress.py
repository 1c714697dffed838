"""The progress bar of `tutti bench`: one on a terminal, nothing elsewhere."""

from io import StringIO

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

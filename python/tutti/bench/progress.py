"""Shows one progress bar for all jobs on stderr; nothing if stderr is not a terminal."""

from collections.abc import Callable
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

Result = TypeVar("Result")


def with_progress(jobs: int, first: str, work: Callable[[Callable[[str], None]], Result]) -> Result:
    """Calls `work` with a function that takes a line before each job, and returns its result.

    The bar is redrawn only between jobs: a drawing thread would disturb the measurement.
    """
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    console = Console(stderr=True)
    with Progress(
        *columns,
        console=console,
        auto_refresh=False,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task(first, total=jobs)
        started = False

        def before_job(line: str) -> None:
            nonlocal started
            progress.update(task, advance=1 if started else 0, description=line)
            progress.refresh()
            started = True

        progress.refresh()
        return work(before_job)

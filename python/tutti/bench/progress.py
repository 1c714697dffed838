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


def with_progress(
    jobs: int | None, first: str, work: Callable[[Callable[..., None]], Result]
) -> Result:
    """Calls `work` with a function that takes a line before each job, and returns its result.

    `jobs` is their number, None if it is not known. The function also takes how many jobs have
    ended, and how many there are now; without that it counts. The bar is redrawn only between jobs:
    a drawing thread would disturb the measurement.
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
        begun = 0

        def before_job(line: str, ended: int | None = None, total: int | None = None) -> None:
            nonlocal begun
            ended = begun if ended is None else ended
            progress.update(task, completed=ended, total=total, description=line)
            progress.refresh()
            begun += 1

        progress.refresh()
        return work(before_job)

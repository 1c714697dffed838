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

from tutti.tables import unwrapped

Result = TypeVar("Result")
ONCE_IN_A_WHILE = 0.2  # a second
BAR = 20
BESIDE_LINE = 55  # columns that bar, counts and times take beside a job's line


def with_progress(
    jobs: int | None,
    first: str,
    work: Callable[[Callable[..., None]], Result],
    ticks: float = 0,
) -> Result:
    """Calls `work` with a function that takes a line before each job, and returns its result.

    `jobs` is their number, None if it is not known. The function also takes how many jobs have
    ended, and how many there are now; without that it counts. The bar is redrawn only between jobs,
    because a drawing thread would disturb a measurement. With `ticks` it is redrawn within a job,
    too, so many times a second: 1 where nothing is measured, ONCE_IN_A_WHILE where one long job
    measures.
    """
    columns = (
        BarColumn(BAR),
        MofNCompleteColumn(table_column=unwrapped()),
        TimeElapsedColumn(table_column=unwrapped()),
        TextColumn("left"),
        TimeRemainingColumn(table_column=unwrapped()),
        TextColumn("{task.description}"),
    )
    console = Console(stderr=True)

    def cut(line: str) -> str:
        """The counts before a line stay readable on a narrow terminal."""
        room = max(console.width - BESIDE_LINE, 10)
        return line if len(line) <= room else line[: room - 1] + "…"

    with Progress(
        *columns,
        console=console,
        auto_refresh=ticks > 0,
        refresh_per_second=ticks or 1,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task(cut(first), total=jobs)
        begun = 0

        def before_job(line: str, ended: int | None = None, total: int | None = None) -> None:
            nonlocal begun
            ended = begun if ended is None else ended
            progress.update(task, completed=ended, total=total, description=cut(line))
            progress.refresh()
            begun += 1

        progress.refresh()
        return work(before_job)


def one_job(line: str, measure: Callable[[], Result]) -> Result:
    """Measures by one long job, and shows that it goes on."""
    return with_progress(1, line, lambda _: measure(), ONCE_IN_A_WHILE)

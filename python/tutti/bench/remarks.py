"""Remarks in the tables about single cells, and the lines below the tables that explain them."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console

from tutti.bench.load import MOST_SHARE, marked
from tutti.bench.measurements import Measurements
from tutti.bench.results import Comparison, measured_ranks
from tutti.bench.states import states_of, states_text
from tutti.bench.variants import Variant

MODES = (
    "two modes (*): the times of the jobs cluster around two values; medians mean little there, "
    "so the table shows means and their ratio\nwide: the upper end of the interval is more than "
    "100 times its lower end; take more repetitions"
)


def loaded_repetitions(measurements: Measurements, ranks: int, variant: Variant) -> list[int]:
    return marked(measurements.loads.get((ranks, variant.key), []))


def loaded(measurements: Measurements, ranks: int, *variants: Variant) -> bool:
    return any(loaded_repetitions(measurements, ranks, variant) for variant in variants)


def remark(comparison: Comparison, under_load: bool, base_name: str = "host") -> str:
    """The text for the last column of a cell's row."""
    base, other = comparison.modes
    whose = [name for name, has in ((base_name, base), ("Tutti", other)) if has]
    words = ["[red]slower[/]"] if comparison.ratio.slower else []
    words += [f"[yellow]two modes ({', '.join(whose)})[/]"] if whose else []
    return ", ".join(words + (["[yellow]load[/]"] if under_load else []))


def _numbers(repetitions: list[int]) -> str:
    return ("repetition " if len(repetitions) == 1 else "repetitions ") + ", ".join(
        str(k + 1) for k in repetitions
    )


def load_text(measurements: Measurements) -> str:
    """One line that names all jobs disturbed by other processes; empty if there were none."""
    if (count := measurements.settings.load) > 0:
        return f"load: {count} busy process{'es' if count > 1 else ''} ran beside each job (--load)"
    runs, most, jobs = [], 0.0, 0
    for ranks in measurements.settings.ranks:
        for variant in measurements.settings.variants(ranks):
            if found := loaded_repetitions(measurements, ranks, variant):
                runs.append(f"{variant.label} with {ranks} ranks ({_numbers(found)})")
                jobs += len(found)
                shares = measurements.loads[ranks, variant.key]
                most = max(most, *(shares[k] or 0.0 for k in found))
    if not runs:
        return ""
    which = "every job" if jobs == sum(map(len, measurements.loads.values())) else "; ".join(runs)
    return (
        f"load: other processes used up to {100 * most:.0f}% of the ranks' cores during {which}; "
        "stop them and measure again"
    )


def load_json(measurements: Measurements) -> dict[str, Any]:
    return {
        "most_share": MOST_SHARE,
        "jobs": [
            {"ranks": ranks, "variant": key, "share_of_others": shares,
             "marked": [share is not None and share > MOST_SHARE for share in shares]}
            for (ranks, key), shares in measurements.loads.items()
        ],
    }  # fmt: skip


def show_lines(console: Console, lines: Iterable[str]) -> None:
    """The lines below tables; empty ones are left out."""
    for line in lines:
        if line:
            console.print(line, highlight=False, markup=False, soft_wrap=True)


def show_notes(
    measurements: Measurements, console: Console, first: list[str], compared: Iterable[Comparison]
) -> None:
    """The lines below the tables: those of the kind first, then what the machine did meanwhile."""
    states = states_of(measurements)
    show_lines(
        console,
        [
            *first,
            *(states_text(states, ranks) for ranks in measured_ranks(measurements)),
            load_text(measurements),
            f"seed {measurements.seed}",
            MODES if any(any(comparison.modes) for comparison in compared) else "",
        ],
    )

"""The table that a tuning writes, and the summary that it shows."""

import time
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from tutti import __version__
from tutti.bench.document import processor_name
from tutti.bench.statistics import Ratio
from tutti.bench.texts import size_text, time_text
from tutti.places import core
from tutti.tuning.candidates import segment_words, size_word
from tutti.tuning.jobs import TuneSettings
from tutti.tuning.keeping import BEFORE, WRITTEN, kept_rules
from tutti.tuning.picking import Pick, TunedRule


def ratio_words(ratio: Ratio) -> str:
    words = f"{ratio.value:.2f}x"
    return words if ratio.low is None else f"{words}, {ratio.low:.2f} to {ratio.high:.2f}"


def rule_text(rule: TunedRule) -> str:
    """As the map's grammar has it."""
    low, high = rule.ranks
    ranks = str(low) if low == high else f"{low}..{high}"
    words = [
        rule.collective,
        "ranks",
        ranks,
        "oversubscribed",
        "yes" if rule.oversubscribed else "no",
    ]
    if rule.collective != "barrier":  # which moves nothing that could be reached
        words += ["reached", "yes" if rule.reached else "no"]
    first, last = rule.sizes
    if first or last is not None:
        words += [
            "sizes",
            f"{size_word(first) if first else ''}..{size_word(last) if last is not None else ''}",
        ]
    return " ".join([*words, "->", f"builtin:{rule.label}"])


def _cell_comment(one: Pick, default: str) -> str:
    where = f"{one.cell.ranks} ranks" + (
        f", {size_word(one.cell.bytes)} bytes" if one.cell.bytes else ""
    )
    assert one.ratio is not None
    return f"# {where}: {default} {one.default_us:.2f} us, now {one.tuned_us:.2f} ({ratio_words(one.ratio)})"


def table_text(
    rules: list[TunedRule],
    settings: TuneSettings,
    repetitions: int,
    defaults: dict[Pick, str],
    existing: str = "",
) -> str:
    """The whole file. `defaults` says what the default has for a cell, `existing` is the table that was there.

    Rules for memory that all ranks reach come first, whichever of the two is new.
    """
    heap = ", shared heap" if settings.shared_heap else ""
    lines = [
        f"{WRITTEN}{__version__} on {time.strftime('%Y-%m-%d')}: {processor_name()}, {settings.cores} cores;",
        f"# {settings.mpi.label}{heap}, medians of {repetitions} repetitions. Use: tutti-run --table FILE, or TUTTI_TABLE=FILE.",
        "# Where no rule matches, Tutti's own choice stands; a rule is here because it was faster by more than the noise and",
        f"# a margin of {settings.margin:.0%}. In brackets: how many times faster, and the interval that holds it with",
        "# 95% confidence.",
    ]
    for rule in rules:
        lines.append("")
        lines += [_cell_comment(one, defaults[one]) for one in rule.picks]
        lines.append(rule_text(rule))
    written, kept = "\n".join(lines) + "\n", kept_rules(existing, settings)
    if not kept:
        return f"tutti-map 1\n{written}"
    return (
        f"tutti-map 1\n{written}\n{BEFORE}\n{kept}\n"
        if settings.shared_heap
        else f"tutti-map 1\n{kept}\n\n{written}"
    )


@dataclass(frozen=True)
class Served:
    """What the default has for a cell."""

    algorithm: str
    segment_bytes: int  # as its rule asks for; 0: the executor's

    @property
    def label(self) -> str:
        return self.algorithm + segment_words(self.segment_bytes)


def default_of(
    collective: str, size: int, ranks: int, oversubscribed: bool, reached: bool = False
) -> Served:
    """As the core chooses without table, plans and variables, which the caller has cleared."""
    found = core().explain(collective, size, ranks, 0, oversubscribed, [], reached=reached)
    return Served(found["runs"], found["wanted_segment_bytes"])


def show_summary(
    picks: list[Pick], defaults: dict[Pick, str], unconfirmed: int, console: Console
) -> None:
    """`unconfirmed`: cells whose candidate won the race, but not when it was measured again."""
    changed = [one for one in picks if one.label is not None]
    if changed:
        table = Table(title="What changed against the default (microseconds)")
        for column in (
            "collective",
            "ranks",
            "bytes",
            "default",
            "tuned",
            "default us",
            "tuned us",
            "speed-up (95%)",
        ):
            table.add_column(
                column, justify="left" if column in ("collective", "default", "tuned") else "right"
            )
        for one in changed:
            assert one.ratio is not None and one.label is not None
            table.add_row(
                one.cell.collective, str(one.cell.ranks), size_text(one.cell.bytes) if one.cell.bytes else "",
                defaults[one], one.label, time_text(one.default_us), time_text(one.tuned_us), ratio_words(one.ratio),
            )  # fmt: skip
        console.print(table)
    more = (
        f", {unconfirmed} of them because a candidate's lead was not confirmed"
        if unconfirmed
        else ""
    )
    console.print(
        f"{len(changed)} of {len(picks)} measured cells change; the others keep Tutti's choice{more}.",
        highlight=False,
    )

"""Measures Tutti's algorithms in MPI jobs, for scripts/many_cores.sh.

    python3 candidate_rows.py FILE.csv SECONDS RANKS...

For each number of ranks, with private memory and with the shared heap, one job measures all
candidates of all collectives in a shuffled order; such jobs are repeated for about SECONDS. A
candidate is what a rule of a table may say: an algorithm, long ones also in segments, and, where
readers take whole parts from others, also by the system's copies (reach cma). A row of FILE has
the median of a job's calls in microseconds, of the slowest rank. The rule `default` is Tutti's own
choice, and the variant `host` the MPI without Tutti.
"""

import csv
import itertools
import sys
import tempfile
import time
from pathlib import Path

from tutti.bench import driver
from tutti.bench.mpis import Mpi, find_mpis
from tutti.bench.variants import Variant
from tutti.choose.candidates import algorithms_for, bench_name
from tutti.errors import RunError
from tutti.model.algorithms import table_of
from tutti.tuning.measuring import chosen_by

COLLECTIVES = ("barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather",
               "alltoall", "reduce_scatter", "scan")  # fmt: skip
SIZES = (64, 512, 2 << 10, 8 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20)
SEGMENTS = ("24K", "64K")
SEGMENTED = {"bcast": ("flat", "binary", "nary:4"), "reduce": ("binary", "binomial", "tiled"),
             "allreduce": ("tiled", "binary", "levels:binomial:one_stage"),
             "scatter": ("flat",), "alltoall": ("flat",)}  # fmt: skip
COPIED = {"bcast": ("flat", "nary:4", "binary"), "gather": ("flat",), "scatter": ("flat",),
          "allgather": ("flat",), "alltoall": ("flat", "direct:2"),
          "reduce_scatter": ("flat", "halving"), "reduce": ("binary", "tiled"),
          "allreduce": ("tiled", "halving")}  # fmt: skip
CELL_MS = 5
# Ranks ask for the permission to copy by the system only if a rule at the start of MPI may need it.
ASKS_FOR_COPIES = "tutti-map 1\nbcast ranks 4096.. -> builtin:flat reach cma\n"
COLUMNS = ("variant", "ranks", "collective", "rule", "bytes", "repetition", "median_us")


def rules_for(ranks: int, collective: str, heap: bool) -> list[str]:
    """The words of rules behind `builtin:`; `default` comes first."""
    known = algorithms_for(ranks, collective)
    rules = ["default", *known]
    rules += [f"{one} segment {size}" for one in SEGMENTED.get(collective, ()) if one in known
              for size in SEGMENTS]  # fmt: skip
    if not heap:
        rules += [f"{one} reach cma" for one in COPIED.get(collective, ()) if one in known]
    return rules


def trials_for(ranks: int, heap: bool) -> list[dict[str, str]]:
    """A rule for each collective: the k-th trial has the k-th one of every collective."""
    rules = {name: rules_for(ranks, name, heap) for name in COLLECTIVES}
    return [
        {name: list_[k] for name, list_ in rules.items() if k < len(list_)}
        for k in range(max(map(len, rules.values())))
    ]


def text_of(trials: list[dict[str, str]]) -> str:
    """The file of `tutti-bench --trials`; where the rule is `default`, the table has none."""
    return "".join(
        f"trial {','.join(map(bench_name, trial))}\n"
        + table_of({name: rule for name, rule in trial.items() if rule != "default"})
        for trial in trials
    )


def run(
    mpi: Mpi, ranks: int, heap: bool, repetition: int, directory: Path
) -> list[dict[str, object]]:
    """The rows of one job with Tutti, and of one without."""
    trials = trials_for(ranks, heap)
    file, table = directory / "trials", directory / "table"
    file.write_text(text_of(trials))
    table.write_text(ASKS_FOR_COPIES)
    ours = {bench_name(name): name for name in COLLECTIVES}
    rows: list[dict[str, object]] = []
    for tutti in (True, False):
        if not tutti and heap:
            continue
        variant = Variant(mpi, "default", tutti, heap)
        with chosen_by(table):
            measured = driver.cells_of_one_job(
                variant, ranks, ranks, list(ours), SIZES, directory, budget_ms=CELL_MS,
                order_seed=repetition + 1, trials=(str(file), len(trials)) if tutti else ("", 0),
            )  # fmt: skip
        for one in measured:
            name = ours[one["collective"]]
            rule = trials[one["trial"] - 1][name] if tutti else "host"
            row = (variant.key, ranks, name, rule, one["bytes"], repetition, one["median_us"])
            rows.append(dict(zip(COLUMNS, row, strict=True)))
    return rows


def main() -> int:
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    file, seconds, counts = (
        Path(sys.argv[1]),
        float(sys.argv[2]),
        [int(one) for one in sys.argv[3:]],
    )
    mpis = {mpi.name: mpi for mpi in find_mpis()}
    cells = list(itertools.product(counts, (False, True)))
    end = time.monotonic() + seconds
    with file.open("w", newline="") as out, tempfile.TemporaryDirectory() as directory:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for repetition in itertools.count():
            for ranks, heap in cells:
                if time.monotonic() > end:
                    return 0
                mpi = mpis["openmpi" if repetition % 3 == 2 and not heap else "mpich"]
                try:
                    writer.writerows(run(mpi, ranks, heap, repetition, Path(directory)))
                except RunError as error:
                    print(f"candidate_rows: {error}", file=sys.stderr)
                out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())

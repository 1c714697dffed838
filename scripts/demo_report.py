"""Reports the results of the demonstration. Needs only Python 3.10 or newer.

Usage: demo_report.py solver|closing DIRECTORY

DIRECTORY has the files cg-MPI-RANKS-WAY.REPETITION.txt, the output of the solver (lines "name:
value"), and bench.json, the measurements of `tutti bench`. `solver` prints the table of the
solver's runs, and fails if their answers differ. `closing` summarizes in a few lines the gains,
and the cells without a gain; those of the solver alone if the benchmark has measured nothing.
"""

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

# The name of each way of starting the solver, and the way that it is compared with.
WAYS = {
    "alone": ("alone", ""),
    "tutti": ("with Tutti", "alone"),
    "yielding": ("alone, yielding", ""),
    "yielding-tutti": ("with Tutti, yielding", "yielding"),
}
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI"}
# A ratio is known too badly to be shown if its interval's upper end is so many times its lower end.
WIDEST = 4.0
# The part of the time that may change by chance, so that collectives need not explain it.
CHANCE = 0.1
POLLING = (
    "* more ranks than cores: alone, MPICH's ranks poll and never yield, so they wait",
    "  for the scheduler's ticks. The rows with `yielding` are the fair comparison",
)
Runs = dict[tuple[str, int, str], list[dict[str, float]]]


def read_runs(directory: Path) -> Runs:
    runs: Runs = {}
    for file in sorted(directory.glob("cg-*.txt")):
        _, mpi, ranks, way = file.name.split(".")[0].split("-", 3)
        pairs = (
            line.split(":", 1)
            for line in file.read_text(encoding="utf-8").splitlines()
            if ": " in line
        )
        values = {name: value.strip() for name, value in pairs}
        wanted = ("iterations", "norm", "checksum", "seconds", "allreduce_seconds")
        try:
            run = {name: float(values[name]) for name in wanted}
        except (KeyError, ValueError) as error:
            sys.exit(f"{file}: the line {error} is missing; look there for the solver's error")
        runs.setdefault((mpi, int(ranks), way), []).append(run)
    return runs


def differing(runs: Runs) -> str:
    """The name of an answer that differs between runs, or "".

    With another MPI or rank count a reduction may add in another order, so the last digits and the
    last iteration may differ, but nothing more.
    """
    every = [run for group in runs.values() for run in group]
    first = every[0]
    for name, tolerance in (
        ("iterations", 1),
        ("norm", 1e-9 * abs(first["norm"])),
        ("checksum", 1e-9 * abs(first["checksum"])),
    ):
        if any(abs(run[name] - first[name]) > tolerance for run in every):
            return name
    return ""


def median_of(group: list[dict[str, float]], name: str) -> float:
    return median(run[name] for run in group)


def solver_table(runs: Runs) -> list[str]:
    # At most 80 columns.
    lines = [
        f"{'MPI':7} ranks  {'':20} {'iterations':>10} {'solved, ms':>10} {'allreduce':>10} speed-up"
    ]
    for (mpi, ranks, way), group in sorted(
        runs.items(), key=lambda entry: (entry[0][:2], list(WAYS).index(entry[0][2]))
    ):
        label, base = WAYS[way]
        seconds = median_of(group, "seconds")
        gain = f"{median_of(runs[mpi, ranks, base], 'seconds') / seconds:.2f}x" if base else ""
        if base and base not in (fair_base(runs, mpi, ranks), "yielding"):
            gain += "*"
        lines.append(
            f"{mpi:7} {ranks:5}  {label:20} {median_of(group, 'iterations'):10.0f} "
            f"{1000 * seconds:10.2f} {1000 * median_of(group, 'allreduce_seconds'):10.2f} "
            f"{gain:>8}".rstrip()
        )
    first = next(iter(runs.values()))[0]
    lines.append(f"every run: norm {first['norm']:.10f}, checksum {first['checksum']:.8f}")
    if any(line.endswith("x*") for line in lines):
        lines += POLLING
    return lines


def fair_base(runs: Runs, mpi: str, ranks: int) -> str:
    """The way without Tutti to compare with.

    With more ranks than cores this is the yielding one if it was run: an MPI that polls becomes a
    thousand times faster by yielding alone.
    """
    return "yielding" if (mpi, ranks, "yielding") in runs else "alone"


def solver_lines(runs: Runs) -> list[str]:
    """A line for each rank count: the gain, and the share of the time in collectives."""
    lines = []
    for ranks in sorted({ranks for _, ranks, _ in runs}):
        words = []
        for mpi in sorted({mpi for mpi, other, _ in runs if other == ranks}):
            base = fair_base(runs, mpi, ranks)
            alone, tutti = (
                runs[mpi, ranks, base],
                runs[mpi, ranks, "tutti" if base == "alone" else "yielding-tutti"],
            )
            before, after = median_of(alone, "seconds"), median_of(tutti, "seconds")
            share = median_of(alone, "allreduce_seconds") / before
            name = NAMES.get(mpi, mpi)
            if (before - after) / before > share + CHANCE:
                words.append(
                    f"{name} no conclusion: {before / after:.2f}x is more than the {share:.0%} of "
                    "its time in allreduce explain"
                )
            else:
                words.append(f"{name} {before / after:.2f}x (of its time {share:.0%} in allreduce)")
        lines.append(f"   solver, {ranks} ranks: {', '.join(words)}")
    return lines


def own_hosts(bench: dict[str, Any]) -> list[dict[str, Any]]:
    """Geometric means of Tutti over the MPI that it runs on, for each MPI and rank count.

    The MPI runs with its best measured setting.
    """
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    for row in bench["geometric_means"]:
        if row["other"] != row["base"] + "+tutti":
            continue
        key = row["ranks"], row["base"].split("@")[0]
        if key not in rows or ("@best" in row["base"] and "@best" not in rows[key]["base"]):
            rows[key] = row
    return [rows[key] for key in sorted(rows)]


def interval(ratio: dict[str, Any]) -> str:
    low, high = ratio.get("low"), ratio.get("high")
    if low is not None and high > WIDEST * low:
        return "no conclusion: other load, or too few repetitions"
    ends = f" ({low:.2f} to {high:.2f})" if low is not None else ""
    return f"{ratio['value']:.2f}x{ends}"


def size(count: int) -> str:
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor and count % factor == 0:
            return f"{count // factor} {unit}"
    return f"{count} B"


def bench_lines(bench: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The gains, a line for each rank count, and the cells that are slower."""
    rows = own_hosts(bench)
    gained = []
    for ranks in sorted({row["ranks"] for row in rows}):
        words = [
            f"{bench['variants'][row['base']]['label']} "
            f"{interval(row['up_to_64_KiB'] or row['all_cells'])}"
            for row in rows
            if row["ranks"] == ranks
        ]
        gained.append(f"   collectives up to 64 KiB, {ranks} ranks: {', '.join(words)}")
    pairs = {(row["ranks"], row["base"], row["other"]) for row in rows}
    cells = [
        cell
        for cell in bench["comparisons"]
        if (cell["ranks"], cell["base"], cell["other"]) in pairs
    ]
    slower = sorted(
        (cell for cell in cells if cell["slower"]),
        key=lambda cell: cell["ratio_of_medians"]["value"],
    )
    if not slower:
        return gained, [
            f"   none of the {len(cells)} cells measured (collective, size, ranks, MPI) is "
            "clearly slower with Tutti"
        ]
    worst = [
        f"{cell['collective']}{' ' + size(cell['bytes']) if cell['bytes'] else ''}, "
        f"{cell['ranks']} ranks, {bench['variants'][cell['base']]['label']}: "
        f"{cell['ratio_of_medians']['value']:.2f}x"
        for cell in slower[:2]
    ]
    return gained, [
        f"   clearly slower with Tutti: {len(slower)} of {len(cells)} cells (collective, size, "
        "ranks, MPI); worst:",
        *(f"     {line}" for line in worst),
    ]


def next_lines() -> list[str]:
    """Commands as a shell finds them from here."""
    if Path(".venv/bin/tutti-run").exists():
        return ["== next: .mpi/mpich/bin/mpiexec -n 4 .venv/bin/tutti-run PROGRAM"]
    return [
        "== next: .mpi/mpich/bin/mpiexec -n 4 build/bin/tutti-run PROGRAM",
        "   `make` installs the command `tutti` into .venv",
    ]


def closing(runs: Runs, bench: dict[str, Any] | None, directory: Path) -> list[str]:
    lines = ["== gains: time without Tutti over time with it", *solver_lines(runs)]
    files = "the output of each run of the solver"
    if bench is not None:
        machine = bench["machine"]
        gained, lost = bench_lines(bench)
        lines[0] += f", on {machine['cores']} cores ({machine['processor']})"
        lines += [*gained, "== no gains", *lost]
        files = f"bench.txt (tables), bench.json, bench.png, bench.svg, and {files}"
    return [
        *lines,
        "   Tutti makes collectives faster and nothing else. The host MPI still executes messages,",
        "   one-sided communication and file access",
        *next_lines(),
        f"   {directory}/ has all numbers: {files}",
    ]


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] not in ("solver", "closing"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    directory = Path(sys.argv[2])
    runs = read_runs(directory)
    if not runs:
        sys.exit(f"{directory}: there is no run of the solver; run make demo")
    if sys.argv[1] == "closing":
        file = directory / "bench.json"
        bench = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
        print("\n".join(closing(runs, bench, directory)))
        return
    print("\n".join(solver_table(runs)))
    if what := differing(runs):
        sys.exit(f"the answers differ ({what}); see {directory}/cg-*.txt")


if __name__ == "__main__":
    main()

"""The gain of combining in the order of arrival, by prediction: on a machine with a core for each rank.

    .venv/bin/python examples/paths/arrival_predicted.py --ranks 4,8,12 --late 20,500 --counts 1,4096,32768

Three stars of all ranks make an allreduce: the root combines all vectors in one pass when all are there; child by child
in a fixed sequence, as LAM-MPI does; or in the order of arrival, as PATHS does. In each draw one rank, any but the root, makes
the call up to --late microseconds after the others. Shown is the mean time from that rank's call until the last rank returns, on
the machine's model (docs/model.md), and how much longer the others take than by arrival.
"""

import argparse
import json
import random
from pathlib import Path
from statistics import fmean

from experiment import STARS, numbers
from tutti.bench.texts import size_text
from tutti.plan import Machine
from tutti.predict.machines import read_model
from tutti.predict.prediction import Where, predict, shared_levels


def predicted(options: argparse.Namespace, ranks: int, late: int, size: int) -> dict[str, float]:
    """Mean microseconds by star."""
    model = read_model(options.machine)
    levels = shared_levels(Machine.parse(json.loads(model.text)["shape"]).place(ranks).levels())
    draw = random.Random(1)
    draws = [(draw.randrange(1, ranks), draw.uniform(0, late)) for _ in range(options.draws)]
    times: dict[str, list[float]] = {name: [] for name in STARS}
    for name, star in STARS.items():
        plan = star.build(ranks=ranks)
        for who, when in draws:
            arrivals = [1000 * when if rank == who else 0.0 for rank in range(ranks)]
            where = Where(ranks, levels, [], "slots", 1 << 26, arrivals)
            times[name].append(predict(model, plan, name, size, where).microseconds - when)
    return {name: fmean(found) for name, found in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--machine", type=Path, default=Path("hmpi-xeon"), help="a file or a name")
    parser.add_argument("--ranks", type=numbers, default=[4, 8, 12])
    parser.add_argument("--late", type=numbers, default=[20, 500], help="microseconds at most")
    parser.add_argument("--counts", type=numbers, default=[1, 4096, 32768], help="doubles")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--json", action="store_true", help="write JSON instead of a table")
    options = parser.parse_args()
    rows = [
        {"ranks": ranks, "late_us": late, "bytes": 8 * count}
        | {"us": predicted(options, ranks, late, 8 * count)}
        for ranks in options.ranks
        for late in options.late
        for count in options.counts
    ]
    if options.json:
        print(json.dumps({"format": "tutti-arrival 1", "rows": rows}, indent=1))
        return
    print(f"| ranks | late, us | bytes | {' | '.join(f'{name}, us' for name in STARS)} |")
    print("| --- " * (3 + len(STARS)) + "|")
    for row in rows:
        best = row["us"]["by arrival"]
        cells = [
            f"{time:.2f}" + ("" if name == "by arrival" else f" ({time / best:.2f}x)")
            for name, time in row["us"].items()
        ]
        print(
            f"| {row['ranks']} | {row['late_us']} | {size_text(row['bytes'])} | {' | '.join(cells)} |"
        )


if __name__ == "__main__":
    main()

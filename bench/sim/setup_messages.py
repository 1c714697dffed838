"""Counts the messages that a rank sends while Tutti sets up, in SimGrid's SMPI, for several world
sizes.

    .venv/bin/python bench/sim/setup_messages.py --nodes 8,32,128,512 --cores 8 --json setup.json

`MPI_Init` counts all messages that Tutti sends there. `set-up` counts the messages of a
communicator's first collective minus those of the next collective of the same kind. Both exclude
the messages of the host MPI's MPI_Comm_split, which are shown separately: SMPI's goes through the
first rank, unlike other MPIs', which is an allgather of two numbers. Messages of SMPI's own
collectives count for the rank that sends them; these are the algorithms of `tutti sim`
(python/tutti/simulation/jobs.py), with log2 of the ranks messages.

Simulated ranks share no memory, as in `tutti sim`. On real nodes, the set-up of a node's memory
adds messages among the ranks of one node.
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tutti.bench.driver import execute
from tutti.bench.words import whole_numbers
from tutti.errors import RunError, UserError
from tutti.rows import read_rows
from tutti.simulation.jobs import PACKAGE, PLAIN, SETTINGS, smpirun_words
from tutti.simulation.machines import MOST_RANKS, OWN, Machine, checked
from tutti.simulation.platform import hostfile, platform
from tutti.simulation.variants import ALLOCATOR, SIMULATED
from tutti.tables import new_console, number, table_of

PROGRAM = Path(__file__).resolve().parents[2] / "build" / "lib" / "tutti-sim-setup.so"
DEALS = ("block", "round_robin")
# In the order of the columns; the last is the host's MPI_Comm_split, in both.
PHASES = {"init": "MPI_Init", "set_up": "set-up", "splits": "the host's splits"}
Row = dict[str, int | str]


def row_of(machine: Machine, deal: str, said: dict[str, list[int]]) -> Row:
    """For each phase the largest number of messages of a rank, and that of all ranks together."""

    def combined(signs: dict[str, int]) -> list[int]:
        ranks = range(len(said["init"]))
        return [sum(sign * said[name][rank] for name, sign in signs.items()) for rank in ranks]

    sent = {
        "init": combined({"init": 1, "board": -1, "init_splits": -1}),
        "set_up": combined({"first": 1, "second": -1, "first_split": -1}),
        "splits": combined({"init_splits": 1, "first_split": 1}),
    }
    row: Row = {"ranks": machine.ranks, "nodes": machine.nodes, "cores": machine.cores}
    row["deal"] = deal
    for phase, by_rank in sent.items():
        row |= {f"{phase}_most": max(by_rank), f"{phase}_all": sum(by_rank)}
    return row


def count(machine: Machine, deal: str, seconds: float) -> Row:
    if not PROGRAM.is_file():
        raise UserError(
            f"{PROGRAM} is missing: Tutti was not built here, or without SimGrid; install "
            f"{PACKAGE} and build (make)"
        )
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name != "LD_PRELOAD" and not name.startswith("TUTTI_")
    }
    # MPI_COMM_WORLD sets up after a call, and not inside MPI_Init, so that both can be counted.
    environment = inherited | ALLOCATOR | SIMULATED | {"TUTTI_SETUP_AFTER": "1"}
    with tempfile.TemporaryDirectory(prefix="tutti-setup-") as name:
        directory = Path(name)
        (directory / "platform.xml").write_text(platform(machine))
        (directory / "hosts").write_text(hostfile(machine, machine.ranks, deal))
        words = [*smpirun_words(machine.ranks, directory, (*SETTINGS, *PLAIN)), str(PROGRAM)]
        try:
            code, out, err = execute(words, environment, seconds)
        except RunError as error:
            raise RunError(f"{machine.ranks} ranks: {error}; give more --seconds") from None
    rows = read_rows(out.splitlines())
    if code != 0 or not rows:
        said_last = (err.splitlines() or ["it said nothing"])[-1]
        raise RunError(f"{machine.ranks} ranks: exit code {code}: {said_last}")
    said: dict[str, list[int]] = {}
    for row in rows:
        said.setdefault(row["call"], []).append(row["sent"])
    return row_of(machine, deal, said)


def machines(options: argparse.Namespace) -> list[Machine]:
    cores = whole_numbers("--cores", options.cores, 1, MOST_RANKS, "a number of cores")
    if len(cores) != 1:
        raise UserError(f"--cores: '{options.cores}' is not accepted; give one number")
    nodes = whole_numbers("--nodes", options.nodes, 2, MOST_RANKS, "a number of nodes")
    return [checked(replace(OWN, nodes=one, cores=cores[0])) for one in nodes]


def show(rows: list[Row]) -> None:
    columns = [number(name, lambda row, name=name: str(row[name])) for name in ("ranks", "nodes")]
    for phase, head in PHASES.items():
        columns += [
            number(f"{head}: most", lambda row, phase=phase: str(row[f"{phase}_most"])),
            number("a rank", lambda row, phase=phase: f"{row[f'{phase}_all'] / row['ranks']:.1f}"),
        ]
    new_console(120).print(table_of("messages of a rank while Tutti sets up", columns, rows))


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Counts the messages that a rank sends while Tutti sets up, in simulations."
    )
    parser.add_argument(
        "--nodes",
        default="8,32,128,512",
        help="numbers of nodes, separated by commas [8,32,128,512]",
    )
    parser.add_argument("--cores", default="8", help="ranks on each node [8]")
    parser.add_argument(
        "--deal", default="block", choices=DEALS, help="how ranks are placed on nodes"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=600,
        help="stop a simulation that takes more seconds than this [600]",
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers here too")
    options = parser.parse_args()
    try:
        rows = [count(machine, options.deal, options.seconds) for machine in machines(options)]
        show(rows)
        if options.json:
            document = {"format": "tutti-setup-messages 1", "rows": rows}
            Path(options.json).write_text(json.dumps(document, indent=1) + "\n")
    except (UserError, RunError, OSError) as error:
        print(f"setup_messages.py: {error}", file=sys.stderr)
        return 2 if isinstance(error, UserError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

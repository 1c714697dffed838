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
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tutti.errors import RunError, UserError
from tutti.rows import read_rows
from tutti.simulation.jobs import PACKAGE, PLAIN, SETTINGS, smpirun
from tutti.simulation.machines import OWN, Machine
from tutti.simulation.platform import hostfile, platform
from tutti.simulation.variants import ALLOCATOR, SIMULATED

PROGRAM = Path(__file__).resolve().parents[2] / "build" / "lib" / "tutti-sim-setup.so"
DEALS = ("block", "round_robin")
MOST_RANKS = 16384


@dataclass(frozen=True)
class Counted:
    """The largest number of messages of a rank, and the number of all ranks together."""

    most: int
    all: int


@dataclass(frozen=True)
class Row:
    nodes: int
    cores: int
    deal: str
    init: Counted
    set_up: Counted
    splits: Counted  # the host's MPI_Comm_split, in both


def counted(by_rank: list[int]) -> Counted:
    return Counted(max(by_rank), sum(by_rank))


def row_of(nodes: int, cores: int, deal: str, said: dict[str, list[int]]) -> Row:
    def rest(phase: str, *others: str) -> list[int]:
        return [
            sent - sum(said[other][rank] for other in others)
            for rank, sent in enumerate(said[phase])
        ]

    splits = [
        one + other for one, other in zip(said["init_splits"], said["first_split"], strict=True)
    ]
    return Row(
        nodes,
        cores,
        deal,
        counted(rest("init", "board", "init_splits")),
        counted(rest("first", "second", "first_split")),
        counted(splits),
    )


def count(machine: Machine, deal: str, seconds: float) -> Row:
    if not PROGRAM.is_file():
        raise UserError(
            f"{PROGRAM} is missing: Tutti was not built here, or without SimGrid; install "
            f"{PACKAGE} and build (make)"
        )
    with tempfile.TemporaryDirectory(prefix="tutti-setup-") as name:
        (Path(name) / "platform.xml").write_text(platform(machine))
        (Path(name) / "hosts").write_text(hostfile(machine, machine.ranks, deal))
        words = [
            smpirun(),
            "-quiet",
            "-np",
            str(machine.ranks),
            "-platform",
            f"{name}/platform.xml",
            "-hostfile",
            f"{name}/hosts",
            *(f"--cfg={option}" for option in (*SETTINGS, *PLAIN)),
            "--log=root.thres:warning",
            str(PROGRAM),
        ]
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name != "LD_PRELOAD" and not name.startswith("TUTTI_")
        }
        # MPI_COMM_WORLD sets up after a call, and not inside MPI_Init, so that both can be counted.
        environment = inherited | ALLOCATOR | SIMULATED | {"TUTTI_SETUP_AFTER": "1"}
        try:
            done = subprocess.run(
                words, env=environment, capture_output=True, text=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            raise RunError(
                f"{machine.ranks} ranks: the simulation did not end within {seconds:.0f} s; give "
                "more --seconds"
            ) from None
    rows = read_rows(done.stdout.splitlines())
    if done.returncode != 0 or not rows:
        raise RunError(
            f"{machine.ranks} ranks: exit code {done.returncode}: "
            f"{(done.stderr.splitlines() or ['it said nothing'])[-1]}"
        )
    said: dict[str, list[int]] = {}
    for row in rows:
        said.setdefault(row["call"], []).append(row["sent"])
    return row_of(machine.nodes, machine.cores, deal, said)


def numbers(text: str, option: str, least: int) -> list[int]:
    words = text.split(",")
    for word in words:
        if not word.isdigit() or not least <= int(word) <= MOST_RANKS:
            raise UserError(f"{option}: '{word}' is not a number from {least} to {MOST_RANKS}")
    return [int(word) for word in words]


def machines(options: argparse.Namespace) -> list[Machine]:
    cores = numbers(options.cores, "--cores", 1)
    if len(cores) != 1:
        raise UserError(f"--cores: '{options.cores}' is not accepted; give one number")
    found = [
        replace(OWN, nodes=nodes, cores=cores[0]) for nodes in numbers(options.nodes, "--nodes", 2)
    ]
    for machine in found:
        if machine.ranks > MOST_RANKS:
            raise UserError(
                f"--nodes: {machine.nodes} nodes of {machine.cores} are more than {MOST_RANKS} "
                "ranks; give fewer"
            )
    return found


def as_json(row: Row) -> dict[str, Any]:
    pairs = {
        f"{name}_{which}": getattr(getattr(row, name), which)
        for name in ("init", "set_up", "splits")
        for which in ("most", "all")
    }
    return {
        "ranks": row.nodes * row.cores,
        "nodes": row.nodes,
        "cores": row.cores,
        "deal": row.deal,
    } | pairs


def show(row: Row) -> None:
    ranks = row.nodes * row.cores
    print(
        f"{ranks:6} {row.nodes:6} {row.init.most:9} {row.init.all / ranks:10.1f} "
        f"{row.set_up.most:9} {row.set_up.all / ranks:10.1f} {row.splits.most:9} "
        f"{row.splits.all / ranks:10.1f}",
        flush=True,
    )


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
    rows = []
    try:
        found, splits = machines(options), "the host's splits"
        print(f"{'':13}{'MPI_Init':>20} {'set-up':>20} {splits:>20}")
        print(
            f"{'ranks':>6} {'nodes':>6} "
            + " ".join(f"{'most':>9} {'a rank':>10}" for _ in range(3)),
            flush=True,
        )
        for machine in found:
            rows.append(count(machine, options.deal, options.seconds))
            show(rows[-1])
        if options.json:
            document = {"format": "tutti-setup-messages 1", "rows": [as_json(row) for row in rows]}
            Path(options.json).write_text(json.dumps(document, indent=1) + "\n")
    except UserError as error:
        print(f"setup_messages.py: {error}", file=sys.stderr)
        return 2
    except (RunError, OSError) as error:
        print(f"setup_messages.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

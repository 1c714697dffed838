"""The parts of `tutti bench` that measure Tutti's native interface, between threads of one process
and for one-sided transfers between processes and nodes: --one-sided, --alltoall, --saturation and
--array.
"""

import json
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.between_nodes import NODES, Between
from tutti.bench.hosts import Hosts
from tutti.bench.mpis import Mpi
from tutti.bench.nodes_command import MOST_NODES, parse_delays
from tutti.bench.progress import with_progress
from tutti.bench.words import parse_ranks, parse_sizes
from tutti.errors import UserError

# The options of `tutti bench` that a measurement understands, beside those of all.
UNDERSTOOD = {
    "--one-sided": {"--repetitions", "--mpi"},
    "--alltoall": {"--repetitions", "--ranks", "--sizes"},
    "--saturation": {"--plot"},
    "--array": {"--repetitions"},
}
# The same with --hosts.
UNDERSTOOD_BETWEEN_NODES = {
    "--one-sided": {"--hosts", "--repetitions", "--mpi", "--sizes"},
    "--saturation": {"--hosts", "--mpi", "--plot"},
}
# For each combination, with --hosts; and with --quick, too.
MILLISECONDS_BETWEEN = {"--one-sided": (40, 20), "--saturation": (10, 2)}


def choose_mode(modes: list[str], given: list[str]) -> str:
    """The measurement that is wanted. `modes`: the options that name one; `given`: further options
    of the command. Raises UserError if they do not go together."""
    if modes == ["--alltoall"]:
        raise UserError("--alltoall: it is a measurement of --one-sided; give that, too")
    if modes[:2] == ["--one-sided", "--alltoall"]:
        del modes[0]
    mode, *others = modes
    understood = UNDERSTOOD[mode]
    if "--hosts" in given and mode in UNDERSTOOD_BETWEEN_NODES:
        understood = UNDERSTOOD_BETWEEN_NODES[mode]
    for option in (*others, *given):
        if option not in understood:
            raise UserError(
                f"{option}: it cannot be combined with {mode}, which measures no collectives of an "
                "MPI; leave one of them out"
            )
    return mode


def write_document(document: object, json_file: Path | None, console: Console) -> None:
    if json_file is not None:
        json_file.write_text(json.dumps(document, indent=1) + "\n")
        console.print(f"wrote {json_file}", highlight=False)


def bench_array(repetitions: int, json_file: Path | None, console: Console) -> None:
    from tutti.bench import shared_array

    document = shared_array.measure(repetitions)
    shared_array.show(document, console)
    write_document(document, json_file, console)


def bench_one_sided(
    mpis: list[Mpi], repetitions: int, json_file: Path | None, console: Console
) -> None:
    from tutti.bench import one_sided

    document = with_progress(
        1 + len(mpis),
        "threads",
        lambda before_job: one_sided.measure(repetitions, mpis, before_job),
    )
    one_sided.show(document, console)
    write_document(document, json_file, console)


def between_plan(
    mpis: list[Mpi], hosts: str, nodes: str | None, per_node: int, delays: str, milliseconds: int
) -> Between:
    """Reads the measurement from the options. Raises UserError before anything runs."""
    if nodes not in (None, str(NODES)):
        raise UserError(
            f"--nodes: '{nodes}' is not accepted; transfers are between {NODES} nodes, so leave it "
            "out"
        )
    if not 1 <= per_node <= MOST_NODES:
        raise UserError(
            f"--per-node: {per_node} is not accepted; whole numbers from 1 to {MOST_NODES} are"
        )
    Hosts(Path(hosts), NODES)  # raises if a script is missing
    return Between(mpis, Path(hosts), per_node, parse_delays(delays), milliseconds)


def bench_one_sided_between(
    plan: Between,
    sizes: list[int],
    repetitions: int,
    seed: int | None,
    json_file: Path | None,
    console: Console,
) -> None:
    from tutti.bench import one_sided_nodes

    measured = with_progress(
        one_sided_nodes.jobs(plan, repetitions),
        "the nodes",
        lambda before_job: one_sided_nodes.measure(plan, sizes, repetitions, seed, before_job),
    )
    one_sided_nodes.show(plan, measured, console)
    write_document(one_sided_nodes.document(plan, measured), json_file, console)


def bench_alltoall(
    ranks: str | None,
    sizes: str | None,
    repetitions: int,
    json_file: Path | None,
    console: Console,
) -> None:
    from tutti.bench import alltoall

    counts = parse_ranks(ranks) if ranks is not None else [alltoall.RANKS]
    if len(counts) != 1:
        raise UserError(f"--ranks: '{ranks}' is not accepted; with --alltoall one number is")
    lengths = parse_sizes(sizes) if sizes is not None else alltoall.SIZES
    document = alltoall.measure(counts[0], lengths, repetitions)
    alltoall.show(document, console)
    write_document(document, json_file, console)


def _write_map(
    document: dict[str, Any], json_file: Path | None, stem: Path | None, console: Console
) -> None:
    from tutti.saturation import draw_map

    write_document(document, json_file, console)
    for name in draw_map(document, stem) if stem is not None else []:
        console.print(f"wrote {name}", highlight=False)


def bench_saturation(
    milliseconds: int, json_file: Path | None, stem: Path | None, console: Console
) -> None:
    from tutti.bench import saturation

    document = saturation.measure(milliseconds)
    saturation.show(document, console)
    _write_map(document, json_file, stem, console)


def bench_saturation_between(
    plan: Between, json_file: Path | None, stem: Path | None, console: Console
) -> None:
    from tutti.bench import saturation_nodes

    if len(plan.delays) > 1:
        raise UserError("--delay: a saturation map is of one delay; give one")
    if len(plan.mpis) > 1:
        names = ", ".join(mpi.name for mpi in plan.mpis)
        raise UserError(f"--mpi: a saturation map is of one host MPI; give one of {names}")
    document = saturation_nodes.measure(plan)
    saturation_nodes.show(document, console)
    _write_map(document, json_file, stem, console)

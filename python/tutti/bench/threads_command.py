"""The parts of `tutti bench` that measure Tutti's native interface, between threads of one process
and for one-sided transfers between processes: --one-sided, --alltoall, --saturation and --array.
"""

import json
from pathlib import Path

from rich.console import Console

from tutti.bench.mpis import Mpi
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


def choose_mode(modes: list[str], given: list[str]) -> str:
    """The measurement that is wanted. `modes`: the options that name one; `given`: further options
    of the command. Raises UserError if they do not go together."""
    if modes == ["--alltoall"]:
        raise UserError("--alltoall: it is a measurement of --one-sided; give that, too")
    if modes[:2] == ["--one-sided", "--alltoall"]:
        del modes[0]
    mode, *others = modes
    for option in (*others, *given):
        if option not in UNDERSTOOD[mode]:
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


def bench_saturation(
    milliseconds: int, json_file: Path | None, stem: Path | None, console: Console
) -> None:
    from tutti.bench import saturation
    from tutti.saturation import draw_map

    document = saturation.measure(milliseconds)
    saturation.show(document, console)
    write_document(document, json_file, console)
    for name in draw_map(document, stem) if stem is not None else []:
        console.print(f"wrote {name}", highlight=False)

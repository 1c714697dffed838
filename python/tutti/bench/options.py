"""The options of `tutti bench`, as the user has given them, and the kinds of measurements.

Each option that several kinds take is declared once, in Options. A kind that has more declares them
in a class of its own, derived from it.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar

from tutti.bench.load import MOST_BUSY
from tutti.bench.measurements import COLLECTIVES, DEFAULT_COLLECTIVES
from tutti.bench.present import Report
from tutti.errors import UserError
from tutti.options import BYTES_HELP, AsJson, JsonFile, Plot, RankCounts, option

DEFAULT_SIZES = "8,64,512,4K,32K,64K,256K,1M"
DEFAULT_NODES = "2,3,4"
DEFAULT_DELAYS = "0,1ms"
DEFAULT_FACES = "4,64,1K,4K,16K,64K"
QUICK_FACES = "4,1K,16K"
# The fields of options that have another name. The field of --no-NAME is NAME.
FIELDS = {"--json": "as_json"}


@dataclass(frozen=True)
class Options:
    """One field for each option. The defaults are what they are if the option is not given."""

    # The least and the largest value of numbers.
    RANGES: ClassVar[dict[str, tuple[int, int]]] = {
        "repetitions": (1, 1000),
        "budget_ms": (1, 60000),
        "load": (0, MOST_BUSY),
    }
    ranks: RankCounts = None
    collectives: Annotated[
        str | None,
        option(
            f"Which collectives: all, or some of {', '.join(COLLECTIVES)} "
            f"(default: {','.join(DEFAULT_COLLECTIVES)})."
        ),
    ] = None
    bytes: Annotated[
        str | None,
        option(f"{BYTES_HELP} (default of calls: {DEFAULT_SIZES})."),
    ] = None
    lengths: Annotated[
        str | None,
        option(
            "How long the parts of v-collectives and reduce_scatter are: ramp (from 1/2 to 3/2 of "
            "the size), equal, heavy (one part has nearly all), or all (default: ramp). Their mean "
            "is the size.",
            metavar="LIST",
        ),
    ] = None
    every_root: Annotated[
        bool,
        option(
            "Measure bcast, reduce, gather and scatter from every root in turn, and show the "
            "fastest, the median and the slowest root. (With root 0 alone, trees that ignore the "
            "machine's topology look too good.) With P ranks this takes P times as long.",
            "--every-root",
        ),
    ] = False
    mixed: Annotated[
        bool,
        option(
            "Also measure the kinds of calls in a shuffled order, because programs alternate calls "
            "(with --kinds programs by default).",
            "--mixed",
        ),
    ] = False
    cold: Annotated[
        str | None,
        option(
            "Also measure with cold caches: before each operation each rank streams over so many "
            "bytes of its own memory, as in 4M. If calls are shuffled, too, both orders are "
            "measured so.",
            metavar="BYTES",
        ),
    ] = None
    kinds: Annotated[
        str | None,
        option(
            "Kinds of calls, instead of --collectives and --bytes: "
            "COLLECTIVE:BYTES[:ROOT][:uint32][:dup], as in bcast:4K:1,allreduce:4:uint32:dup "
            "(dup: on a duplicate of MPI_COMM_WORLD); or `programs`, which stands for 18 kinds "
            "of short calls."
        ),
    ] = None
    form: Annotated[
        str | None,
        option(
            "The forms of the calls: nonblocking, persistent or all (default of overlap: "
            "nonblocking, of forms: all).",
            metavar="LIST",
        ),
    ] = None
    compute: Annotated[
        str | None,
        option(
            "Microseconds of computation (default: as long as the best peer's blocking call, which "
            "jobs before the others find).",
            metavar="US",
        ),
    ] = None
    halo: Annotated[bool, option("With --hosts: measure exchanges of ghost cells.", "--halo")] = (
        False
    )
    faces: Annotated[
        str | None,
        option(
            "Bytes of a face of ghost cells, squares of 4-byte cells "
            f"(default: {DEFAULT_FACES}; with --quick: {QUICK_FACES}).",
            metavar="LIST",
        ),
    ] = None
    dirty: Annotated[
        bool, option("Each rank rewrites its buffer before each operation, as programs do.")
    ] = True
    repetitions: Annotated[
        int | None, option("How often every variant runs (default: 10; of apps: 5).")
    ] = None
    hosts: Annotated[
        str | None,
        option(
            "Measure over several nodes. The scripts in this directory (tests/hosts of Tutti's "
            "sources, docs/clusters.md) emulate the nodes on this machine. Needs root.",
            metavar="DIRECTORY",
        ),
    ] = None
    nodes: Annotated[
        str | None,
        option(f"With --hosts: numbers of nodes (default: {DEFAULT_NODES}; of apps: 2)."),
    ] = None
    per_node: Annotated[
        int | None,
        option(
            "With --hosts: ranks on each node (default: 2; of one-sided: 1; of saturation: the "
            "number of cores)."
        ),
    ] = None
    delay: Annotated[
        str | None,
        option(
            f"With --hosts: one-way delays between nodes (default: {DEFAULT_DELAYS}; of worth and "
            "saturation: 0)."
        ),
    ] = None
    load: Annotated[
        int,
        option(
            f"Run so many busy processes on the ranks' cores beside each job (0 to {MOST_BUSY}), to "
            "see how calls stand a machine with other work."
        ),
    ] = 0
    quick: Annotated[
        bool, option("Take 3 repetitions, fewer sizes and less time for each cell.", "--quick")
    ] = False
    mpi: Annotated[
        list[str] | None,
        option(
            "Name of an MPI, as `tutti doctor` lists it; may be repeated (default: the first of "
            "each family)."
        ),
    ] = None
    peer_settings: Annotated[
        str,
        option(
            "Settings of the MPIs: default, best (for more ranks than cores) or both; auto: both "
            "if there are more ranks than cores; all: also other algorithms that a user can select "
            "(mpir of MPICH; sm and xhc of Open MPI, as far as they are built in). Beside one of "
            "these words, names of such algorithms, and ext_mpi_collectives=FILE, a library of "
            "collectives in front of the MPI.",
            metavar="LIST",
        ),
    ] = "auto"
    bind: Annotated[
        str,
        option(
            "Binding of ranks: core, none or default (the MPI's own); auto: core if there is a "
            "core for each rank, else none."
        ),
    ] = "auto"
    tutti: Annotated[bool, option("Run each MPI with Tutti too.")] = True
    shared_heap: Annotated[
        bool, option("Run each MPI with Tutti's shared heap too.", "--shared-heap")
    ] = False
    budget_ms: Annotated[
        int | None,
        option(
            "Milliseconds for each cell (collective and size) of each job (default: 40; with "
            "--quick: 20)."
        ),
    ] = None
    seed: Annotated[
        int | None,
        option("Seed of the order of variants and calls (default: random; it is printed)."),
    ] = None
    as_json: AsJson = False
    json_file: JsonFile = None
    plot: Plot = None

    def __post_init__(self) -> None:
        """Raises UserError if a number is out of its range."""
        for name, (least, most) in self.RANGES.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise UserError(
                    f"--{name.replace('_', '-')}: '{value}' is not accepted; whole numbers from "
                    f"{least} to {most} are"
                )

    def given(self, *options: str) -> list[str]:
        """Those of these options that were given, as of given("--bytes", "--no-dirty")."""
        defaults = {field.name: field.default for field in fields(self)}
        found = []
        for option in options:
            name = FIELDS.get(option, option.removeprefix("--no-").lstrip("-").replace("-", "_"))
            if getattr(self, name) not in (defaults[name], []):
                found.append(option)
        return found

    @property
    def count(self) -> int:
        """Repetitions."""
        return self.repetitions or (3 if self.quick else 10)

    @property
    def milliseconds(self) -> int:
        """For each cell of a job."""
        return self.budget_ms or (20 if self.quick else 40)

    @property
    def cores(self) -> int:
        return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Kind:
    """A kind of measurement: a subcommand of `tutti bench`."""

    # Measures what the options ask for. Its docstring is the help. Raises UserError before anything
    # is measured.
    run: Callable[[Any], Report]
    fields: tuple[str, ...]  # the options that it takes, in the order of the help
    options: type[Options] = Options


# Options that many kinds take.
FILES = ("as_json", "json_file")
PLOT = (*FILES, "plot")
JOBS = ("repetitions", "quick", "mpi", "tutti", "seed", "budget_ms", "dirty")
WHICH = ("collectives", "bytes")
HERE = ("ranks", "peer_settings", "bind", "shared_heap")
NODES = ("hosts", "nodes", "per_node", "delay")

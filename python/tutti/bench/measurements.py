"""The plan of a benchmark (Settings, Cell) and the numbers that it gets (Samples, Measurements)."""

from dataclasses import asdict, dataclass, field, replace
from statistics import fmean, median
from typing import Any

from tutti.bench.mpis import Mpi
from tutti.bench.variants import Variant, variants_for

JOB_SECONDS = 600  # time limit of a job with the default collectives
# The rows of bench/collectives.inc.h. A constant, because help texts are made without the programs.
COLLECTIVES = (
    "allreduce",
    "bcast",
    "reduce",
    "barrier",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce_scatter_block",
    "scan",
    "exscan",
    "gatherv",
    "scatterv",
    "allgatherv",
    "alltoallv",
    "reduce_scatter",
    "alltoallw",
)
DEFAULT_COLLECTIVES = COLLECTIVES[:4]
CONDITIONS = ("plain", "mixed", "cold", "mixed+cold")
NAMES = {"plain": "repeated", "mixed": "shuffled", "cold": "cold", "mixed+cold": "shuffled, cold"}
HALO = "halo"  # in place of a collective: an exchange of ghost cells
FORMS = ("nonblocking", "persistent")  # beside the blocking form
UNEVEN = COLLECTIVES[COLLECTIVES.index("gatherv") :]  # collectives whose parts may differ in length
LENGTHS = ("ramp", "equal", "heavy")  # lengths of such parts; the first is the usual one
ROOTED = ("bcast", "reduce", "gather", "scatter", "gatherv", "scatterv")
# In the others a buffer has a part for each rank, so that it grows with the number of ranks.
VECTORS = ("allreduce", "bcast", "reduce", "barrier", "scan", "exscan")


@dataclass(frozen=True)
class Settings:
    """The options of `tutti bench` that say what to measure. Sizes are in bytes."""

    mpis: list[Mpi]
    ranks: list[int]
    cores: int
    collectives: list[str]
    sizes: list[int]
    repetitions: int
    dirty: bool = True
    tutti: bool = True
    heap: bool = False
    peer_settings: str = "auto"
    bind: str = "auto"
    budget_ms: int = 40
    seed: int | None = None
    every_root: bool = False
    kinds: str = (
        ""  # kinds of calls, as tutti-bench takes them; empty: each collective in each size
    )
    mixed: bool = False  # also measure the kinds in a shuffled order
    cold: int = 0  # also measure after each rank streamed over so many bytes; 0: do not
    order_seed: int = 1  # seed of the shuffled order of calls in one repetition
    forms: tuple[str, ...] = ()  # some of FORMS: also measure the kinds in these forms
    overlap: bool = False  # measure each kind beside computations
    # For each rank count, the microseconds of computation for each kind, or for all kinds.
    durations: dict[int, list[float]] = field(default_factory=dict)
    lengths: tuple[str, ...] = LENGTHS[:1]  # the lengths of parts that may differ: some of LENGTHS
    # A file of tables, by each of which the kinds are measured (bench/trials.h), and their number.
    trials: tuple[str, int] = ("", 1)
    faces: tuple[int, ...] = ()  # measure exchanges of ghost cells with faces of so many bytes
    load: int = 0  # so many other processes use the ranks' cores meanwhile

    @property
    def conditions(self) -> list[str]:
        """The conditions under which each kind of call is measured."""
        return [
            name
            for name in CONDITIONS
            if (self.mixed or "mixed" not in name) and (self.cold or "cold" not in name)
        ]

    def oversubscribed(self, ranks: int) -> bool:
        return ranks > self.cores

    def variants(self, ranks: int) -> list[Variant]:
        return variants_for(
            self.mpis, self.peer_settings, self.oversubscribed(ranks), self.tutti, self.heap
        )

    @property
    def jobs(self) -> int:
        return self.repetitions * sum(len(self.variants(ranks)) for ranks in self.ranks)

    def roots(self, collective: str, ranks: int) -> int:
        """How many roots are measured."""
        return ranks if self.every_root and collective in ROOTED else 1

    def job_seconds(self, ranks: int) -> float:
        """The time limit of a job, in seconds."""
        times = sum(self.roots(collective, ranks) for collective in self.collectives) * len(
            self.conditions
        )
        # Beside a computation each form is measured twice, and the computation alone.
        forms = (1 + len(self.forms)) * (3 if self.overlap else 1) + (2 if self.overlap else 0)
        times += sum(name in UNEVEN for name in self.collectives) * (len(self.lengths) - 1)
        return JOB_SECONDS * max(1.0, times * forms * self.trials[1] / len(DEFAULT_COLLECTIVES))


@dataclass(frozen=True, order=True)
class Cell:
    """A kind of call under a condition.

    `bytes` is the size of one rank's part, or of the whole vector if all ranks have it; 0 for a
    barrier.
    """

    ranks: int
    collective: str
    bytes: int
    element: str = "double"
    root: int | None = None  # only with --kinds, for collectives with a root
    communicator: str = "world"
    condition: str = "plain"
    # "blocking", one of FORMS, or "none" for a computation alone; of an exchange of ghost cells
    # (collective "halo") its way.
    form: str = "blocking"
    lengths: str | None = None  # one of LENGTHS, for collectives whose parts may differ
    work: str = "none"  # the loop that is computed meanwhile: "arithmetic" or "memory"

    @property
    def name(self) -> str:
        """The collective, with its lengths if they are not the usual ones."""
        usual = self.lengths in (None, LENGTHS[0])
        return self.collective if usual else f"{self.collective}, {self.lengths}"

    @property
    def plain(self) -> bool:
        """True for a repeated blocking call with warm caches and nothing beside it."""
        return (self.condition, self.form, self.work) == ("plain", "blocking", "none")

    @property
    def words(self) -> dict[str, Any]:
        """The cell for JSON, without fields that do not apply."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def size_words(self) -> dict[str, Any]:
        """The cell for JSON: only rank count, collective and size."""
        return {"ranks": self.ranks, "collective": self.collective, "bytes": self.bytes}

    def under(self, condition: str) -> "Cell":
        return replace(self, condition=condition)

    def in_form(self, form: str) -> "Cell":
        return replace(self, form=form)

    def beside(self, work: str) -> "Cell":
        return replace(self, work=work)


@dataclass
class Samples:
    """Times of one cell and variant in microseconds, one for each repetition.

    With several roots, `median` is the median of the roots' medians, `mean` the mean of their
    means, `least` the smallest of their minima and `percentile_95` the largest of their
    percentiles.
    """

    median: list[float] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    percentile_95: list[float] = field(default_factory=list)
    # If every root was measured: for each root its medians, by repetition.
    by_root: list[list[float]] = field(default_factory=list)
    # The median time until the start returned; empty for operations without a start of their own.
    start: list[float] = field(default_factory=list)
    # Beside a computation: the median times in which others had a rank's core while it computed, and
    # that the completion took after it.
    others: list[float] = field(default_factory=list)
    wait: list[float] = field(default_factory=list)

    def add(self, cells: list[dict[str, Any]], every_root: bool) -> None:
        """Adds one repetition: the cells of all roots, in their order."""
        medians = [one["median_us"] for one in cells]
        self.median.append(median(medians))
        self.mean.append(fmean(one["mean_us"] for one in cells))
        self.least.append(min(one["min_us"] for one in cells))
        self.percentile_95.append(max(one["p95_us"] for one in cells))
        for name in ("start", "others", "wait"):
            getattr(self, name).extend(one[f"{name}_us"] for one in cells if f"{name}_us" in one)
        if every_root:
            self.by_root = self.by_root or [[] for _ in medians]
            for by_repetition, time in zip(self.by_root, medians, strict=True):
                by_repetition.append(time)


@dataclass
class Measurements:
    settings: Settings
    cells: dict[Cell, dict[str, Samples]] = field(default_factory=dict)
    # Cells not measured, because their buffers need more memory than tutti-bench allows.
    left_out: list[Cell] = field(default_factory=list)
    # The version text of the MPI library, indexed by variant.
    libraries: dict[str, str] = field(default_factory=dict)
    # The flag exchange on the cores of each job, in microseconds, indexed by rank count and
    # variant. Empty if ranks share cores.
    flags: dict[tuple[int, str], list[float]] = field(default_factory=dict)
    limits: list[dict[str, Any]] = field(default_factory=list)  # one for each repetition
    # Indexed by rank count and variant, and repetition: for each condition, the nanoseconds in
    # which a cache line went from one core to another.
    hand_overs: dict[tuple[int, str], list[dict[str, list[float]]]] = field(default_factory=dict)
    # Indexed by rank count and variant, and repetition: the share of the ranks' cores that other
    # processes used. None: not known.
    loads: dict[tuple[int, str], list[float | None]] = field(default_factory=dict)
    # Indexed by cell: the microseconds that the computation beside it was to take.
    computing: dict[Cell, float] = field(default_factory=dict)
    # Variants whose MPI has no persistent collectives.
    without_persistent: set[str] = field(default_factory=set)
    # Variants that match both faces of a neighbour in order, and the ways in which they do.
    in_order: set[tuple[str, str]] = field(default_factory=set)
    seed: int | None = None  # the seed of everything that is shuffled

    def _cell(self, ranks: int, entry: dict[str, Any]) -> Cell:
        details = {
            name: entry[name]
            for name in ("element", "communicator", "condition", "form", "lengths", "work")
            if name in entry
        }
        root = entry.get("root") if self.settings.kinds else None
        return Cell(ranks, entry["collective"], entry["bytes"], root=root, **details)

    def add(self, ranks: int, variant: Variant, job: dict[str, Any]) -> None:
        """Adds the cells of a job (driver.run_job), which are one repetition of a variant, and what it
        says of itself and of the machine."""
        self.libraries[variant.key] = job["library"]
        if "flag_exchange_us" in job:
            self.flags.setdefault((ranks, variant.key), []).append(job["flag_exchange_us"])
        hand_overs = {entry["condition"]: entry["ns"] for entry in job.get("hand_overs", [])}
        self.hand_overs.setdefault((ranks, variant.key), []).append(hand_overs)
        self.loads.setdefault((ranks, variant.key), []).append(job.get("share_of_others"))
        for entry in job.get("left_out", []):
            cell = self._cell(ranks, entry)
            if cell not in self.left_out:
                self.left_out.append(cell)
        if "form_left_out" in job:
            self.without_persistent.add(variant.key)
        by_cell: dict[Cell, list[dict[str, Any]]] = {}
        for entry in job["cells"]:
            cell = self._cell(ranks, entry)
            by_cell.setdefault(cell, []).append(entry)
            if "work_us" in entry:
                self.computing[cell] = entry["work_us"]
            if entry.get("in_order"):
                self.in_order.add((variant.key, cell.form))
        for cell, entries in by_cell.items():
            samples = self.cells.setdefault(cell, {}).setdefault(variant.key, Samples())
            samples.add(entries, self.settings.every_root and cell.collective in ROOTED)

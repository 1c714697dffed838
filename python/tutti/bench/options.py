"""The options of `tutti bench`, as the user has given them."""

import os
from dataclasses import dataclass, fields

from rich.console import Console

from tutti.bench.applications import FORMS
from tutti.bench.load import MOST_BUSY
from tutti.errors import UserError
from tutti.tables import new_console

DEFAULT_SIZES = "8,64,512,4K,32K,64K,256K,1M"
# The fields of options that have another name. The field of --no-NAME is NAME.
FIELDS = {"--json": "json_name"}


@dataclass(frozen=True)
class Options:
    """One field for each option; tutti.bench.command says what each is. The defaults are what they
    are if the option is not given."""

    words: list[str] | None = None
    app: str | None = None
    ranks: str | None = None
    collectives: str | None = None
    sizes: str | None = None
    lengths: str | None = None
    every_root: bool = False
    mixed: bool = False
    cold: str | None = None
    kinds: str | None = None
    form: str | None = None
    overlap: bool = False
    compute: str | None = None
    halo: bool = False
    faces: str | None = None
    dirty: bool = True
    repetitions: int | None = None
    openmp: bool = False
    one_sided: bool = False
    alltoall: bool = False
    saturation: bool = False
    array: bool = False
    hosts: str | None = None
    nodes: str | None = None
    per_node: int | None = None
    delay: str | None = None
    servers: bool = False
    load: int = 0
    worth: bool = False
    quick: bool = False
    mpi: list[str] | None = None
    peer_settings: str = "auto"
    bind: str = "auto"
    tutti: bool = True
    shared_heap: bool = False
    budget_ms: int | None = None
    seed: int | None = None
    json_name: str | None = None
    plot: str | None = None

    def given(self, *options: str) -> dict[str, bool]:
        """Tells which of these options were given, as in given("--sizes", "--no-dirty")."""
        defaults = {field.name: field.default for field in fields(self)}
        found = {}
        for option in options:
            name = FIELDS.get(option, option.removeprefix("--no-").lstrip("-").replace("-", "_"))
            found[option] = getattr(self, name) not in (defaults[name], [])
        return found

    def check(self) -> None:
        """Raises UserError if an option that all measurements have is wrong."""
        if self.repetitions is not None and not 1 <= self.repetitions <= 1000:
            raise UserError(
                f"--repetitions: '{self.repetitions}' is not accepted; whole numbers from 1 to 1000 "
                "are"
            )
        if self.budget_ms is not None and not 1 <= self.budget_ms <= 60000:
            raise UserError(
                f"--budget-ms: '{self.budget_ms}' is not accepted; whole numbers from 1 to 60000 are"
            )
        if self.words and self.app is None:
            raise UserError(
                f"'{self.words[0]}' is not understood; words after -- are options of an "
                "application, which --app names"
            )
        if not 0 <= self.load <= MOST_BUSY:
            raise UserError(
                f"--load: {self.load} is not accepted; whole numbers from 0 to {MOST_BUSY} are"
            )
        if self.servers and self.app is None:
            raise UserError(
                f"--servers: it needs --app {' or '.join(FORMS)}; --overlap --hosts measures single "
                "collectives with and without servers, and --one-sided --hosts transfers"
            )

    def console(self) -> Console:
        """Tables that are not printed to a terminal are as wide as they need to be."""
        between = self.one_sided and self.hosts is not None
        wide = any((self.mixed, self.cold, self.kinds, self.form, self.halo, between))
        if self.overlap:
            return new_console(176)
        return new_console(160 if wide else 132)

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

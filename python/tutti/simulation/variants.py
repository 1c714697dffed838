"""The variants of a simulation: Tutti, Tutti by tables of other algorithms, and several MPIs."""

import os
from dataclasses import dataclass
from pathlib import Path

from tutti.errors import UserError

# The MPIs whose decision functions SimGrid contains.
SELECTORS = {"mpich": "MPICH", "ompi": "Open MPI", "mvapich2": "MVAPICH2", "impi": "Intel MPI"}
# Tables by which Tutti runs as a variant: algorithms that ignore nodes, and those of the papers. A
# collective that a table does not name runs as Tutti chooses.
TABLES = {file.stem: file for file in sorted((Path(__file__).parent / "tables").glob("*.map"))}
TUTTI = "tutti"
AGAINST = (*SELECTORS, *TABLES)
# The shared memory of a node is not simulated, so Tutti uses messages within nodes too. There is a
# core for each rank.
SIMULATED = {"TUTTI_REACH": "net", "TUTTI_WAIT": "spin", "TUTTI_SETUP_AFTER": "0"}
# All ranks are in one process. Without these settings malloc would get the memory of each long
# message from the system and give it back.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(1 << 32), "MALLOC_TRIM_THRESHOLD_": str(1 << 34)}


@dataclass(frozen=True)
class Variant:
    key: str

    @property
    def tutti(self) -> bool:
        """True if Tutti runs the collectives, false if SMPI does."""
        return self.key == TUTTI or self.key in TABLES

    @property
    def label(self) -> str:
        return "Tutti" if self.key == TUTTI else SELECTORS.get(self.key, self.key)

    def environment(self, report: Path) -> dict[str, str]:
        """The environment of a job. Only the variant `tutti` gets the user's TUTTI_* variables."""
        inherited = ALLOCATOR | {
            name: value for name, value in os.environ.items() if name != "LD_PRELOAD"
        }
        if self.key != TUTTI:
            inherited = {
                name: value for name, value in inherited.items() if not name.startswith("TUTTI_")
            }
        if not self.tutti:
            return inherited
        table = {"TUTTI_TABLE": str(TABLES[self.key])} if self.key in TABLES else {}
        return SIMULATED | inherited | table | {"TUTTI_REPORT": str(report)}


def parse_against(text: str) -> list[Variant]:
    """The variants that --against lists. Raises UserError for an unknown one."""
    if text == "none":
        return []
    words = list(AGAINST) if text == "all" else text.split(",")
    for word in words:
        if word not in AGAINST:
            raise UserError(
                f"--against: '{word}' is unknown; known are all, none, {', '.join(AGAINST)}"
            )
    return [Variant(word) for word in dict.fromkeys(words)]

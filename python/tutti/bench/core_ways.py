"""The ways to give a node's cores to ranks and to servers (`tutti bench apps NAME --core-ways N`),
of section 5 of "Exploiting Communication Concurrency on High Performance Computing Systems".

A program communicates by messages and by one-sided transfers. Its ranks start the transfers
themselves (by ranks), as the paper's programs without servers do, or N servers of each node get
them. The transfers are gets, as in the paper, or puts that signal (`--transfers puts`).

  best effort   servers and the ranks' threads run where the system likes
  pinned        servers have cores, on which the ranks' threads may run, too
  partitioned   servers have cores of their own, and get all transfers
  selective     the same, and they get the transfers that gain

A program of several threads has one for each core of its ranks, which in the last three ways are
fewer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tutti.bench.variants import Variant
from tutti.errors import UserError

MESSAGES, BY_RANKS = "messages", "by ranks"
GETS, PUTS = "gets", "puts"
BEST_EFFORT, PINNED, PARTITIONED, SELECTIVE = SERVED = (
    "best effort",
    "pinned",
    "partitioned",
    "selective",
)
# tutti-run's parent has all cores of the node. The program comes after this script.
ON_ALL_CORES = 'cores=$(taskset -cp $PPID) && exec taskset -c "${cores##*: }" "$0" "$@"'


@dataclass(frozen=True)
class Program:
    """How a program is told to communicate in a way, and how problems are told to it."""

    problem: tuple[tuple[str, int], ...]  # its options for a problem, each with so many numbers
    problems: str  # the usual ones
    messages: tuple[str, ...]  # arguments
    transfers: tuple[str, ...]
    puts: tuple[str, ...] = ()  # the same by puts that signal; empty: it has none
    usual: tuple[str, ...] = ()  # arguments, unless the user gives others
    threads: bool = False  # it has an option for its threads
    # Variables of its transfers by ranks, and by servers.
    by_ranks: dict[str, str] = field(default_factory=dict)
    served: dict[str, str] = field(default_factory=dict)

    def arguments_of(self, problem: str) -> list[str]:
        numbers = iter(problem.split("x"))
        return [
            word
            for option, count in self.problem
            for word in (option, *(next(numbers) for _ in range(count)))
        ]


ALLTOALL = "TUTTI_ALGORITHM_ALLTOALL"
COMMUNICATING = {
    "multigrid": Program(
        (("--side", 1), ("--boxes", 1)),
        "32x1,32x8",
        ("--exchange", "messages"),
        ("--exchange", "tutti_get"),
        puts=("--exchange", "tutti_put"),
        usual=("--solves", "1", "--cycles", "7"),  # fewer cycles would fail its verification
        threads=True,
    ),
    "fft": Program(
        (("--size", 3),),
        "32x32x32,64x64x32,64x64x64",
        ("--blocking",),
        ("--blocking",),
        by_ranks={ALLTOALL: "direct:128"},
        served={ALLTOALL: "direct:128:served"},
    ),
}


def parse_transfers(application: str, text: str | None) -> str:
    """The kind of a program's transfers; they are gets unless the user says otherwise."""
    if text is None:
        return GETS
    if text not in (GETS, PUTS):
        raise UserError(f"--transfers: '{text}' is not accepted; it is {GETS} or {PUTS}")
    if text == PUTS and not COMMUNICATING[application].puts:
        with_puts = [name for name, program in COMMUNICATING.items() if program.puts]
        raise UserError(
            f"--transfers: {application} has no puts that signal; {' and '.join(with_puts)} has"
        )
    return text


def parse_problems(application: str, text: str | None) -> tuple[str, ...]:
    program = COMMUNICATING[application]
    found = tuple((text or program.problems).split(","))
    for problem in found:
        numbers = problem.split("x")
        if len(numbers) != sum(count for _, count in program.problem) or not all(
            number.isdigit() for number in numbers
        ):
            raise UserError(
                f"--problems: '{problem}' is not accepted; {application} takes "
                f"{' and '.join(option for option, _ in program.problem)}, as in {program.problems}"
            )
    return found


@dataclass(frozen=True)
class CoreWays:
    """The ways with so many servers for each node, and the program's problems."""

    application: str
    servers: int
    problems: tuple[str, ...]
    cores: int  # this machine's
    transfers: str = GETS  # their kind; puts signal

    @property
    def program(self) -> Program:
        return COMMUNICATING[self.application]

    def variants(self, plain: Sequence[Variant]) -> Iterator[Variant]:
        for variant in plain:
            for way in (BY_RANKS, *SERVED) if variant.tutti else (MESSAGES,):
                yield replace(variant, form=way)

    def cores_of_node(self, ranks: int) -> int:
        """The cores that a node of so many ranks needs, for them and the servers."""
        return ranks + self.servers

    def check(self, ranks: int) -> None:
        """Raises UserError if a node of so many ranks has too few cores."""
        if self.cores_of_node(ranks) > self.cores:
            raise UserError(
                f"--core-ways {self.servers}: {ranks} ranks and their servers on a node need "
                f"{self.cores_of_node(ranks)} cores, and there are {self.cores}; give fewer"
            )

    def arguments(self, way: str, problem: str, nodes: int, ranks: int) -> list[str]:
        """The program's arguments; `ranks`: of a node."""
        program = self.program
        words = [*program.arguments_of(problem), *program.usual]
        transfers = program.puts if self.transfers == PUTS else program.transfers
        words += program.messages if way == MESSAGES else transfers
        if program.threads:
            of_servers = self.servers if way in (PINNED, PARTITIONED, SELECTIVE) else 0
            words += ["--threads", str(max(1, (self.cores // nodes - of_servers) // ranks))]
        return words

    def variables(self, way: str) -> dict[str, str]:
        if way == MESSAGES:
            return {}
        return self.program.by_ranks if way == BY_RANKS else self.program.served

    def before_program(self, way: str, abi: str) -> list[str]:
        """Options of tutti-run, and a command that starts the program."""
        mpi = ["--mpi", abi]
        if way in (MESSAGES, BY_RANKS):
            return []
        if way == BEST_EFFORT:  # tutti-run would set cores apart
            return [*mpi, "env", f"TUTTI_SERVERS={self.servers}", "TUTTI_SERVE=all"]
        serve = "selective" if way == SELECTIVE else "all"
        words = ["--servers", str(self.servers), "--serve", serve]
        return [*words, *mpi, "sh", "-c", ON_ALL_CORES] if way == PINNED else words

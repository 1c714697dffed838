"""The header of a trace file: turns its JSON into the tables of a Trace, and checks every value."""

import json
import math
from dataclasses import dataclass
from typing import Any

from tutti.tracing.errors import TraceError
from tutti.tracing.fields import Fields, integer, integers, list_of
from tutti.tracing.trace import GROUPS, SPACES, Anchor, Kind, Node, Operand, Program, Rank, Step

MOST_RANKS = 1 << 20
MOST_STEPS = 1 << 24
MOST_PROGRAMS = 1 << 16
MOST_RINGS = 1 << 16
LARGEST = 2**63 - 1
# Files of version 1 do not say which segment a wait is for. By the name of its kind: segments and rounds of the ring back.
BACK_IN_VERSION_1 = {"wait_reuse": (0, 1), "wait_before": (1, 0)}


@dataclass
class Ring:
    """A ring: the records of one thread of a rank."""

    rank: int
    records: int
    lost: int


@dataclass
class RankTables:
    """The programs and communicators that one rank's records name by number."""

    programs: list[int]  # places in Header.programs
    communicators: list[int]  # places in Header.communicators


@dataclass
class Header:
    program: str
    mpi: str
    filter: str  # the text of TUTTI_TRACE_FILTER; empty: all was recorded
    written: int
    collectives: list[str]
    reasons: list[str]
    kinds: dict[int, Kind]
    nodes: list[Node]
    ranks: list[Rank]
    programs: list[Program]
    communicators: list[list[int]]
    tables: list[RankTables]  # indexed by rank
    rings: list[Ring]


def _no_constant(word: str) -> Any:
    raise TraceError(f"the header holds {word}, which is no number")


def parse(text: bytes, version: int) -> Header:
    try:
        value = json.loads(text.decode("utf-8"), parse_constant=_no_constant)
    except RecursionError:
        raise TraceError("the header is nested too deeply") from None
    except ValueError as error:
        raise TraceError(f"the header is no JSON: {error}") from None
    fields = Fields(value, "the header")
    if fields.text("format") != f"tutti-trace {version}":
        raise TraceError(f"the header's format is not 'tutti-trace {version}'")
    kinds = _kinds(fields)
    nodes = [_node(node) for node in fields.objects("nodes", MOST_RANKS)]
    if not nodes:
        raise TraceError("the header names no nodes")
    header = Header(
        program=fields.text("program"), mpi=fields.text("mpi"),
        filter=fields.text("filter") if fields.has("filter") else "", written=fields.integer("written", 0, 1 << 40),
        collectives=fields.texts("collectives", 256), reasons=fields.texts("reasons", 256), kinds=kinds, nodes=nodes,
        ranks=[], programs=[], communicators=[], tables=[], rings=[],
    )  # fmt: skip
    node_of = fields.integers("node_of", 0, len(nodes) - 1, MOST_RANKS)
    if len(fields.entries("ranks", MOST_RANKS)) != len(node_of):
        raise TraceError("the header's 'node_of' and 'ranks' have different lengths")
    _ranks(fields, node_of, header, version)
    return header


def _kinds(fields: Fields) -> dict[int, Kind]:
    kinds = {}
    for entry in fields.objects("step_kinds", 256):
        kind = Kind(
            entry.integer("number", 0, 252), entry.text("name"), entry.text("group"), entry.text("operands"),
            entry.text("meaning"),
        )  # fmt: skip
        if kind.group not in GROUPS:
            raise TraceError(
                f"{entry.where}: there is no group {kind.group[:40]!r}; there are {', '.join(GROUPS)}"
            )
        kinds[kind.number] = kind
    return kinds


def _node(entry: Fields) -> Node:
    anchors = tuple(
        Anchor(
            item.integer("ticks", 0, 2**64 - 1),
            item.number("nanoseconds", 1e18),
            item.number("error", 1e18),
        )
        for item in entry.objects("anchors", 2)
    )
    if (
        len(anchors) != 2
        or anchors[0].ticks >= anchors[1].ticks
        or anchors[0].nanoseconds >= anchors[1].nanoseconds
    ):
        raise TraceError(f"{entry.where}: its clock does not run forward between two anchors")
    node = Node(entry.integer("leader", 0, MOST_RANKS), (anchors[0], anchors[1]))
    if not 1e-6 <= node.nanoseconds_per_tick <= 1e6 or not math.isfinite(node.error):
        raise TraceError(
            f"{entry.where}: a tick of {node.nanoseconds_per_tick:g} ns is out of range"
        )
    return node


def _ranks(fields: Fields, node_of: list[int], header: Header, version: int) -> None:
    numbers: dict[int, int] = {}  # identity -> place in header.communicators
    for rank, entry in enumerate(fields.objects("ranks", MOST_RANKS)):
        if entry.integer("rank", 0, MOST_RANKS) != rank:
            raise TraceError(f"{entry.where} is not that of rank {rank}")
        first = len(header.programs)
        for program in entry.objects("programs", MOST_PROGRAMS):
            header.programs.append(_program(program, header.kinds, version))
        communicators = []
        for known in entry.objects("communicators", 1 << 24):
            number = numbers.setdefault(known.integer("identity", 0, 2**64 - 1), len(numbers))
            if number == len(header.communicators):
                header.communicators.append([])
            if not known.absent("ranks"):
                header.communicators[number] = known.integers(
                    "ranks", -1, len(node_of) - 1, MOST_RANKS
                )
            communicators.append(number)
        header.tables.append(RankTables(list(range(first, len(header.programs))), communicators))
        lost = 0
        for ring in entry.objects("rings", MOST_RINGS):
            found = Ring(
                rank, ring.integer("records", 0, 1 << 40), ring.integer("lost", 0, LARGEST)
            )
            header.rings.append(found)
            lost += found.lost
        header.ranks.append(Rank(rank, node_of[rank], entry.text("host"), entry.text("cores", 1 << 16),
                                 entry.integer("numa", -1, 1 << 20), entry.text("clock"), lost))  # fmt: skip
    for number, members in enumerate(header.communicators):
        if not members:
            raise TraceError(f"no rank says which ranks communicator {number} has")


def _program(entry: Fields, kinds: dict[int, Kind], version: int) -> Program:
    ranks = entry.integer("ranks", 1, MOST_RANKS)
    steps = None
    if not entry.absent("steps"):
        found = entry.entries("steps", MOST_STEPS)
        steps = tuple(
            _step(step, ranks, kinds, version, f"{entry.where}: step {place}")
            for place, step in enumerate(found)
        )
    return Program(
        entry.text("collective"), entry.text("algorithm"), ranks, entry.integer("rank", 0, ranks - 1),
        entry.integer("root", 0, ranks - 1), entry.integer("blocks", 1, 1 << 20), entry.integer("transfers", 0, 1 << 32),
        entry.integer("stages", 0, 1 << 32), entry.text("carrier"), steps,
    )  # fmt: skip


def _step(value: Any, ranks: int, kinds: dict[int, Kind], version: int, where: str) -> Step:
    right = 10 if version == 1 else 12
    parts = list_of(value, right, where)
    if len(parts) != right:
        raise TraceError(f"{where} has {len(parts)} parts; {right} are right")
    kind, stage, transfer, transfer_stage, peer, line, first, count, *back = integers(
        parts[:-2], -1, 1 << 32, right, where
    )
    integer(peer, -1, ranks - 1, f"{where}: its peer")
    if kind not in kinds:
        raise TraceError(f"{where}: there is no kind {kind}")
    if version == 1:
        back = [*BACK_IN_VERSION_1.get(kinds[kind].name, (0, 0))]
    flat = integers(parts[-2], -1, 1 << 32, 4 * MOST_RANKS, f"{where}: its operands")
    arrivals = integers(parts[-1], -1, 1 << 32, 3 * MOST_RANKS, f"{where}: its arrivals")
    if len(flat) % 4 != 0 or len(arrivals) % 3 != 0:
        raise TraceError(f"{where}: its operands or arrivals are cut short")
    operands = []
    for at in range(0, len(flat), 4):
        space = integer(flat[at], 0, len(SPACES) - 1, f"{where}: an operand's space")
        member = integer(flat[at + 1], 0, ranks - 1, f"{where}: an operand's rank")
        operands.append(Operand(SPACES[space], member, flat[at + 2], flat[at + 3]))
    pairs = []
    for at in range(0, len(arrivals), 3):
        pairs.append(
            (integer(arrivals[at], -1, ranks - 1, f"{where}: an arrival's peer"), arrivals[at + 1])
        )
    return Step(
        kind,
        stage,
        transfer,
        transfer_stage,
        peer,
        line,
        first,
        count,
        back[0],
        back[1],
        tuple(operands),
        tuple(pairs),
    )

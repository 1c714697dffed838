"""Makes trace files of two ranks for the tests of the reader."""

import json
import struct
from dataclasses import dataclass, field
from typing import Any

WAIT_WORD, WAIT_LINE, WAIT_REUSE, COPY, REDUCE, REDUCE_ANY, PUBLISH, STAMP = 0, 1, 2, 3, 4, 5, 6, 7
WAIT_BEFORE = 9
ELSEWHERE, WAIT_ARRIVAL, HOST_CALL, OPERATION, DETAILS = 0xFA, 0xFB, 0xFD, 0xFE, 0xFF
START = 5000  # in ticks of one nanosecond
PAIRS = [
    (0, "wait_word", "waiting"),
    (1, "wait_line", "waiting"),
    (2, "wait_reuse", "waiting"),
    (3, "copy", "moving"),
    (4, "reduce", "reducing"),
    (5, "reduce_any", "reducing"),
    (6, "publish", "telling"),
    (7, "stamp", "telling"),
    (9, "wait_before", "waiting"),
    (250, "elsewhere", "elsewhere"),
    (251, "wait_arrival", "waiting"),
    (252, "wait_room", "waiting"),
]
KINDS = [
    {"number": number, "name": name, "group": group, "operands": "", "meaning": ""}
    for number, name, group in PAIRS
]


def record(
    begin: int, end: int, kind: int, value: int = 0, segment: int = 0, peer: int = -1, size: int = 0
) -> bytes:
    return struct.pack("<QQIIiI", begin, end, value << 8 | kind, segment, peer, size)


def broadcast(member: int) -> dict[str, Any]:
    """The program of one rank: the root stamps a line; the other rank waits and copies it."""
    if member == 0:
        steps: list[Any] = [
            [COPY, 0, 1, 0, -1, 0, 0, 1, 0, 0, [3, 0, 0, 0, 0, 0, 0, 0], []],
            [STAMP, 0, 1, 0, -1, 0, 0, 1, 0, 0, [], []],
        ]
    else:
        steps = [
            [WAIT_LINE, 1, 1, 0, 0, 0, 0, 1, 0, 0, [], []],
            [COPY, 1, 2, 1, -1, 0, 0, 1, 0, 0, [1, 1, 0, 0, 3, 0, 0, 0], []],
        ]
    return {
        "collective": "bcast",
        "algorithm": "flat",
        "ranks": 2,
        "rank": member,
        "root": 0,
        "blocks": 1,
        "transfers": 2,
        "stages": 2,
        "carrier": "line",
        "steps": steps,
    }


@dataclass
class TraceFile:
    """The contents of a trace file; tests change them before they call `contents`."""

    header: dict[str, Any] = field(default_factory=dict)
    records: list[list[bytes]] = field(default_factory=lambda: [[], []])  # of each rank's one ring

    def __post_init__(self) -> None:
        def rank(number: int) -> dict[str, Any]:
            return {
                "rank": number,
                "host": "here",
                "cores": str(number),
                "numa": 0,
                "clock": "tsc",
                "programs": [broadcast(number)],
                "communicators": [{"identity": 7, "ranks": [0, 1] if number == 0 else None}],
                "rings": [{"records": 0, "lost": 0}],
            }

        anchors = [
            {"ticks": START, "nanoseconds": 0.0, "error": 0.0},
            {"ticks": START + 10**7, "nanoseconds": 1e7, "error": 0.0},
        ]
        self.header = {
            "format": "tutti-trace 2",
            "program": "by <hand>",
            "mpi": "mpich",
            "written": 1,
            "collectives": ["barrier", "bcast", "reduce", "allreduce"],
            "reasons": ["none", "first calls"],
            "step_kinds": [dict(kind) for kind in KINDS],
            "nodes": [{"leader": 0, "anchors": anchors}],
            "node_of": [0, 0],
            "ranks": [rank(0), rank(1)],
        }

    def call(self, rank: int, epoch: int, times: list[int]) -> None:
        """Adds a broadcast of 8 bytes.

        `times`: its entry, the ends of its two steps, and its exit, in nanoseconds since the start.
        """
        entry, first, second, leave = (START + time for time in times)
        kinds = [(COPY, -1), (STAMP, -1)] if rank == 0 else [(WAIT_LINE, 0), (COPY, -1)]
        begin = entry
        for index, ((kind, peer), end) in enumerate(zip(kinds, (first, second), strict=True)):
            self.records[rank].append(
                record(begin, end, kind, index, 0, peer, 8 if kind == COPY else 0)
            )
            begin = end
        self.records[rank].append(record(entry, leave, OPERATION, 0, 2, 0, 8))
        self.records[rank].append(record(8, epoch, DETAILS, 1, 1, 0))

    def host_call(self, rank: int, begin: int, end: int) -> None:
        self.records[rank].append(record(START + begin, START + end, HOST_CALL, 1 << 8 | 1, 0, -1))
        self.records[rank].append(record(8, 0, DETAILS, 0, 1, 0))

    def contents(self, version: int = 2) -> bytes:
        """The file; version 1 lacks the two numbers of a step that say how far back its wait is for."""
        if version == 1:
            self.header["format"] = "tutti-trace 1"
            for rank in self.header["ranks"]:
                for program in rank["programs"]:
                    program["steps"] = [step[:8] + step[10:] for step in program["steps"]]
        for rank, records in enumerate(self.records):
            self.header["ranks"][rank]["rings"][0]["records"] = len(records)
        text = json.dumps(self.header).encode()
        text += b" " * (-(len(text) + 32) % 64)
        body = b"".join(part for records in self.records for part in records)
        return (
            struct.pack("<8sIIQQ", b"tutti-tr", version, 32, len(text), len(body) // 32)
            + text
            + body
        )


def two_broadcasts() -> TraceFile:
    """Rank 1 waits 900 ns for rank 0 in the first broadcast; rank 0 enters the second one first."""
    made = TraceFile()
    made.host_call(0, 0, 50)
    made.host_call(1, 0, 60)
    made.call(0, 0, [1000, 1040, 1080, 1100])
    made.call(1, 0, [200, 1100, 1150, 1200])
    made.call(0, 1, [2000, 2030, 2060, 2100])
    made.call(1, 1, [2500, 2510, 2540, 2600])
    return made


def exchange(member: int) -> dict[str, Any]:
    """The program of one of two ranks in an alltoall.

    The rank puts its part for the other into its line, and copies the other's part.
    """
    other = 1 - member
    steps: list[Any] = [
        [COPY, 0, 1 + member, 0, -1, 0, 0, 1, 0, 0, [3, member, 0, 0, 0, member, 0, other], []],
        [STAMP, 0, 1 + member, 0, -1, 0, 0, 1, 0, 0, [], []],
        [WAIT_LINE, 1, 1 + other, 0, other, 0, 0, 1, 0, 0, [], []],
        [COPY, 1, 5 + member, 1, -1, 0, 0, 1, 0, 0, [1, member, 0, other, 3, other, 0, 0], []],
    ]
    return broadcast(member) | {
        "collective": "alltoall",
        "algorithm": "direct",
        "blocks": 2,
        "transfers": 6,
        "steps": steps,
    }


def one_alltoall() -> TraceFile:
    """Two ranks exchange parts of 8 bytes; rank 0 waits 300 ns for rank 1."""
    made = TraceFile()
    made.header["collectives"] += [
        "gather",
        "scatter",
        "allgather",
        "alltoall",
        "reduce_scatter",
        "scan",
        "exscan",
    ]
    for rank, entry in ((0, 1000), (1, 1300)):
        made.header["ranks"][rank]["programs"] = [exchange(rank)]
        ends = (
            entry + 20,
            entry + 40,
            1340 if rank == 0 else entry + 45,
            1380 if rank == 0 else entry + 70,
        )
        begin = entry
        for index, (kind, end) in enumerate(zip((COPY, STAMP, WAIT_LINE, COPY), ends, strict=True)):
            peer = 1 - rank if kind == WAIT_LINE else -1
            made.records[rank].append(
                record(START + begin, START + end, kind, index, 0, peer, 8 if kind == COPY else 0)
            )
            begin = end
        made.records[rank].append(record(START + entry, START + begin + 10, OPERATION, 0, 4, 0, 8))
        made.records[rank].append(record(8, 0, DETAILS, 1, 1, 0))
    return made


def one_arrival() -> TraceFile:
    """A reduce in the order of arrival: rank 0 waits for rank 1."""
    made = TraceFile()
    made.header["ranks"][0]["programs"] = [
        broadcast(0)
        | {
            "collective": "reduce",
            "steps": [
                [
                    REDUCE_ANY,
                    1,
                    2,
                    1,
                    -1,
                    0,
                    0,
                    1,
                    0,
                    0,
                    [1, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0],
                    [-1, 0, 0, 1, 1, 0],
                ]
            ],
        }
    ]
    made.header["ranks"][1]["programs"] = [
        broadcast(1)
        | {
            "collective": "reduce",
            "steps": [
                [COPY, 0, 1, 0, -1, 0, 0, 1, 0, 0, [3, 1, 0, 0, 0, 1, 0, 0], []],
                [STAMP, 0, 1, 0, -1, 0, 0, 1, 0, 0, [], []],
            ],
        }
    ]
    made.records[0] = [
        record(START + 100, START + 600, WAIT_ARRIVAL, 0, 0, 1),
        record(START + 600, START + 640, REDUCE_ANY, 0, 0, -1, 8),
        record(START + 100, START + 700, OPERATION, 0, 2, 0, 8),
        record(8, 0, DETAILS, 1, 1, 0),
    ]
    made.records[1] = [
        record(START + 500, START + 530, COPY, 0, 0, -1, 8),
        record(START + 530, START + 550, STAMP, 1),
        record(START + 500, START + 560, OPERATION, 0, 2, 0, 8),
        record(8, 0, DETAILS, 1, 1, 0),
    ]
    return made


def records(member: int) -> dict[str, Any]:
    """The program of one of two ranks in a persistent allreduce."""
    other = 1 - member
    steps: list[Any] = [
        [COPY, 0, 1 + member, 0, -1, 0, 0, 1, 0, 0, [2, member, 0, 0, 0, member, 0, 0], []],
        [PUBLISH, 0, 1 + member, 0, -1, 0, 0, 1, 0, 0, [], []],
        [ELSEWHERE, 0, 0, 0, -1, 0, 0, 1, 0, 0, [], []],
        [WAIT_WORD, 1, 1 + other, 0, other, 0, 0, 1, 0, 0, [], []],
        [
            REDUCE,
            1,
            3 + member,
            1,
            -1,
            0,
            0,
            1,
            0,
            0,
            [1, member, 0, 0, 2, 0, 0, 0, 2, 1, 0, 0],
            [],
        ],
    ]
    return broadcast(member) | {
        "collective": "allreduce",
        "algorithm": "records",
        "transfers": 4,
        "carrier": "slot",
        "steps": steps,
    }


def one_persistent() -> TraceFile:
    """A persistent allreduce of 8 bytes, round 5 of the second request on its communicator.

    There is a broadcast between its start and completion. Rank 0 does other work for 5,000 ns.
    Rank 1, which starts 400 ns later, does not wait.
    """
    made = TraceFile()
    made.call(0, 0, [2000, 2040, 2080, 2100])
    made.call(1, 0, [2100, 2110, 2150, 2200])
    for rank, ends in (
        (0, (1000, 1030, 1040, 6040, 6100, 6150)),
        (1, (1400, 1420, 1430, 4430, 4440, 4500)),
    ):
        made.header["ranks"][rank]["programs"].append(records(rank))
        kinds = (
            (COPY, -1, 8),
            (PUBLISH, -1, 0),
            (ELSEWHERE, -1, 0),
            (WAIT_WORD, 1 - rank, 0),
            (REDUCE, -1, 8),
        )
        for index, (kind, peer, size) in enumerate(kinds):
            made.records[rank].append(
                record(START + ends[index], START + ends[index + 1], kind, index, 0, peer, size)
            )
        made.records[rank].append(
            record(START + ends[0], START + ends[-1] + 10, OPERATION, 1, 5, 0, 8)
        )
        made.records[rank].append(record(8, 2 << 32 | 5, DETAILS, 1, 1, 0))
    return made


def pipeline(member: int) -> dict[str, Any]:
    """The program of one of two ranks: rank 0 fills a slot of two positions, rank 1 empties it. Rank 1 fills the same positions
    only after rank 0 has read them, and rank 0 waits, for the sake of order, for rank 1's segment before."""
    if member == 0:
        steps: list[Any] = [
            [WAIT_REUSE, 0, 2, 1, 1, 0, 0, 1, 0, 1, [], []],
            [WAIT_BEFORE, 0, 2, 1, 1, 0, 0, 1, 1, 0, [], []],
            [COPY, 0, 1, 0, -1, 0, 0, 1, 0, 0, [2, 0, 0, 0, 0, 0, 0, 0], []],
            [PUBLISH, 0, 1, 0, -1, 0, 0, 1, 0, 0, [], []],
        ]
    else:
        steps = [
            [WAIT_WORD, 1, 1, 0, 0, 0, 0, 1, 0, 0, [], []],
            [COPY, 1, 2, 1, -1, 0, 0, 1, 0, 0, [1, 1, 0, 0, 2, 0, 0, 0], []],
            [PUBLISH, 1, 2, 1, -1, 0, 0, 1, 0, 0, [], []],
        ]
    return broadcast(member) | {"carrier": "slot", "steps": steps}


def one_pipeline() -> TraceFile:
    """A broadcast in four segments through two ring positions."""
    made = TraceFile()
    peers = {WAIT_REUSE: 1, WAIT_BEFORE: 1, WAIT_WORD: 0}
    for rank in (0, 1):
        steps = pipeline(rank)["steps"]
        made.header["ranks"][rank]["programs"] = [pipeline(rank)]
        begin = at = START + 1000 + 10 * rank
        for segment in range(4):
            for index, step in enumerate(steps):
                kind = step[0]
                if segment < {WAIT_REUSE: 2, WAIT_BEFORE: 1}.get(kind, 0):
                    continue
                size = 8 if kind == COPY else 0
                made.records[rank].append(
                    record(at, at + 20, kind, index, segment, peers.get(kind, -1), size)
                )
                at += 20
        count = len(made.records[rank])
        made.records[rank].append(record(begin, at + 10, OPERATION, 0, count, 0, 8))
        made.records[rank].append(record(32, 0, DETAILS, 2, 4, 0))
    return made

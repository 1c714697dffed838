"""`tutti model predict --export goal`: schedules for LogGOPSim.

The test reads a schedule by GOAL's own rules and executes it by LogGP, so that a message that nobody
sends or receives, or a circle of requirements, is found.
"""

import json
import re
from collections import defaultdict

import pytest

MACHINE = {
    "format": "tutti-machine 1",
    "name": "by hand",
    "levels": [
        {"name": "node", "hand_over": 1000, "byte": 0.5, "shared": 0},
        {"name": "numa", "hand_over": 1000, "byte": 0.5, "shared": 0},
    ],
    "own": {"call": 0, "step": 0, "copy": 0, "combine": 0},
    "network": {"overhead": 0, "latency": 1000, "gap": 0, "byte": 0.5, "prompt": 1073741824},
}
OPERATION = re.compile(r"(\w+): (?:calc (\d+)|(send|recv) (\d+)b (?:to|from) (\d+) tag (\d+))$")
REQUIRES = re.compile(r"(\w+) requires (\w+)$")


@pytest.fixture
def goal(tutti, tmp_path):
    file = tmp_path / "machine.json"
    file.write_text(json.dumps(MACHINE))

    def export(*words, code=0):
        result = tutti("model", "predict", *words, "--machine", str(file), "--export", "goal")
        assert result.returncode == code, result.stderr
        return result.stdout if code == 0 else result.stderr

    return export


def read(text):
    """Operations by rank and label, and what each requires. Fails on a line that GOAL does not know."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    ranks = int(re.fullmatch(r"num_ranks (\d+)", lines[0])[1])
    operations, requires, rank = {}, defaultdict(list), None
    for line in lines[1:]:
        if opened := re.fullmatch(r"rank (\d+) \{", line):
            assert rank is None and int(opened[1]) == len({one for one, _ in operations})
            rank = int(opened[1])
        elif line == "}":
            rank = None
        elif found := OPERATION.match(line):
            name, calc, kind, size, peer, tag = found.groups()
            assert (rank, name) not in operations
            operations[rank, name] = (kind or "calc", int(calc or size), peer and int(peer), tag)
        else:
            name, other = REQUIRES.match(line).groups()
            assert (rank, other) in operations, "an operation is required before it is there"
            requires[rank, name].append((rank, other))
    assert len({one for one, _ in operations}) == ranks
    return operations, requires


def execute(text, latency=1000, byte=0.5):
    """When the last operation ends, and the bytes of all messages."""
    operations, requires = read(text)
    ends, sent, received = {}, {}, set()
    left = set(operations)
    while left:
        before = len(left)
        for rank, name in sorted(left):
            if any(one not in ends for one in requires[rank, name]):
                continue
            begin = max((ends[one] for one in requires[rank, name]), default=0)
            kind, size, peer, tag = operations[rank, name]
            if kind == "calc":
                ends[rank, name] = begin + size
            elif kind == "send":
                assert (rank, peer, tag) not in sent
                sent[rank, peer, tag] = (size, begin + latency + byte * size)
                ends[rank, name] = begin
            elif (peer, rank, tag) in sent:
                length, there = sent[peer, rank, tag]
                assert length == size and (peer, rank, tag) not in received
                received.add((peer, rank, tag))
                ends[rank, name] = max(begin, there)
            else:
                continue
            left.discard((rank, name))
        assert len(left) < before, f"a circle, or a message that nobody sends: {sorted(left)[:5]}"
    assert received == set(sent), "a message that nobody receives"
    return max(ends.values()), sum(size for size, _ in sent.values())


def test_a_broadcast_between_nodes(goal):
    text = goal("bcast", "--algorithm", "binomial", "--ranks", "4", "--bytes", "1000",
                "--shape", "node:4 core:1")  # fmt: skip
    time, sent = execute(text)
    assert (time, sent) == (2 * 1500, 3 * 1000)


def test_a_broadcast_in_shared_memory(goal):
    """The readers' waits become messages of the writer, with the data."""
    text = goal("bcast", "--algorithm", "flat", "--ranks", "3", "--bytes", "1000")
    time, _ = execute(text)
    assert time == 1500
    assert len(re.findall(r"send 1000b", text)) == 2


@pytest.mark.parametrize(
    "words",
    [
        ("allreduce", "tiled", 5, "64K", None),
        ("allreduce", "dissemination", 6, "8", None),
        ("reduce", "levels:binomial:stepwise", 12, "256K", "numa:2 core:6"),
        ("bcast", "levels:push", 12, "256K", "numa:2 core:6"),
        ("allgather", "ring", 5, "100K", None),
        ("alltoall", "direct", 7, "4K", None),
        ("barrier", "staggered:3", 9, "8", None),
        ("allreduce", "hierarchical", 24, "100K", "node:4 numa:2 core:3"),
        ("alltoall", "hierarchical", 12, "1K", "node:3 core:4"),
        ("scan", "chain", 4, "64K", None),
    ],
    ids=lambda words: f"{words[0]} {words[1]}",
)
def test_every_message_has_two_ends(goal, words):
    collective, algorithm, ranks, size, shape = words
    placed = ("--shape", shape) if shape else ()
    text = goal(
        collective, "--algorithm", algorithm, "--ranks", str(ranks), "--bytes", size, *placed
    )
    time, sent = execute(text)
    assert time > 0 and sent > 0


def test_late_ranks_compute_first(goal):
    words = ("bcast", "--algorithm", "flat", "--ranks", "2", "--bytes", "1000")
    early, _ = execute(goal(*words))
    late, _ = execute(goal(*words, "--late", "0=7"))
    assert late == early + 7000


def test_what_cannot_be_exported_is_one_line(goal, tutti):
    words = ("bcast", "--algorithm", "flat,binomial", "--ranks", "2")
    assert "--export: 'goal' of 2 calls" in goal(*words, code=2)
    result = tutti("model", "predict", *words, "--machine", "judge", "--export", "xml")
    assert result.returncode == 2 and "`--export goal` is known" in result.stderr

"""Rows of "The performance of configurable collective communication for LAM-MPI" (PATHS)."""

from math import inf

from tutti.papers.row import IN_VIEW, OUT_OF_REACH, PARTLY, Found, Reader, Row, Value

SCHEMES = ("lam", "hierarchical", "two_groups", "three_layers")


def _trees(shape: str, *schemes: str, ranks: int = 32) -> tuple[str, ...]:
    """Compiles the schemes for a cluster with ranks dealt round robin, and predicts 8 bytes."""
    lines = []
    for scheme in schemes:
        lines.append(
            f"plan compile tutti.plan.lam:{scheme} --ranks {ranks} --shape '{shape}' "
            f"--deal round_robin -o {scheme}{ranks}.plan"
        )
    for scheme in schemes:
        lines.append(
            f"model predict {scheme}{ranks}.plan --ranks {ranks} --shape '{shape}' "
            "--deal round_robin --machine paths-8w --messages --bytes 8"
        )
    return tuple(lines)


def _us(found: Found, command: int) -> float:
    return float(found.documents[command]["cells"][0]["predicted_us"])


def _time(command: int) -> Reader:
    return lambda found: _us(found, command)


def _share(found: Found, few: int, many: int, size: int) -> float:
    """How much longer many messages at once take than few."""
    (slow,), (quick,) = (
        [c["predicted_us"] for c in found.documents[at]["cells"] if c["bytes"] == size]
        for at in (many, few)
    )
    return float(slow / quick)


def _messages(machine: str) -> tuple[str, ...]:
    return tuple(
        f"model predict bcast --algorithm flat --ranks {count + 1} --shape 'node:2 core:{count}' "
        f"--root {count} --messages --segment 67108864 --machine {machine} --bytes 64,4K"
        for count in (2, 4)
    )


LATE_US = 250


def _stars() -> tuple[str, ...]:
    """An allreduce by a star of 12 ranks, one of which makes the call late."""
    schemes = ("linear", "linear_by_arrival")
    return (
        *(f"plan compile tutti.plan.lam:{one} --ranks 12 -o {one}.plan" for one in schemes),
        *(
            f"model predict {one}.plan --ranks 12 --machine hmpi-xeon --late 6={LATE_US} "
            "--segment 67108864 --bytes 8,32K,256K"
            for one in schemes
        ),
    )


def _sequence_over_arrival(size: int) -> Reader:
    """The ratio of the times from the late rank's call on."""

    def ratio(found: Found) -> float:
        sequence, arrival = (
            next(cell["predicted_us"] for cell in one["cells"] if cell["bytes"] == size)
            for one in found.documents
        )
        return float((sequence - LATE_US) / (arrival - LATE_US))

    return ratio


ONE_WAY = "a flat broadcast, predicted, stands for round trips of several threads"

PATHS = (
    Row(
        "paths/5",
        "4-way nodes: hierarchical trees 1.79 times as fast as LAM-MPI's",
        PARTLY,
        _trees("node:8 core:4", "lam", "hierarchical")
        + _trees("node:8 core:4", "lam", "hierarchical", ranks=16)
        + _trees("node:8 core:4", "lam", "hierarchical", ranks=8),
        (
            Value("LAM over hierarchical", 1.79, lambda f: _us(f, 0) / _us(f, 1), unit="x"),
            Value("is above 1", None, lambda f: _us(f, 0) / _us(f, 1), 1, inf, "x"),
            Value("16 ranks, is above 1", None, lambda f: _us(f, 2) / _us(f, 3), 1, inf, "x"),
            Value("8 ranks, is above 1", None, lambda f: _us(f, 4) / _us(f, 5), 1, inf, "x"),
        ),
        why="predicted on the 8-way cluster's costs, which exaggerate; 32 ranks measured on two cores "
        "1.60x, where the scheduler decides and not a network",
    ),
    Row(
        "paths/6",
        "8-way nodes: two groups 1322 us, hierarchical 1444, three layers 1534, LAM's 1.98 times",
        IN_VIEW,
        _trees("node:4 core:8", *SCHEMES),
        tuple(
            Value(name, paper, _time(at), unit="us")
            for at, (name, paper) in enumerate(
                zip(SCHEMES, (1.98 * 1322, 1444.0, 1322.0, 1534.0), strict=True)
            )
        ),
        why="the costs of messages were chosen with these four times in view",
    ),
    Row(
        "paths/7",
        "2-way nodes: 1.52 times",
        PARTLY,
        _trees("node:16 core:2", "lam", "hierarchical"),
        (
            Value("LAM over hierarchical", 1.52, lambda f: _us(f, 0) / _us(f, 1), unit="x"),
            Value("is above 1", None, lambda f: _us(f, 0) / _us(f, 1), 1, inf, "x"),
        ),
        why="the direction; the paper does not tell the scheme, and the costs are the 8-way's",
    ),
    Row(
        "paths/5.3",
        "what is it worth to combine in the order of arrival? (the paper's open question)",
        PARTLY,
        _stars(),
        tuple(
            Value(
                f"LAM-MPI's sequence over arrival, {text}",
                None,
                _sequence_over_arrival(size),
                1.05,
                inf,
                "x",
            )
            for text, size in (("8 B", 8), ("32 KiB", 32768), ("256 KiB", 262144))
        ),
        why="the paper has no number, and this is a prediction with one late rank; "
        "examples/paths/arrival_predicted.py draws further ones",
        is_part=True,
    ),
    Row(
        "paths/8",
        "two clusters: many short messages cost little extra, one rank on the wrong side nearly "
        "doubles the time (figures 8, 9)",
        PARTLY,
        why="examples/paths/two_clusters.py measured both on 16 ranks over an emulated link (it needs "
        "root; the paper has 60 and 61 ranks); no command here runs it",
    ),
    Row(
        "paths/10",
        "LAN: further round trips delay one's, even of the smallest size",
        PARTLY,
        _messages("paths-8w"),
        (
            Value("4 messages over 2, 64 B", None, lambda f: _share(f, 0, 1, 64), 1.05, inf, "x"),
            Value(
                "4 messages over 2, 4 KiB", None, lambda f: _share(f, 0, 1, 4096), 1.05, inf, "x"
            ),
        ),
        why=ONE_WAY,
        is_part=True,
    ),
    Row(
        "paths/11",
        "WAN: further round trips hardly delay one's of up to 4 KB",
        PARTLY,
        _messages("paths-tunnel"),
        (
            Value(
                "4 messages over 2, 4 KiB", None, lambda f: _share(f, 0, 1, 4096), 0.99, 1.05, "x"
            ),
        ),
        why=ONE_WAY,
        is_part=True,
    ),
    Row(
        "paths/system",
        "PATHS itself: lists of stages to elements, wrappers, a name server; PastSet",
        OUT_OF_REACH,
        why="the paper's collectives in LAM-MPI did not have the full system either; configurable "
        "trees are here, the orchestration system and its tuple space are not",
    ),
)

"""Rows of "The performance of configurable collective communication for LAM-MPI" (PATHS)."""

from tutti.papers.row import IN_VIEW, OUT_OF_REACH, PARTLY, Found, Reader, Row, Value

SCHEMES = ("lam", "hierarchical", "two_groups", "three_layers")


def _trees(shape: str, *schemes: str) -> tuple[str, ...]:
    """Compiles the schemes for a cluster with ranks dealt round robin, and predicts 8 bytes."""
    lines = []
    for scheme in schemes:
        lines.append(
            f"plan compile tutti.plan.lam:{scheme} --ranks 32 --shape '{shape}' --deal round_robin "
            f"-o {scheme}.plan"
        )
    for scheme in schemes:
        lines.append(
            f"model predict {scheme}.plan --ranks 32 --shape '{shape}' --deal round_robin "
            "--machine paths-8w --messages --bytes 8"
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


ONE_WAY = "a flat broadcast, predicted, stands for round trips of several threads"

PATHS = (
    Row(
        "paths/5",
        "4-way nodes: hierarchical trees 1.79 times as fast as LAM-MPI's",
        PARTLY,
        _trees("node:8 core:4", "lam", "hierarchical"),
        (
            Value("LAM over hierarchical", 1.79, lambda f: _us(f, 0) / _us(f, 1), unit="x"),
            Value("is above 1", 1.0, lambda f: _us(f, 0) / _us(f, 1), 1, 9, "x"),
        ),
        why="predicted on the 8-way cluster's costs, which exaggerate; measured on two cores 1.60x",
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
            Value("is above 1", 1.0, lambda f: _us(f, 0) / _us(f, 1), 1, 9, "x"),
        ),
        why="the direction; the paper does not tell the scheme, and the costs are the 8-way's",
    ),
    Row(
        "paths/5.3",
        "what is it worth to combine in the order of arrival? (the paper's open question)",
        PARTLY,
        why="examples/paths/arrival_predicted.py answers it by prediction: up to 2.2 times over "
        "LAM-MPI's sequence for long vectors and late ranks; measured on two cores a tenth",
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
            Value("4 messages over 2, 64 B", 1.0, lambda f: _share(f, 0, 1, 64), 1.05, 9, "x"),
            Value("4 messages over 2, 4 KiB", 1.0, lambda f: _share(f, 0, 1, 4096), 1.05, 9, "x"),
        ),
        why=ONE_WAY,
        is_part=True,
    ),
    Row(
        "paths/11",
        "WAN: further round trips hardly delay one's of up to 4 KB",
        PARTLY,
        _messages("paths-tunnel"),
        (Value("4 messages over 2, 4 KiB", 1.0, lambda f: _share(f, 0, 1, 4096), 0.99, 1.05, "x"),),
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

"""Rows of "Hierarchical collectives in MPICH2": 16 nodes of 4 cores, an assumed Gigabit Ethernet."""

from collections.abc import Callable, Sequence

from tutti.papers.row import (
    CONTRADICTED,
    IN_VIEW,
    OUT_OF_REACH,
    PARTLY,
    REPRODUCED,
    Found,
    Row,
    Value,
)

SMP = "mpich2-smp"


def _sim(collective: str, size: str) -> str:
    sizes = f" --bytes {size}" if size else ""
    return f"sim {collective} --machine mpich2{sizes} --against mpich,flat,{SMP} --no-tutti"


def _over_flat(collective: str, size: str) -> Callable[[Found], float]:
    def ratio(found: Found) -> float:
        (cell,) = [c for c in found.documents[0]["cells"] if c["collective"] == collective]
        times = cell["us"]
        flat = times["flat"] if collective == "scan" else min(times["mpich"], times["flat"])
        return float(flat / times[SMP])

    return ratio


def _row(
    figure: str,
    collective: str,
    size: str,
    says: str,
    verdict: str,
    value: float,
    least: float,
    most: float,
    why: str = "",
    more: Sequence[Value] = (),
    commands: tuple[str, ...] = (),
) -> Row:
    ours = _over_flat(collective, size)
    return Row(
        f"mpich2/{figure}",
        f"{collective}{', ' + size if size else ''}: {says}",
        verdict,
        (_sim(collective, size), *commands),
        (Value("hierarchical over the better flat one", value, ours, least, most, "x"), *more),
        why=why,
        minutes=0.5 if size != "1M" else 1,
    )


def _ahead(collective: str, size: str) -> Value:
    return Value("hierarchical is ahead", 1.0, _over_flat(collective, size), 1.05, 99, "x")


PIPELINED, PLAIN = "hierarchical+binary+binomial", "hierarchical+binomial+binomial"


def _both(collective: str) -> str:
    return (
        f"model predict {collective} --algorithm {PIPELINED},{PLAIN} --machine mpich2 --ranks 64 "
        "--messages --bytes 8"
    )


ALIKE = Value(
    "pipelined over plain hierarchical",
    1.0,
    lambda found: found.us(PIPELINED, "8", 1) / found.us(PLAIN, "8", 1),
    unit="x",
)
GAINS = "the hierarchy brings significant benefits (section 5; the values are in a picture)"


def _messages_alpha(found: Found) -> tuple[float, float, float]:
    """t between nodes and within, and alpha, the part of t after which the next message leaves."""
    network, memory = (found.documents[0]["machine"][name] for name in ("network", "memory"))
    between = network["latency_us"] + 2 * network["overhead_us"]
    within = memory["latency_us"] + 2 * memory["overhead_us"]
    return between, within, network["gap_us"] / between


def theory_short(found: Found) -> float:
    """Sections 3.1, 4.3: (1 + alpha) log2(p) t_inter + log2(c) t_local, of 16 nodes of 4."""
    between, within, alpha = _messages_alpha(found)
    return (1 + alpha) * 4 * between + 2 * within


def theory_long(bytes_: int) -> Callable[[Found], float]:
    """Section 3.1: beta l, in us."""
    return lambda found: bytes_ / found.documents[0]["machine"]["network"]["gigabytes"] / 1000


def _smp_us(found: Found) -> float:
    return float(found.documents[0]["cells"][0]["us"][SMP])


LONG_REDUCE = (
    "MPICH's reduce-scatter and gather over all ranks sends fewer bytes through a node than a binary "
    "tree, whose inner nodes receive every byte twice"
)


def _spread(algorithm: str) -> str:
    return (
        f"sim bcast --machine mpich2 --cores 6 --bytes 1K --roots 0,1,5,6,7,50,95 --no-tutti "
        f"--against {algorithm}"
    )


def _slowest_root(found: Found, command: int, key: str) -> float:
    times = [cell["us"][key] for cell in found.documents[command]["cells"]]
    return float(max(times) / min(times))


def _table1(collective: str, algorithm: str, size: str) -> tuple[str, ...]:
    base = (
        f"model predict {collective} --algorithm {algorithm} --ranks 64 --messages --bytes {size}"
    )
    return (f"{base} --machine mpich2", f"{base} --machine free.json")


FREE = {
    "free.json": {
        "like": "mpich2",
        "name": "free",
        "messages": {"overhead": 0, "latency": 0, "byte": 0, "shared": 0},
    }
}


def _between(found: Found) -> float:
    whole, free = (one["cells"][0]["predicted_us"] for one in found.documents)
    return float(100 * free / whole)


MPICH2 = (
    Row(
        "mpich2/2-theory",
        "bcast of a few bytes takes (1 + alpha) log2(p) t + log2(c) t_local",
        IN_VIEW,
        (_sim("bcast", "8"),),
        (Value("8 B", theory_short, _smp_us, unit="us"),),
        why="alpha, 1/3, is read as the gap of an adapter",
    ),
    Row(
        "mpich2/4-theory",
        "bcast of long messages takes beta l",
        CONTRADICTED,
        (_sim("bcast", "1M"),),
        (Value("1 MiB", theory_long(1 << 20), _smp_us, unit="us"),),
        why="an inner node of the binary tree sends every byte twice through its one adapter",
        minutes=1,
    ),
    Row(
        "mpich2/8-theory",
        "reduce of a few bytes takes as long as bcast, (1 + alpha) log2(p) t + log2(c) t_local",
        CONTRADICTED,
        (_sim("reduce", "8"),),
        (Value("8 B", theory_short, _smp_us, unit="us"),),
        why="both children of a rank send at the same time, so no gap adds to a step",
    ),
    Row(
        "mpich2/10-theory",
        "reduce of long messages takes beta l, as bcast",
        CONTRADICTED,
        (_sim("reduce", "1M"),),
        (Value("1 MiB", theory_long(1 << 20), _smp_us, unit="us"),),
        why="an inner node of the binary tree receives every byte twice through its one adapter",
        minutes=1,
    ),
    _row(
        "2",
        "bcast",
        "8",
        "pipelined and plain hierarchical ones are similarly good (section 4.3)",
        CONTRADICTED,
        1.0,
        0.9,
        9,
        "a binary tree has more steps than a binomial one",
        (ALIKE,),
        (_both("bcast"),),
    ),
    _row("3", "bcast", "256K", GAINS, REPRODUCED, 1.0, 1.1, 9),
    _row("4", "bcast", "1M", GAINS, REPRODUCED, 1.0, 1.1, 9),
    _row("5", "scan", "8", "hierarchical is better in all cases", REPRODUCED, 1.0, 1.1, 99),
    _row(
        "6",
        "scan",
        "256K",
        "up to 20 times",
        PARTLY,
        20.0,
        0.8,
        1.2,
        "against recursive doubling over all ranks; SMPI has one scan for all MPIs",
        (_ahead("scan", "256K"),),
    ),
    _row(
        "7",
        "scan",
        "1M",
        "up to 20 times",
        PARTLY,
        20.0,
        0.8,
        1.2,
        "as with 256 KiB",
        (_ahead("scan", "1M"),),
    ),
    _row(
        "8",
        "reduce",
        "8",
        "pipelined and plain hierarchical ones are similarly good",
        REPRODUCED,
        1.0,
        0.9,
        9,
        more=(ALIKE,),
        commands=(_both("reduce"),),
    ),
    _row("9", "reduce", "256K", "better overall", CONTRADICTED, 1.0, 1.0, 9, LONG_REDUCE),
    _row("10", "reduce", "1M", "better overall", CONTRADICTED, 1.0, 1.0, 9, LONG_REDUCE),
    _row(
        "11",
        "allreduce",
        "8",
        "better in most cases",
        CONTRADICTED,
        1.0,
        1.05,
        9,
        "recursive doubling has as many steps between nodes",
    ),
    _row(
        "12",
        "allreduce",
        "1M",
        "better overall",
        CONTRADICTED,
        1.0,
        1.0,
        9,
        "over MPICH's it is, over `flat` (halving by levels) it is not",
    ),
    _row(
        "13",
        "barrier",
        "",
        "approximately 100% better (figures 13, 14)",
        PARTLY,
        2.0,
        0.8,
        1.2,
        "how the 30 us divide is chosen in view of this row",
        (_ahead("barrier", ""),),
    ),
    Row(
        "mpich2/1",
        "flat binomial broadcasts depend on the root where nodes have 6 cores, hierarchical ones do not",
        PARTLY,
        (_spread("flat"), _spread(SMP)),
        (
            Value(
                "flat, slowest root over quickest",
                1.0,
                lambda f: _slowest_root(f, 0, "flat"),
                1.05,
                9,
                "x",
            ),
            Value("hierarchical, the same", 1.0, lambda f: _slowest_root(f, 1, SMP), 1, 1.05, "x"),
        ),
        why="the hierarchical one depends on the root, too, by 11%",
        minutes=0.5,
    ),
    *(
        Row(
            f"mpich2/table1-{collective}",
            f"{collective}: the time between nodes dominates",
            REPRODUCED,
            _table1(collective, algorithm, size),
            (Value(f"{size} bytes, part between nodes, at least", 50.0, _between, 1, 2, "%"),),
            files=FREE,
        )
        for collective, algorithm, size in (
            ("barrier", "hierarchical+dissemination+dissemination", "8"),
            ("bcast", "hierarchical+binary+binomial", "256K"),
            ("reduce", "hierarchical+binary+halving", "256K"),
            ("allreduce", "hierarchical+halving+binomial", "256K"),
            ("scan", "hierarchical+doubling+doubling", "256K"),
        )
    ),
    Row(
        "mpich2/table1",
        "the cells of Table 1",
        OUT_OF_REACH,
        why="they are in a picture; the rows mpich2/table1-... compare with the sentence",
    ),
)

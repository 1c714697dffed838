"""Rows of "Hierarchical collectives in MPICH2": 16 nodes of 4 cores, an assumed Gigabit Ethernet."""

from collections.abc import Callable, Sequence
from math import inf
from statistics import median

from tutti.papers.row import (
    CONTRADICTED,
    IN_VIEW,
    OUT_OF_REACH,
    PARTLY,
    REPRODUCED,
    WHOLE,
    Found,
    Reader,
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
    value: float | None,
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
    return Value("hierarchical is ahead", None, _over_flat(collective, size), 1.05, inf, "x")


PIPELINED, PLAIN = "hierarchical+binary+binomial", "hierarchical+binomial+binomial"


def _both(collective: str) -> str:
    return (
        f"model predict {collective} --algorithm {PIPELINED},{PLAIN} --machine mpich2 --ranks 64 "
        "--messages --bytes 8"
    )


ALIKE = Value(
    "pipelined over plain hierarchical",
    None,
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


def _long_theory(collective: str, figures: Sequence[str], says: str, why: str) -> Sequence[Row]:
    sizes = (("256K", "256 KiB", 1 << 18), ("1M", "1 MiB", 1 << 20))
    return tuple(
        Row(
            f"mpich2/{figure}-theory",
            says + f" ({text})",
            CONTRADICTED,
            (_sim(collective, size),),
            (Value(text, theory_long(bytes_), _smp_us, unit="us"),),
            why=why,
            minutes=0.5 if size == "256K" else 1,
        )
        for figure, (size, text, bytes_) in zip(figures, sizes, strict=True)
    )


LONG_REDUCE = (
    "MPICH's reduce-scatter and gather over all ranks sends fewer bytes through a node than a binary "
    "tree, whose inner nodes receive every byte twice"
)


# MPICH's binomial tree counts ranks from the root, as the paper's figure 1. Tutti's goes over
# intervals of ranks, so where nodes have a power of two of ranks it is good for every root.
FLAT = "mpich"


def _spread(variant: str, cores: int) -> str:
    return (
        f"sim bcast --machine mpich2 --cores {cores} --bytes 1K --roots all --no-tutti "
        f"--against {variant}"
    )


def _over_quickest_root(of: Callable[[Sequence[float]], float], command: int, key: str) -> Reader:
    def ratio(found: Found) -> float:
        times = [float(cell["us"][key]) for cell in found.documents[command]["cells"]]
        return of(times) / min(times)

    return ratio


# The algorithms of Table 1, as in mpich2-smp.map: by collective, with the sizes that they serve.
PIPELINE = "--segment 5120"
TABLE1 = {
    "barrier": (("hierarchical+dissemination+dissemination", WHOLE, "8"),),
    "bcast": (("hierarchical+binary+binomial", PIPELINE, "8,256K,1M"),),
    "reduce": (
        ("hierarchical+binary+binomial", PIPELINE, "8"),
        ("hierarchical+binary+halving", PIPELINE, "256K,1M"),
    ),
    "allreduce": (
        ("hierarchical+doubling+binomial", WHOLE, "8"),
        ("hierarchical+halving+binomial", WHOLE, "256K,1M"),
    ),
    "scan": (("hierarchical+doubling+doubling", WHOLE, "8,256K,1M"),),
}


def _table1(collective: str) -> tuple[str, ...]:
    """Each algorithm with the machine's costs, and with messages within nodes that cost nothing."""
    return tuple(
        f"model predict {collective} --algorithm {algorithm} --ranks 64 --messages {words} "
        f"--bytes {sizes} --machine {machine}"
        for algorithm, words, sizes in TABLE1[collective]
        for machine in ("mpich2", "free.json")
    )


FREE = {
    "free.json": {
        "like": "mpich2",
        "name": "free",
        "messages": {"overhead": 0, "latency": 0, "byte": 0, "shared": 0},
    }
}


def _between(collective: str) -> tuple[Value, ...]:
    def part(algorithm: str, size: str, command: int) -> Reader:
        return lambda found: (
            100 * found.us(algorithm, size, command + 1) / found.us(algorithm, size, command)
        )

    return tuple(
        Value(f"{size}, part between nodes", None, part(algorithm, size, 2 * at), 50, 100, "%")
        for at, (algorithm, _, sizes) in enumerate(TABLE1[collective])
        for size in sizes.split(",")
    )


MPICH2 = (
    Row(
        "mpich2/2-theory",
        "bcast of a few bytes takes (1 + alpha) log2(p) t + log2(c) t_local",
        IN_VIEW,
        (_sim("bcast", "8"),),
        (Value("8 B", theory_short, _smp_us, unit="us"),),
        why="alpha, 1/3, is read as the gap of an adapter",
    ),
    *_long_theory(
        "bcast",
        ("3", "4"),
        "bcast of long messages takes beta l",
        "an inner node of the binary tree sends every byte twice through its one adapter",
    ),
    Row(
        "mpich2/8-theory",
        "reduce of a few bytes takes as long as bcast, (1 + alpha) log2(p) t + log2(c) t_local",
        CONTRADICTED,
        (_sim("reduce", "8"),),
        (Value("8 B", theory_short, _smp_us, unit="us"),),
        why="both children of a rank send at the same time, so no gap adds to a step",
    ),
    *_long_theory(
        "reduce",
        ("9", "10"),
        "reduce of long messages takes beta l, as bcast",
        "an inner node of the binary tree receives every byte twice through its one adapter",
    ),
    _row(
        "2",
        "bcast",
        "8",
        "pipelined and plain hierarchical ones are similarly good (section 4.3)",
        CONTRADICTED,
        None,
        0.9,
        inf,
        "a binary tree has more steps than a binomial one",
        (ALIKE,),
        (_both("bcast"),),
    ),
    _row("3", "bcast", "256K", GAINS, REPRODUCED, None, 1.1, inf),
    _row("4", "bcast", "1M", GAINS, REPRODUCED, None, 1.1, inf),
    _row("5", "scan", "8", "hierarchical is better in all cases", REPRODUCED, None, 1.1, inf),
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
        None,
        0.9,
        inf,
        more=(ALIKE,),
        commands=(_both("reduce"),),
    ),
    _row("9", "reduce", "256K", "better overall", CONTRADICTED, None, 1.0, inf, LONG_REDUCE),
    _row("10", "reduce", "1M", "better overall", CONTRADICTED, None, 1.0, inf, LONG_REDUCE),
    _row(
        "11",
        "allreduce",
        "8",
        "better in most cases",
        CONTRADICTED,
        None,
        1.05,
        inf,
        "recursive doubling has as many steps between nodes",
    ),
    _row(
        "12",
        "allreduce",
        "1M",
        "better overall",
        CONTRADICTED,
        None,
        1.0,
        inf,
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
        "flat binomial broadcasts depend on the root, hierarchical ones do not",
        PARTLY,
        (_spread(FLAT, 4), _spread(FLAT, 6), _spread(SMP, 6)),
        tuple(
            Value(
                f"{name}, {which} root over quickest",
                None,
                _over_quickest_root(of, command, key),
                least,
                most,
                "x",
            )
            for command, name, key, least, most in (
                (0, "flat, 4 cores a node", FLAT, 1.05, inf),
                (1, "flat, 6 cores", FLAT, 1.05, inf),
                (2, "hierarchical, 6 cores", SMP, 1, 1.05),
            )
            for which, of in (("slowest", max), ("median", median))
        ),
        why="the hierarchical one depends on the root, too, by 11%",
        minutes=0.5,
    ),
    *(
        Row(
            f"mpich2/table1-{collective}",
            f"{collective}: the time between nodes dominates",
            REPRODUCED,
            _table1(collective),
            _between(collective),
            files=FREE,
        )
        for collective in TABLE1
    ),
    Row(
        "mpich2/table1",
        "the cells of Table 1",
        OUT_OF_REACH,
        why="they are in a picture; the rows mpich2/table1-... compare with the sentence",
    ),
)

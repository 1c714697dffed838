"""Rows of "Scalable PGAS collective operations in NUMA clusters" (NUMACol)."""

from math import inf

from tutti.papers.row import (
    CONTRADICTED,
    OUT_OF_REACH,
    PARTLY,
    REPRODUCED,
    WHOLE,
    Found,
    Reader,
    Row,
    Value,
    times_as_fast,
)

RING = "token_ring:1:threshold=8K"
PULL, PULL_F = "levels:binomial:binomial", "levels:binomial:flat"
BETWEEN = "hierarchical+binomial+"


def _parts(
    collective: str,
    machine: str,
    ranks: int,
    sizes: str,
    way: str = "--reached",
    algorithms: str = f"flat,binomial,{RING}",
) -> str:
    return (
        f"model predict {collective} --algorithm {algorithms} --machine {machine} "
        f"--ranks {ranks} {way} {WHOLE} --bytes {sizes}"
    )


def _table2(machine: str, ranks: int, sizes: str) -> tuple[str, ...]:
    """Whole messages down binomial trees, and fragments with flat trees within a region."""
    if machine == "superdome":
        words = "--reached"
        pull, fragments = PULL, PULL_F
    else:
        words = "--messages"
        pull, fragments = BETWEEN + PULL, BETWEEN + PULL_F
    base = f"--machine {machine} --ranks {ranks} {words} --bytes {sizes}"
    return (
        f"model predict bcast --algorithm {pull} {WHOLE} {base}",
        f"model predict bcast --algorithm {fragments} --segment 32768 {base}",
    )


def _at(found: Found, command: int, size: int) -> float:
    for cell in found.documents[command]["cells"]:
        if cell["bytes"] == size:
            return float(cell["predicted_us"])
    raise KeyError(size)


def _fragments(size: int) -> Reader:
    return lambda found: _at(found, 1, size)


def _gain(size: int) -> Reader:
    return lambda found: _at(found, 0, size) / _at(found, 1, size)


def _gains(
    machine: str,
    ranks: int,
    name: str,
    why: str,
    verdict: str,
    *rows: tuple[str, int, float, float],
) -> Row:
    """A row of Table 2; `rows` has the paper's times of Pull and Pull-f-f for each size."""
    values: list[Value] = []
    for text, size, pull, fragments in rows:
        values.append(Value(f"fragments, {text}", fragments, _fragments(size), 0.8, 1.2, "us"))
        values.append(
            Value(
                f"gain, {text}",
                pull / fragments,
                _gain(size),
                0.8,
                1.2,
                "x",
            )
        )
    return Row(
        f"numacol/table2-{machine}",
        f"{name}: how much faster fragments are than whole messages",
        verdict,
        _table2(machine, ranks, ",".join(text for text, *_ in rows)),
        tuple(values),
        why=why,
        minutes=0 if ranks < 500 else 1,
    )


def _ring_over_flat(text: str, least: float = 0.99, most: float = 1.01) -> Value:
    return Value(
        f"ring over flat, {text}", None, times_as_fast(RING, "flat", text), least, most, "x"
    )


def _beside_flat(*sizes: str) -> tuple[Value, ...]:
    values: list[Value] = []
    for text in sizes:
        tree = times_as_fast("binomial", "flat", text)
        values.append(_ring_over_flat(text))
        values.append(Value(f"binomial over flat, {text}", None, tree, 1, inf, "x"))
    return tuple(values)


def _on_finis_terrae(figure: str, collective: str, says: str) -> Row:
    return Row(
        f"numacol/{figure}-finis-terrae",
        says,
        PARTLY,
        (_parts(collective, "finis-terrae", 1024, "16K,64K"),),
        (_ring_over_flat("16K", 1.05, inf), _ring_over_flat("64K", 0.95, 1.1)),
        why="our parts between nodes have no tokens, unless they go through slots",
    )


ALL_ALIKE = "the root's link decides for all of them here, so a tree may come out ahead by 1%"
ONE_AFTER_ANOTHER = "our whole messages leave a rank one after another, so fragments gain less"

NUMACOL = (
    _gains(
        "superdome",
        128,
        "Superdome, 128 ranks",
        "the ring of slots cuts longer messages, whatever a rule asks for; times are shorter",
        PARTLY,
        ("64K", 1 << 16, 1152, 645),
    ),
    _gains(
        "judge",
        648,
        "JUDGE, 648 ranks",
        ONE_AFTER_ANOTHER,
        PARTLY,
        ("64K", 1 << 16, 341, 269),
        ("1M", 1 << 20, 6274, 2736),
    ),
    _gains(
        "finis-terrae",
        1024,
        "Finis Terrae, 1,024 ranks",
        ONE_AFTER_ANOTHER,
        PARTLY,
        ("64K", 1 << 16, 1057, 790),
        ("1M", 1 << 20, 22181, 6617),
    ),
    _gains(
        "juropa",
        4096,
        "JuRoPA, 4,096 ranks",
        ONE_AFTER_ANOTHER,
        PARTLY,
        ("64K", 1 << 16, 563, 461),
        ("1M", 1 << 20, 13386, 3718),
    ),
    _gains(
        "svg",
        192,
        "SVG, 192 ranks",
        "there fragments lose in the paper: copies are MPI messages over TCP without overlap, which the network here does not have",
        CONTRADICTED,
        ("1M", 1 << 20, 49175, 63032),
    ),
    Row(
        "numacol/3",
        "on a full node of SVG it matters to know the regions",
        REPRODUCED,
        (
            f"model predict bcast --algorithm {PULL_F},binomial --machine svg --ranks 24 --reached --segment 32768 --bytes 16K,1M",
        ),
        tuple(
            Value(
                f"binomial over levels, {text}",
                None,
                times_as_fast("binomial", PULL_F, text),
                1.05,
                inf,
                "x",
            )
            for text in ("16K", "1M")
        ),
    ),
    Row(
        "numacol/3-berkeley",
        "160, 61 and 18 times as fast as BerkeleyCol (JuRoPA, Finis Terrae, SVG, 1 MB)",
        OUT_OF_REACH,
        why="GASNet's broadcast breaks down for reasons that no figure of a link explains",
    ),
    Row(
        "numacol/4",
        "reduce of one element: all binomial trees alike on nodes with a power of two of ranks",
        REPRODUCED,
        (
            "model predict reduce --algorithm binomial,hierarchical+binomial+levels:binomial:binomial --machine juropa --ranks 512 --messages --bytes 8",
        ),
        (
            Value(
                "binomial over levels",
                None,
                lambda f: f.ratio("binomial", BETWEEN + PULL, "8"),
                0.95,
                1.05,
                "x",
            ),
        ),
    ),
    _on_finis_terrae(
        "5",
        "scatter",
        "scatter, Finis Terrae, 1,024 ranks: flat best; 64 KB, the ring close behind; 16 KB, the ring "
        "worst",
    ),
    Row(
        "numacol/5-judge",
        "scatter, JUDGE, 648 ranks: the ring within 1% of the flat tree, other trees never best",
        PARTLY,
        (_parts("scatter", "judge", 648, "16K,64K"),),
        _beside_flat("16K", "64K"),
        why=ALL_ALIKE,
    ),
    Row(
        "numacol/5-superdome",
        "scatter on the Superdome: flat best, the ring about 30% below, the tree far behind",
        PARTLY,
        (_parts("scatter", "superdome", 128, "64K"),),
        (
            Value(
                "ring over flat",
                54 / 37,
                lambda f: f.us(RING, "64K") / f.us("flat", "64K"),
                0.75,
                1.25,
                "x",
            ),
            Value(
                "tree over flat",
                54 / 2.75,
                lambda f: f.us("binomial", "64K") / f.us("flat", "64K"),
                0.75,
                1.25,
                "x",
            ),
            Value(
                "tree is slower than the ring",
                None,
                lambda f: f.us("binomial", "64K") / f.us(RING, "64K"),
                2,
                inf,
                "x",
            ),
        ),
        why="on one node our ring has no semaphores, so it is as fast as flat",
    ),
    Row(
        "numacol/5-svg",
        "scatter on SVG: the ring suffers from the latency of its tokens",
        CONTRADICTED,
        (_parts("scatter", "svg", 192, "16K", "--messages"),),
        (
            Value(
                "ring over flat, 16 KiB",
                None,
                lambda f: f.us(RING, "16K") / f.us("flat", "16K"),
                1.05,
                inf,
                "x",
            ),
        ),
        why="our scatters between nodes have no tokens, unless parts go through slots",
    ),
    Row(
        "numacol/5-juropa",
        "scatter, JuRoPA, 4,096 ranks (here 1,024): as on JUDGE",
        PARTLY,
        (_parts("scatter", "juropa", 1024, "16K,64K"),),
        _beside_flat("16K", "64K"),
        why="the root's link decides for all of them here; BerkeleyCol, which has less than half of "
        "flat's bandwidth with 64 KB, is not modelled; plans of more ranks need more shared memory "
        "than a rank has",
        is_part=True,
    ),
    Row(
        "numacol/6",
        "gather, JUDGE, 648 ranks: as scatter",
        PARTLY,
        (_parts("gather", "judge", 648, "16K,64K"),),
        _beside_flat("16K", "64K"),
        why=ALL_ALIKE + "; the ring is 3% behind flat",
    ),
    Row(
        "numacol/6-juropa",
        "gather, JuRoPA, 4,096 ranks: as scatter",
        CONTRADICTED,
        (_parts("gather", "juropa", 4096, "16K,64K", algorithms=f"flat,{RING}"),),
        tuple(_ring_over_flat(text) for text in ("16K", "64K")),
        why="the ring is 4% behind flat here; the binomial tree needs more shared memory than 4,096 "
        "ranks have by default",
    ),
    _on_finis_terrae("6", "gather", "gather, Finis Terrae, 1,024 ranks: as scatter"),
    Row(
        "numacol/6-superdome",
        "gather on the Superdome: as scatter",
        CONTRADICTED,
        (_parts("gather", "superdome", 128, "64K"),),
        (
            Value(
                "ring over flat",
                54 / 37,
                lambda f: f.us(RING, "64K") / f.us("flat", "64K"),
                0.75,
                1.25,
                "x",
            ),
            Value(
                "tree over flat",
                54 / 2.75,
                lambda f: f.us("binomial", "64K") / f.us("flat", "64K"),
                0.75,
                1.25,
                "x",
            ),
        ),
        why="the paper's best flat gather is by push; our flat one is by the root, and the ring, which "
        "has no tokens on one node, is such a push",
    ),
    Row(
        "numacol/6-svg",
        "gather on SVG: as scatter, the ring suffers from the latency of its tokens",
        CONTRADICTED,
        (_parts("gather", "svg", 192, "16K", "--messages"),),
        (
            Value(
                "ring over flat, 16 KiB",
                None,
                lambda f: f.us(RING, "16K") / f.us("flat", "16K"),
                1.05,
                inf,
                "x",
            ),
        ),
        why="a rank hands the token on when its part has left, so the root's link is always busy",
    ),
    Row(
        "numacol/7",
        "broadcast beside MPI on JuRoPA: 1 MB, MPI is ahead from 64 to 2,048 ranks and behind with "
        "4,096; 16 KB, MPI is ahead with more than 256",
        PARTLY,
        tuple(
            f"model predict bcast --algorithm {algorithm} --machine juropa --ranks {ranks} --messages {words} --bytes 1M"
            for ranks in (64, 256)
            for algorithm, words in ((BETWEEN + PULL_F, "--segment 32768"), ("ring", WHOLE))
        )
        + (
            f"model predict bcast --algorithm {BETWEEN}{PULL_F},halving --machine juropa --ranks 512 --messages --segment 32768 --bytes 16K",
        ),
        (
            Value(
                "Pull-f-f over MPI, 64 ranks",
                None,
                lambda f: _at(f, 0, 1 << 20) / _at(f, 1, 1 << 20),
                1,
                inf,
                "x",
            ),
            Value(
                "Pull-f-f over MPI, 256 ranks",
                None,
                lambda f: _at(f, 2, 1 << 20) / _at(f, 3, 1 << 20),
                1,
                inf,
                "x",
            ),
            Value(
                "Pull-f-f over MPI, 512 ranks, 16 KiB",
                None,
                lambda f: f.us(BETWEEN + PULL_F, "16K", 4) / f.us("halving", "16K", 4),
                1,
                inf,
                "x",
            ),
        ),
        why="1 MB: MPI is ahead from 256 ranks on, and its rings of 1,024 ranks and more did not end "
        "in 150 s; 16 KB: it is behind",
    ),
    Row(
        "numacol/8",
        "scatter beside MPI on JuRoPA: the ring up to 3 times as fast as MPI's binomial tree",
        CONTRADICTED,
        (_parts("scatter", "juropa", 64, "16K,64K", "--messages"),),
        tuple(
            Value(
                f"tree over ring, {text}",
                3.0,
                times_as_fast("binomial", RING, text),
                0.5,
                1.1,
                "x",
            )
            for text in ("16K", "64K")
        ),
        why="the root's link decides here; what costs the paper's MPI time in nodes is not modelled",
    ),
    Row(
        "numacol/9",
        "reduce of 8 B beside MPI on JuRoPA: all binomial trees alike, and MPI ahead of them by its "
        "shorter start-up",
        PARTLY,
        (
            f"model predict reduce --algorithm binomial,{BETWEEN + PULL},{BETWEEN + PULL_F} --machine juropa --ranks 4096 --messages --bytes 8",
        ),
        (
            Value(
                "binomial over levels",
                None,
                times_as_fast("binomial", BETWEEN + PULL, "8"),
                0.95,
                1.05,
                "x",
            ),
            Value(
                "levels over MPI's binomial tree",
                None,
                times_as_fast(BETWEEN + PULL, "binomial", "8"),
                1.05,
                inf,
                "x",
            ),
        ),
        why="MPI's tree and ours go by the same messages here, so that none starts sooner",
    ),
    Row(
        "numacol/10",
        "JuRoPA, 4,096 ranks: dynamic fragments are twice as fast as whole messages, fixed ones more "
        "than four times (4 MB)",
        CONTRADICTED,
        tuple(
            f"model predict bcast --algorithm {BETWEEN + PULL} --machine juropa --ranks 4096 --messages {words} --bytes {size}"
            for size, words in (
                ("1M", WHOLE),
                ("1M", "--segment 524288"),
                ("4M", WHOLE),
                ("4M", "--segment 32768"),
            )
        ),
        (
            Value(
                "whole over halves, 1 MiB",
                2.0,
                lambda f: _at(f, 0, 1 << 20) / _at(f, 1, 1 << 20),
                0.8,
                1.2,
                "x",
            ),
            Value(
                "whole over fixed fragments, 4 MiB",
                4.0,
                lambda f: _at(f, 2, 1 << 22) / _at(f, 3, 1 << 22),
                0.8,
                inf,
                "x",
            ),
        ),
        why=ONE_AFTER_ANOTHER,
        minutes=1,
    ),
    Row(
        "numacol/11",
        "JuRoPA, 512 x 6: a tree by levels is 1.5 times as fast as a binomial one at 16 MB, and the "
        "difference is small up to 1 MB",
        PARTLY,
        (
            f"model predict bcast --algorithm binomial,{BETWEEN + PULL} --machine juropa-6 --ranks 3072 --messages {WHOLE} --bytes 16,1M,16M",
        ),
        (
            Value(
                "16 MiB", 1.5, lambda f: f.ratio("binomial", BETWEEN + PULL, "16M"), 0.8, 1.2, "x"
            ),
            Value(
                "1 MiB, a small difference",
                None,
                lambda f: f.ratio("binomial", BETWEEN + PULL, "1M"),
                1,
                1.2,
                "x",
            ),
        ),
        why="messages of a node do not share its adapter with each other's waiting here",
    ),
    Row(
        "numacol/upc",
        "UPC's own functions on shared arrays, across nodes",
        OUT_OF_REACH,
        why="there is no UPC face; tutti_reduce_array serves threads of one process",
    ),
)

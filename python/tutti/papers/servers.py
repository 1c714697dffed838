"""Rows of "Communication servers" (paper 004): injection, simulated."""

from collections.abc import Callable
from math import inf
from statistics import fmean

from tutti.papers.row import (
    CONTRADICTED,
    IN_VIEW,
    OUT_OF_REACH,
    PARTLY,
    REPRODUCED,
    Found,
    Reader,
    Row,
    Value,
)
from tutti.saturation import enough_cores, fractions

ONE_CLIENT, TWO_CLIENTS = 1, 2


def _cores(kind: str, size: int) -> Reader:
    return lambda found: float(enough_cores(found.documents[0]["map"], kind, size))


def _gain(kind: str, size: int, messages: int, clients: int) -> Reader:
    def gain(found: Found) -> float:
        for row in found.documents[0]["parallel"]:
            if (row["kind"], row["bytes"], row["messages"], row["clients"]) == (
                kind,
                size,
                messages,
                clients,
            ):
                return float(row["gain"])
        raise KeyError(f"{messages} {kind}s of {size} bytes")

    return gain


def _row(
    name: str,
    machine: str,
    experiment: str,
    says: str,
    verdict: str,
    value: Value,
    why: str = "",
    more: tuple[Value, ...] = (),
) -> Row:
    return Row(
        f"servers/{name}",
        says,
        verdict,
        (f"sim {experiment} --servers --machine {machine}",),
        (value, *more),
        why=why,
    )


def _gains_up_to(name: str, machine: str, says: str, here: int, paper: int) -> Row:
    """Figure 11 has a client for each NUMA region."""
    return Row(
        f"servers/{name}",
        says,
        PARTLY,
        (f"sim parallel --servers --machine {machine}",),
        tuple(
            Value(
                f"gain, {size >> 10} KiB", None, _gain("get", size, 64, TWO_CLIENTS), 1.05, inf, "x"
            )
            for size in (here, paper)
        ),
        why=f"up to {here >> 10} KiB here",
    )


FIXED = "a figure of the machine was fixed so that the sentence holds"


def _full(kind: str) -> Reader:
    return lambda found: list(fractions(found.documents[0]["map"], kind, 32768).values())[-1]


def _all_to_all(size: int, servers: int) -> Reader:
    def gain(found: Found) -> float:
        for row in found.documents[0]["alltoall"]:
            if row["bytes"] == size:
                return float(next(o["gain"] for o in row["served"] if o["servers"] == servers))
        raise KeyError(size)

    return gain


LAST, SHORTEST, OF_4_KIB = -1, -2, -4  # problems of figure 10, with two and three servers
MULTIGRID = "sim multigrid --servers --machine {}"
FEW_MESSAGES = "six messages at a time, of which those of fine levels are too long to gain"


def _fft(problem: int) -> Reader:
    """The better one of two and of three servers with short messages, else two."""

    def gain(found: Found) -> float:
        served = found.documents[0]["fft"][problem]["served"]
        return max(float(one["whole_gain"]) for one in served[: 2 if problem == SHORTEST else 1])

    return gain


def _v_cycles(way: str, of: Callable[[list[float]], float]) -> Reader:
    """A number for the gains with three servers over all problems."""

    def gain(found: Found) -> float:
        rows = found.documents[0]["multigrid"]
        return of([float(row["served"][-1]["gains"][way]) for row in rows])

    return gain


def _shares(found: Found) -> float:
    shares = {
        (row["boxes"], row["side"]): float(row["communicating"])
        for row in found.documents[0]["multigrid"]
    }
    return shares[64, 32] / shares[1, 128]


SERVERS = (
    _row(
        "2-puts",
        "edison",
        "saturation",
        "Aries: puts of 1 KiB need more than 8 cores",
        IN_VIEW,
        Value("cores", None, _cores("put", 1024), 9, inf),
        FIXED,
    ),
    _row(
        "2-gets",
        "edison",
        "saturation",
        "Aries: gets of 1 KiB need 4 cores",
        IN_VIEW,
        Value("cores", 4, _cores("get", 1024), 1, 1),
        FIXED,
    ),
    _row(
        "2-long",
        "edison",
        "saturation",
        "Aries: of long messages more cores are slower",
        IN_VIEW,
        Value("24 cores over the peak, 32 KiB", 0.9, _full("get"), 0.8, 1.1),
        FIXED,
    ),
    _row(
        "3-puts",
        "carver",
        "saturation",
        "InfiniBand: puts below 512 B need four or more cores",
        IN_VIEW,
        Value("cores, 128 B", 4, _cores("put", 128), 1, 2),
        FIXED,
    ),
    _row(
        "3-long-puts",
        "carver",
        "saturation",
        "InfiniBand: longer puts need one or two cores",
        REPRODUCED,
        Value("cores, 1 KiB", 2, _cores("put", 1024), 0.5, 1),
    ),
    _row(
        "3-gets",
        "carver",
        "saturation",
        "InfiniBand: gets below 8 KB need four or more cores",
        IN_VIEW,
        Value("cores, 4 KiB", 4, _cores("get", 4096), 1, 2),
        FIXED,
    ),
    _row(
        "4.1.1-4K",
        "edison",
        "parallel",
        "Aries: 64 gets of 4 KiB on two servers +120%, with clients on one or both sockets alike",
        PARTLY,
        Value("gain, both sockets", 2.2, _gain("get", 4096, 64, TWO_CLIENTS), 0.9, 1.1, "x"),
        "a client that is alone on its node gains more",
        (Value("gain, one", 2.2, _gain("get", 4096, 64, ONE_CLIENT), 0.9, 1.1, "x"),),
    ),
    _row(
        "4.1.1-8",
        "edison",
        "parallel",
        "Aries: 64 gets of 8 B on two servers +30%",
        IN_VIEW,
        Value("gain", 1.3, _gain("get", 8, 64, TWO_CLIENTS), 0.9, 1.1, "x"),
        FIXED,
    ),
    _row(
        "4.1.1-long",
        "edison",
        "parallel",
        "Aries: little above 4 KB",
        REPRODUCED,
        Value("gain, 8 KiB", None, _gain("get", 8192, 64, TWO_CLIENTS), 1, 1.1, "x"),
        more=(Value("gain, 16 KiB", None, _gain("get", 16384, 64, TWO_CLIENTS), 1, 1.1, "x"),),
    ),
    _row(
        "4.1.2",
        "carver",
        "parallel",
        "InfiniBand: gets of 4 KB +150% at best",
        REPRODUCED,
        Value("gain", 2.5, _gain("get", 4096, 64, TWO_CLIENTS), 0.9, 1.1, "x"),
    ),
    _row(
        "4.1.2-two",
        "carver",
        "parallel",
        "InfiniBand: gets gain from two operations on",
        REPRODUCED,
        Value("gain of two", None, _gain("get", 4096, 2, TWO_CLIENTS), 1.05, inf, "x"),
    ),
    _row(
        "4.1.2-puts",
        "carver",
        "parallel",
        "InfiniBand: puts of 128 B +80% at best, and no gain from fewer than 32 messages",
        PARTLY,
        Value("gain of 64", 1.8, _gain("put", 128, 64, ONE_CLIENT), 0.9, 1.1, "x"),
        FIXED + "; 16 messages gain here, too",
        (Value("gain of 16", None, _gain("put", 128, 16, ONE_CLIENT), 1, 1.05, "x"),),
    ),
    _gains_up_to("11-aries", "edison", "Aries: servers gain up to 8 KB", 4096, 8192),
    _gains_up_to("11-infiniband", "carver", "InfiniBand: servers gain up to 32 KB", 8192, 32768),
    Row(
        "servers/9",
        "all-to-all by gets on 1,024 nodes: up to 30% faster with servers below 4 KB",
        PARTLY,
        ("sim alltoall --servers --machine edison --bytes 8,512,1K,2K",),
        tuple(
            Value(f"gain, {text}", 1.3, _all_to_all(size, 2), 0.9, 1.1, "x")
            for text, size in (("8 B", 8), ("512 B", 512), ("1 KiB", 1024), ("2 KiB", 2048))
        ),
        why="no network between adapters limits it here; the paper's MPI_Alltoall is not simulated",
    ),
    Row(
        "servers/10",
        "UPC-FT with servers, whole program: 23% faster on 12,288 cores with messages of 512 B",
        PARTLY,
        ("sim fft --servers --machine edison",),
        (Value("gain of two servers", 1.23, _fft(LAST), 0.9, 1.1, "x"),),
        why="three servers gain more; the speed of computing is a usual figure",
        is_part=True,
    ),
    Row(
        "servers/10-A",
        "UPC-FT on 1,536 cores: up to 49% faster with the shortest messages, 11% with those of 4 KB",
        PARTLY,
        ("sim fft --servers --machine edison",),
        (
            Value("gain, 256 B", 1.49, _fft(SHORTEST), 0.9, 1.1, "x"),
            Value("gain, 4 KiB", 1.11, _fft(OF_4_KIB), 0.9, 1.1, "x"),
        ),
        why="no network between adapters limits long messages here; 256 B is the better of two and "
        "three servers, 4 KiB has two",
    ),
    Row(
        "servers/5",
        "miniGMG: the time in communication depends on the number of boxes rather than the volume",
        CONTRADICTED,
        (MULTIGRID.format("edison"),),
        (Value("share, 64 boxes of 32 over 1 of 128, is above 1", None, _shares, 1.05, inf, "x"),),
        why="all faces for a neighbour are one message, as in the paper, so the volume decides here; "
        "what a box costs beside messages is not simulated",
    ),
    Row(
        "servers/6-left",
        "miniGMG with servers on the cores of its threads: up to 25% slower",
        OUT_OF_REACH,
        why="how a system shares cores is not simulated; `tutti bench apps multigrid --core-ways N` "
        "measures it",
    ),
    Row(
        "servers/6",
        "miniGMG, three servers on cores of their own get all transfers: 47% slower to 70% faster, 2% "
        "slower in the mean",
        PARTLY,
        (MULTIGRID.format("edison"),),
        (
            Value("gain, least", 0.53, _v_cycles("all", min), 0.9, 1.1, "x"),
            Value("gain, most", 1.7, _v_cycles("all", max), 0.9, 1.1, "x"),
            Value("gain, mean", 0.98, _v_cycles("all", fmean), 0.9, 1.1, "x"),
        ),
        why=FEW_MESSAGES,
    ),
    Row(
        "servers/7",
        "the same, selective: 76% faster at most, 40% in the mean; adaptive 64% and 36%",
        CONTRADICTED,
        (MULTIGRID.format("edison"),),
        (
            Value("gain, most", 1.76, _v_cycles("selective", max), 0.9, 1.1, "x"),
            Value("gain, mean", 1.4, _v_cycles("selective", fmean), 0.9, 1.1, "x"),
            Value("adaptive, most", 1.64, _v_cycles("adaptive", max), 0.9, 1.1, "x"),
            Value("adaptive, mean", 1.36, _v_cycles("adaptive", fmean), 0.9, 1.1, "x"),
        ),
        why=FEW_MESSAGES,
    ),
    Row(
        "servers/8",
        "miniGMG on InfiniBand, three servers on cores of their own: up to 80% faster",
        CONTRADICTED,
        (MULTIGRID.format("carver"),),
        (Value("gain, most", 1.8, _v_cycles("all", max), 0.9, 1.1, "x"),),
        why="three of a socket's four cores are servers', so one is left to compute; 56% faster at "
        "most, 86% with two servers and selective transfers",
    ),
)

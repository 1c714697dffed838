"""Regions: evenly spaced blocks of one buffer of one rank.
c.tmp[3]            all blocks of rank 3's scratch vector     c.tmp[3, 1]         its second
scratch vector
    c.out[3].block(2)   one block; also c.out[3][2]               c.out[3][2:6]       four; [::2]
    every second
    c.inp[3][5]         in an alltoall: rank 3's part for 5       c.out[5][3]         its
    destination
    c.out[3] = c.inp[0]                                           a copy
    c.out[3] = c.inp[0] + c.tmp[1]                                a reduce, in this order; sum(...)
    works too

`+` stands for the operation of the call. Regions are values that belong to the context that made
them.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, SupportsIndex

from tutti.plan.fault import fault

if TYPE_CHECKING:
    from tutti.plan.context import Context

IN, OUT, TMP = 0, 1, 2
NAMES = ("in", "out", "tmp")
# (rank, buffer, first, count, stride) for the core.
RegionTuple = tuple[int, int, int, int, int]
MOST_BLOCKS = 1 << 20


class Region:
    """`count` blocks of one buffer of one rank, from `first` on, `stride` blocks apart."""

    __slots__ = ("_context", "_open", "buffer", "count", "first", "rank", "stride")

    def __init__(
        self,
        context: Context,
        rank: int,
        buffer: int,
        first: int,
        count: int,
        stride: int = 1,
        open_ended: bool = False,
    ) -> None:
        self._context = context
        self.rank = rank
        self.buffer = buffer
        self.first = first
        self.count = count
        self.stride = stride
        self._open = open_ended  # scratch grows to the largest block that is named

    @property
    def context(self) -> Context:
        return self._context

    @property
    def room(self) -> int:
        """The number of blocks that can be taken from it; scratch grows up to MOST_BLOCKS."""
        return MOST_BLOCKS - self.first if self._open else self.count

    def as_tuple(self) -> RegionTuple:
        return (self.rank, self.buffer, self.first, self.count, self.stride)

    def block(self, index: SupportsIndex) -> Region:
        """One block of this region."""
        at = _whole_number(index, "a block")
        if at < 0 and not self._open:
            at += self.count
        if not 0 <= at < (MOST_BLOCKS if self._open else self.count):
            last = f"0..{self.count - 1}" if self.count > 1 else "only 0"
            hint = "" if self.count > 1 else self._context.hint_at_blocks(self.buffer)
            raise fault(f"{self!r} has no block {index}; its blocks are {last}{hint}")
        return Region(self._context, self.rank, self.buffer, self.first + at * self.stride, 1)

    def __getitem__(self, index: SupportsIndex | slice) -> Region:
        if not isinstance(index, slice):
            return self.block(index)
        length = self.count
        if self._open and index.stop is not None:
            length = max(length, _whole_number(index.stop, "a block"))
        try:
            run = range(*index.indices(length))
        except (TypeError, ValueError) as error:
            raise fault(f"{self!r}[{_slice_text(index)}]: {error}") from error
        if len(run) == 0 or run.step < 1 or run[-1] >= MOST_BLOCKS:
            raise fault(
                f"{self!r}[{_slice_text(index)}] selects no blocks in ascending order; the region "
                f"has blocks 0..{self.count - 1}"
            )
        stride = self.stride * run.step if len(run) > 1 else 1
        return Region(
            self._context,
            self.rank,
            self.buffer,
            self.first + run.start * self.stride,
            len(run),
            stride,
        )

    def __setitem__(self, index: SupportsIndex | slice, value: Value) -> None:
        self._context.assign(self[index], value)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Region]:
        return (self.block(index) for index in range(self.count))

    def __add__(self, other: Region | Combination) -> Combination:
        return Combination([self]) + other

    def __radd__(self, other: int) -> Region:
        # sum() starts with 0.
        return self if other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Region):
            return self._context is other._context and self.as_tuple() == other.as_tuple()
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.as_tuple())

    def __repr__(self) -> str:
        text = f"{NAMES[self.buffer]}[{self.rank}]"
        if self.count == 1:
            return text if self.first == 0 else f"{text}.{self.first}"
        return f"{text}.{self.first}+{self.count}" + (f"/{self.stride}" if self.stride > 1 else "")


class Combination:
    """Regions joined by `+`, which a reduce combines in this order."""

    __slots__ = ("regions",)

    def __init__(self, regions: list[Region]) -> None:
        self.regions = regions

    def __add__(self, other: Region | Combination) -> Combination:
        if isinstance(other, Region):
            return Combination([*self.regions, other])
        if isinstance(other, Combination):
            return Combination(self.regions + other.regions)
        raise fault(f"{other!r} is not a region; combine regions such as c.inp[0] and c.tmp[1]")

    def __radd__(self, other: int) -> Combination:
        return self if other == 0 else NotImplemented

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.regions))


# Values that can be assigned to a region. The int is the 0 of an empty sum(), which is refused.
Value = Region | Combination | int


class Vectors:
    """One buffer of every rank: `c.inp`, `c.out` or `c.tmp`.

    `[r]` is rank r's whole vector, or all of its parts.
    """

    __slots__ = ("_buffer", "_context")

    def __init__(self, context: Context, buffer: int) -> None:
        self._context = context
        self._buffer = buffer

    def __getitem__(self, rank: SupportsIndex | tuple[int, int]) -> Region:
        part = 0
        if isinstance(rank, tuple):
            if self._buffer != TMP or len(rank) != 2:
                raise fault(
                    f"{NAMES[self._buffer]}{list(rank)}: only tmp has several vectors, tmp[rank, "
                    "which]; write a block as [rank][block]"
                )
            part = _whole_number(rank[1], "which vector")
            rank = rank[0]
            if not 0 <= part < MOST_BLOCKS:
                raise fault(f"tmp[{rank}, {part}]: vectors of scratch are numbered from 0")
        number = _whole_number(rank, "a rank")
        self._context.expect_rank(number, f"{NAMES[self._buffer]}[{number}]")
        self._context.expect_buffer(number, self._buffer)
        blocks = self._context.blocks_of(self._buffer)
        return Region(
            self._context,
            number,
            self._buffer,
            part * blocks,
            blocks,
            open_ended=self._buffer == TMP and part == 0,
        )

    def __setitem__(self, rank: SupportsIndex | tuple[int, int], value: Value) -> None:
        self._context.assign(self[rank], value)

    def __repr__(self) -> str:
        return NAMES[self._buffer]


def _whole_number(value: object, what: str) -> int:
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise fault(f"{value!r} is not {what}; give a whole number") from None


def _slice_text(index: slice) -> str:
    ends = ["" if end is None else str(end) for end in (index.start, index.stop)]
    return ":".join(ends) + ("" if index.step is None else f":{index.step}")

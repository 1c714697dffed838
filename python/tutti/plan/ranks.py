"""Sequences of ranks, such as the ranks of a group of the machine's tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import overload

from tutti.errors import UserError


class Ranks(Sequence[int]):
    """An ordered sequence of ranks. Immutable; iterates, indexes and slices like a tuple.

    >>> list(Ranks(range(8)).split(2))
    [Ranks(0, 1, 2, 3), Ranks(4, 5, 6, 7)]
    """

    __slots__ = ("_members", "_ranks")

    def __init__(self, ranks: Iterable[int] = ()) -> None:
        self._ranks: tuple[int, ...] = tuple(ranks)
        # Made at the first membership test, because most sequences are only iterated.
        self._members: frozenset[int] | None = None

    @property
    def lead(self) -> int:
        """The first rank. Raises UserError if there are no ranks."""
        if not self._ranks:
            raise UserError("an empty sequence of ranks has no lead; test `if ranks:` before")
        return self._ranks[0]

    def leader(self, root: int) -> int:
        """The root if it is one of these ranks, else the first rank.

        With the root as leader a hand-over is saved.
        """
        return root if root in self else self.lead

    def without(self, *ranks: int) -> Ranks:
        """These ranks in their order, without the given ones."""
        return Ranks(rank for rank in self._ranks if rank not in ranks)

    def split(self, parts: int) -> list[Ranks]:
        """`parts` consecutive pieces of nearly equal length, the longer ones first.

        There are fewer pieces if there are fewer ranks than `parts`.
        """
        if parts < 1:
            raise UserError(f"split({parts}): the number of pieces must be at least 1")
        parts = min(parts, len(self._ranks))
        if parts == 0:
            return []
        length, longer = divmod(len(self._ranks), parts)
        starts = [part * length + min(part, longer) for part in range(parts + 1)]
        return [Ranks(self._ranks[low:high]) for low, high in pairwise(starts)]

    def runs(self, length: int) -> list[Ranks]:
        """Consecutive pieces of `length` ranks; the last one may be shorter."""
        if length < 1:
            raise UserError(f"runs({length}): the length must be at least 1")
        return [
            Ranks(self._ranks[low : low + length]) for low in range(0, len(self._ranks), length)
        ]

    def slices(self) -> list[slice]:
        """These ranks as slices, one slice for ranks that are evenly spaced.

        Applied to a region with a block for each rank, they select the blocks of these ranks.

        >>> Ranks([0, 1, 2, 3]).slices(), Ranks([1, 5, 9]).slices()
        ([slice(0, 4, 1)], [slice(1, 10, 4)])
        """
        ordered = sorted(set(self._ranks))
        found = []
        at = 0
        while at < len(ordered):
            step = ordered[at + 1] - ordered[at] if at + 1 < len(ordered) else 1
            last = at
            while last + 1 < len(ordered) and ordered[last + 1] - ordered[last] == step:
                last += 1
            found.append(slice(ordered[at], ordered[last] + 1, step if last > at else 1))
            at = last + 1
        return found

    def __len__(self) -> int:
        return len(self._ranks)

    def __iter__(self) -> Iterator[int]:
        return iter(self._ranks)

    def __contains__(self, rank: object) -> bool:
        if self._members is None:
            self._members = frozenset(self._ranks)
        return rank in self._members

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> Ranks: ...

    def __getitem__(self, index: int | slice) -> int | Ranks:
        if isinstance(index, slice):
            return Ranks(self._ranks[index])
        return self._ranks[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Ranks):
            return self._ranks == other._ranks
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._ranks)

    def __repr__(self) -> str:
        return f"Ranks({', '.join(map(str, self._ranks))})"

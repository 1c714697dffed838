"""The context of a plan function: the ranks, their buffers, the machine's tree, and the transfers
so far.

In a collective with parts (gather, scatter, allgather, alltoall, reduce_scatter) a part is a
block. In an alltoall, `c.inp[r][j]` is the part of rank r for rank j, and `c.out[r][i]` the part
that it gets from rank i. If a buffer holds only one part, this is all of `c.inp[r]` or `c.out[r]`.
`c.tmp[r]` has a block for each rank.

A `Context` lives during one call of a plan function and belongs to its thread. It passes transfers
to the C++ code (PlanBuilder) at once. Python adds the line where each transfer was written, so
that errors name the user's line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tutti.places import core
from tutti.plan.fault import PlanError, WrongPlan, fault, user_place
from tutti.plan.inclusion import Inclusion, Regions
from tutti.plan.machine import Placed
from tutti.plan.ranks import Ranks
from tutti.plan.region import IN, MOST_BLOCKS, NAMES, OUT, TMP, Combination, Region, Value, Vectors

if TYPE_CHECKING:
    from tutti._core import Definition, Plan

MOST_STAGES = 1 << 20


class Context:
    """The argument of a plan function: ranks, buffers, the machine's tree, and transfers so far."""

    def __init__(
        self, collective: str, placed: Placed, root: int, commutative: bool | None = None
    ) -> None:
        self.collective = collective
        self.root = root
        self.ranks: Ranks = placed.ranks
        self.inp = Vectors(self, IN)
        self.out = Vectors(self, OUT)
        self.tmp = Vectors(self, TMP)
        self.commutative = commutative
        self._placed = placed
        self._fitted = False  # True if the function used the machine's tree
        self._parted: bool = core().parted(collective)
        self._blocks = len(placed) if self._parted else 1
        self._blocks_used = False
        self._arrival = False
        self._definition: Definition = core().Definition(collective, len(placed), root)
        self._builder = core().PlanBuilder(collective, len(placed), root)
        self._files: dict[str, int] = {}

    # --- ranks, machine and blocks ---

    @property
    def size(self) -> int:
        """The number of ranks."""
        return len(self.ranks)

    @property
    def tree(self) -> Placed:
        """The ranks on the machine. A plan that uses this only suits machines of the same shape."""
        self._fitted = True
        return self._placed

    def blocks(self, count: int) -> None:
        """Cuts every vector into `count` blocks.

        Call it before any buffer is named, because `c.inp[r]` has all blocks. A collective with
        parts always has a block for each rank.
        """
        if self._parted and count != self._blocks:
            raise fault(
                f"blocks({count!r}): {self._a_collective} has a block for each rank, here "
                f"{self._blocks}; leave the call out"
            )
        if not isinstance(count, int) or not 1 <= count <= MOST_BLOCKS:
            raise fault(
                f"blocks({count!r}): a vector has 1 to {MOST_BLOCKS} blocks; give such a number"
            )
        if count != 1 and self.collective == "barrier":
            raise fault(f"blocks({count}): a barrier has 1 block of 0 bytes; leave the call out")
        if self._blocks_used and count != self._blocks:
            raise fault(
                f"blocks({count}): buffers were named before, with {self._blocks} blocks; call "
                "blocks first"
            )
        self._blocks = count

    @property
    def block_count(self) -> int:
        """The number of blocks of a vector: 1, or the number given to `blocks`.

        In a collective with parts it is the number of ranks.
        """
        self._blocks_used = True
        return self._blocks

    def blocks_of(self, buffer: int) -> int:
        """The number of blocks of a rank's `inp`, `out`, or one vector of `tmp`."""
        blocks = self.block_count
        if not self._parted or buffer == TMP:
            return blocks
        return self._definition.in_blocks if buffer == IN else self._definition.out_blocks

    @property
    def _a_collective(self) -> str:
        return f"{'an' if self.collective[0] in 'aeiou' else 'a'} {self.collective}"

    # --- transfers ---

    def copy(
        self, dst: Region, src: Region, *, push: bool = False, stage: int | None = None
    ) -> None:
        """Copies `src` to `dst`. The owner of `dst` moves the bytes; with `push` the owner of
        `src`.
        """
        if not isinstance(src, Region):
            raise fault(
                f"the source {src!r} is not a region; give one such as c.inp[0], or call reduce "
                "for several"
            )
        self._transfer(dst, [src], push, False, stage)

    def reduce(
        self,
        dst: Region,
        sources: Iterable[Region] | Combination,
        *,
        push: bool = False,
        any_order: bool = False,
        stage: int | None = None,
    ) -> None:
        """Combines the sources in this order into `dst`; one source is copied.

        With `any_order` the sources are combined in the order of arrival, so the operation must
        commute. With `push` the rank that owns all the sources executes the transfer, not the
        owner of `dst`.
        """
        regions = sources.regions if isinstance(sources, Combination) else list(sources)
        for region in regions:
            if not isinstance(region, Region):
                raise fault(f"the source {region!r} is not a region; give regions such as c.inp[0]")
        if not regions:
            raise fault("a reduce without sources; name at least one")
        self._transfer(dst, regions, push, any_order and len(regions) > 1, stage)

    def token(self, rank: int, after: int | Iterable[int], *, stage: int | None = None) -> None:
        """`rank` continues only after the ranks `after` have executed their earlier transfers.

        A token moves no data. It delays ranks that would otherwise copy at the same time; no result
        depends on it. If a rank in `after` has no earlier transfer, its transfers of the previous
        segment in the same stage or earlier ones are waited for.
        """
        ranks = [after] if isinstance(after, int) else list(after)
        if not ranks:
            raise fault("a token that waits for no rank; name the ranks to wait for")
        for one in (rank, *ranks):
            self.expect_rank(one, f"token({rank}, {after})")
        if rank in ranks:
            raise fault(
                f"token({rank}, {after}): a rank need not wait for its own transfers; name other "
                "ranks"
            )
        self._token(rank, ranks, stage)

    def assign(self, dst: Region, value: Value) -> None:
        """Executes `region = value`: copies a region, or reduces regions joined by `+`."""
        if isinstance(value, Region):
            self.copy(dst, value)
        elif isinstance(value, Combination):
            self.reduce(dst, value)
        elif isinstance(value, int) and value == 0:
            raise fault("a sum without regions; name at least one source")
        else:
            raise fault(
                f"{value!r} is not a region; assign one such as c.inp[0], or several joined by +"
            )

    def include(
        self,
        plan: Plan,
        ranks: Sequence[int] | None = None,
        *,
        inp: Regions | None = None,
        out: Regions | None = None,
        tmp: Regions | None = None,
    ) -> None:
        """Appends the transfers of another plan.

        Its rank i is `ranks[i]` here, and its buffers are `inp`, `out` and `tmp`. Each of its
        vectors is a region here, whose blocks are divided evenly among the plan's blocks. If the
        plan's blocks are not adjacent here, a list gives one region for each block. The plan uses
        as much of `tmp` as it needs. Its stages are kept if all other transfers have stages too
        and none decreases; else they are dropped.
        """
        members = list(self.ranks if ranks is None else ranks)
        if len(members) != plan.ranks:
            raise fault(
                f"the included plan has {plan.ranks} ranks, but {len(members)} are given; give "
                f"{plan.ranks} ranks"
            )
        inclusion = Inclusion(plan, members, inp or self.inp, out or self.out, tmp or self.tmp)
        for transfer, dst, sources in inclusion.transfers():
            if dst is None:
                after = [members[source["rank"]] for source in transfer["src"]]
                self._token(
                    members[transfer["dst"]["rank"]], after, transfer["stage"], included=True
                )
                continue
            self._transfer(
                dst,
                sources,
                transfer["push"],
                transfer["any_order"],
                transfer["stage"],
                included=True,
            )

    # --- checks for regions ---

    def expect_rank(self, rank: int, what: str) -> None:
        if not 0 <= rank < len(self.ranks):
            last = f"0..{len(self.ranks) - 1}" if len(self.ranks) > 1 else "only 0"
            raise fault(f"{what}: there is no rank {rank}; ranks are {last}")

    def expect_buffer(self, rank: int, buffer: int) -> None:
        if buffer == IN and not self._definition.has_in(rank):
            raise fault(
                f"in[{rank}] has no data: only the root of {self._a_collective}, rank "
                f"{self.root}, has an in; read out or tmp"
            )
        if buffer == OUT and not self._definition.has_out(rank):
            who = f"only the root of {self._a_collective}, rank {self.root}, has a result"
            if self.collective == "exscan":
                who = "rank 0 of an exscan has no ranks before it and no result"
            raise fault(f"out[{rank}]: {who}; use tmp")

    def hint_at_blocks(self, buffer: int) -> str:
        """The end of an error message about a missing block of a region with one block."""
        if not self._parted:
            return "; c.blocks(n) cuts every vector into n blocks"
        if self.blocks_of(buffer) == self.size:
            return ""
        return (
            f"; {NAMES[buffer]} of {self._a_collective} is one part, {NAMES[OUT - buffer]} has one "
            "for each rank"
        )

    # --- recording ---

    def _transfer(
        self,
        dst: Region,
        sources: list[Region],
        push: bool,
        any_order: bool,
        stage: int | None,
        included: bool = False,
    ) -> None:
        if not isinstance(dst, Region):
            raise fault(f"the destination {dst!r} is not a region; give one such as c.out[0]")
        for region in (dst, *sources):
            if region.context is not self:
                raise fault(
                    f"{region!r} belongs to another plan; use regions of this function's own "
                    "context"
                )
        if dst.buffer == IN:
            raise fault(f"{dst!r} is written, but in is read-only; write out or tmp")
        for source in sources:
            if source.count != dst.count:
                longer = dst if dst.count > source.count else source
                part = f", such as {longer!r}'s block j by [j]" if self._parted else ""
                raise fault(
                    f"{dst!r} has {dst.count} blocks, but {source!r} has {source.count}; use equal "
                    f"numbers{part}"
                )
        if push and any(source.rank != sources[0].rank for source in sources):
            raise fault(
                "a pushed reduce reads buffers of several ranks; name only buffers of the rank "
                "that pushes"
            )
        if any_order:
            if push:
                raise fault(
                    "a pushed reduce owns its sources and waits for none of them; leave "
                    "any_order out"
                )
            if self.commutative is False:
                raise fault(
                    "any_order in a plan that must keep rank order; leave out any_order or "
                    "commutative=False"
                )
            self._arrival = True
        read = [source.as_tuple() for source in sources]
        self._builder.transfer(
            dst.as_tuple(), read, push, any_order, *self._written(stage), included
        )

    def _token(
        self, rank: int, after: list[int], stage: int | None, included: bool = False
    ) -> None:
        self._builder.token(rank, after, *self._written(stage), included)

    def _written(self, stage: int | None) -> tuple[int | None, int, int]:
        """The stage of a transfer, and the file and line that wrote it."""
        if stage is not None and not 0 <= stage < MOST_STAGES:
            raise fault(f"stage {stage!r} is out of range; stages are 0..{MOST_STAGES - 1}")
        file, line = user_place()
        index = self._files.get(file)
        if index is None:
            index = self._files[file] = self._builder.file(file)
        return stage, index, line

    def finish(self, label: str, check: bool) -> Plan:
        """The finished plan. Raises PlanError, or WrongPlan if the check fails.

        The plan is marked `commutative` only if it combines data in another order than rank order.
        """
        may_commute = self.commutative is not False and core().combines(self.collective)
        shape = self._placed.shape if self._fitted else ""
        try:
            plan: Plan = self._builder.finish(label, self._blocks, may_commute, shape)
        except core().Error as error:
            raise PlanError(str(error)) from error
        if not check and self.commutative is not None:
            return plan
        try:
            found = core().check(plan)
        except core().Error as error:
            raise WrongPlan(str(error)) from error
        if may_commute and self.commutative is None and found.rank_order and not self._arrival:
            in_order: Plan = self._builder.finish(label, self._blocks, False, shape)
            return in_order
        return plan

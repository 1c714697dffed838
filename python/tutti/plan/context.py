"""The context of a plan function: the ranks, their buffers, the machine's tree, and the transfers so far.

Of a collective with parts (gather, scatter, allgather, alltoall, reduce_scatter) a part is a block: `c.inp[r][j]` of an
alltoall is what rank r has for rank j, `c.out[r][i]` what it gets from rank i. A side that is not parted is one part,
all of `c.inp[r]` or `c.out[r]`; `c.tmp[r]` has a block for each rank.

A `Context` lives as long as one call of a plan function and belongs to its thread. What it records goes straight to
the C++ (PlanBuilder); what Python adds is where each transfer was written, and errors in the user's own line.
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
    """What a plan function writes to: the ranks, their buffers, the machine's tree, and the transfers so far."""

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
        self._fitted = False  # whether the function asked for the machine's tree
        self._parted: bool = core().parted(collective)
        self._blocks = len(placed) if self._parted else 1
        self._blocks_used = False
        self._arrival = False
        self._definition: Definition = core().Definition(collective, len(placed), root)
        self._builder = core().PlanBuilder(collective, len(placed), root)
        self._files: dict[str, int] = {}

    # --- what there is ---

    @property
    def size(self) -> int:
        """How many ranks."""
        return len(self.ranks)

    @property
    def tree(self) -> Placed:
        """The machine and where the ranks are on it. A plan that asks for it is for machines of this shape only."""
        self._fitted = True
        return self._placed

    def blocks(self, count: int) -> None:
        """Cuts every vector into `count` blocks; before anything names a buffer, because `c.inp[r]` is all of them.

        A collective with parts has a block for each rank, and no other number.
        """
        if self._parted and count != self._blocks:
            raise fault(
                f"blocks({count!r}): {self._a_collective} has a block for each rank, here {self._blocks}; leave it out"
            )
        if not isinstance(count, int) or not 1 <= count <= MOST_BLOCKS:
            raise fault(f"blocks({count!r}): a vector is cut into 1 to {MOST_BLOCKS} blocks")
        if count != 1 and self.collective == "barrier":
            raise fault(f"blocks({count}): a barrier has 1 block, of no bytes")
        if self._blocks_used and count != self._blocks:
            raise fault(
                f"blocks({count}): buffers were named before, with {self._blocks} blocks; cut them first"
            )
        self._blocks = count

    @property
    def block_count(self) -> int:
        """Blocks of a vector: as many as `blocks` said, 1 unless it did; of a collective with parts, one for each rank."""
        self._blocks_used = True
        return self._blocks

    def blocks_of(self, buffer: int) -> int:
        """Blocks of a rank's `inp`, `out` or (one vector of) `tmp`."""
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
        """`dst` becomes `src`. The owner of `dst` moves the bytes, with `push` the owner of `src`."""
        if not isinstance(src, Region):
            raise fault(
                f"{src!r} is no region to copy from; give one such as c.inp[0], or reduce several"
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
        """`dst` becomes the combination of the sources in this order; of one source, a copy.

        `any_order` takes them as they arrive; the operation must commute then. With `push` the rank that owns all
        the sources does the work, not the owner of `dst`.
        """
        regions = sources.regions if isinstance(sources, Combination) else list(sources)
        for region in regions:
            if not isinstance(region, Region):
                raise fault(f"{region!r} is no region to combine; give regions such as c.inp[0]")
        if not regions:
            raise fault("a reduce of nothing; name at least one source")
        self._transfer(dst, regions, push, any_order and len(regions) > 1, stage)

    def token(self, rank: int, after: int | Iterable[int], *, stage: int | None = None) -> None:
        """`rank` goes on only when the ranks `after` have done what stands before for them.

        A hand-over without data, to hold back who would copy at the same time: a result never hangs on it. Of a rank for
        which nothing stands before, what it does in the segment before is waited for, in the same stage or earlier ones.
        """
        ranks = [after] if isinstance(after, int) else list(after)
        if not ranks:
            raise fault("a token from nobody; name the ranks that are waited for")
        for one in (rank, *ranks):
            self.expect_rank(one, f"token({rank}, {after})")
        if rank in ranks:
            raise fault(f"token({rank}, {after}): a rank's own transfers are in order; name others")
        self._token(rank, ranks, stage)

    def assign(self, dst: Region, value: Value) -> None:
        """What `region = value` means: a copy of a region, a reduce of regions joined by `+`."""
        if isinstance(value, Region):
            self.copy(dst, value)
        elif isinstance(value, Combination):
            self.reduce(dst, value)
        elif isinstance(value, int) and value == 0:
            raise fault("a sum of no regions; name at least one source")
        else:
            raise fault(
                f"{value!r} is no region; assign one such as c.inp[0], or several joined by +"
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
        """Appends the transfers of another plan: its rank i is `ranks[i]` here, its buffers are `inp`, `out`, `tmp`.

        Each of its vectors is a region here, whose blocks are dealt evenly to the plan's; or, where the plan's blocks do
        not lie side by side here, a list of regions, one for each block. Of `tmp` as much is taken as the plan needs. The
        plan's stages hold where all others of this plan have stages too, and none decreases; else they are left out.
        """
        members = list(self.ranks if ranks is None else ranks)
        if len(members) != plan.ranks:
            raise fault(
                f"a plan for {plan.ranks} ranks is included over {len(members)}; give {plan.ranks} ranks"
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

    # --- what regions ask ---

    def expect_rank(self, rank: int, what: str) -> None:
        if not 0 <= rank < len(self.ranks):
            last = f"0..{len(self.ranks) - 1}" if len(self.ranks) > 1 else "only 0"
            raise fault(f"{what}: there is no rank {rank}; ranks are {last}")

    def expect_buffer(self, rank: int, buffer: int) -> None:
        if buffer == IN and not self._definition.has_in(rank):
            raise fault(
                f"in[{rank}] holds nothing: only the root of {self._a_collective}, rank {self.root}, has data; read out or tmp"
            )
        if buffer == OUT and not self._definition.has_out(rank):
            who = f"only the root of {self._a_collective}, rank {self.root}, has a result"
            if self.collective == "exscan":
                who = "rank 0 of an exscan has no ranks before it, and no result"
            raise fault(f"out[{rank}]: {who}; use tmp")

    def hint_at_blocks(self, buffer: int) -> str:
        """What an error adds where a region of one block is asked for another."""
        if not self._parted:
            return "; c.blocks(n) cuts every vector into n"
        if self.blocks_of(buffer) == self.size:
            return ""
        return f"; {NAMES[buffer]} of {self._a_collective} is one part, {NAMES[OUT - buffer]} has one for each rank"

    # --- writing ---

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
            raise fault(f"{dst!r} is no region to write to; give one such as c.out[0]")
        for region in (dst, *sources):
            if region.context is not self:
                raise fault(
                    f"{region!r} belongs to another plan; take regions from this function's own context"
                )
        if dst.buffer == IN:
            raise fault(f"{dst!r} is written, and in is read-only; write out or tmp")
        for source in sources:
            if source.count != dst.count:
                longer = dst if dst.count > source.count else source
                part = f", such as {longer!r}'s block j by [j]" if self._parted else ""
                raise fault(
                    f"{dst!r} has {dst.count} blocks, but {source!r} has {source.count}; take as many{part}"
                )
        if push and any(source.rank != sources[0].rank for source in sources):
            raise fault(
                "a pushed reduce reads the buffers of several ranks; it may read those of the one rank that pushes"
            )
        if any_order:
            if push:
                raise fault("a pushed reduce has its sources at hand; leave any_order out")
            if self.commutative is False:
                raise fault(
                    "any_order in a plan that keeps rank order; leave it out, or commutative=False"
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
        """The stage of a transfer, and the file and the line that write it."""
        if stage is not None and not 0 <= stage < MOST_STAGES:
            raise fault(f"stage {stage!r}; stages are 0..{MOST_STAGES - 1}")
        file, line = user_place()
        index = self._files.get(file)
        if index is None:
            index = self._files[file] = self._builder.file(file)
        return stage, index, line

    def finish(self, label: str, check: bool) -> Plan:
        """The plan; checked, and `commutative` only where its order of combining needs that."""
        # Only what can lose rank order is said to rely on commuting.
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

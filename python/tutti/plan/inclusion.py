"""A plan inside another: whose ranks and regions stand for those of the plan that is included.

Made for one call of `Context.include`. The plan's ranks are members, its vectors are regions of the context. All of them
are the same number of times as long as the plan counts blocks: its `scale`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tutti.plan.fault import fault
from tutti.plan.region import Region, Vectors

if TYPE_CHECKING:
    from tutti._core import Plan

# The vectors of some ranks: one of the context's buffers, or by rank a region or a list of regions, one for each block.
Regions = Vectors | Mapping[int, Region | Sequence[Region]]


class Inclusion:
    def __init__(
        self, plan: Plan, members: Sequence[int], inp: Regions, out: Regions, tmp: Regions
    ) -> None:
        self._plan = plan
        self._members = members
        self._buffers: dict[str, Regions] = {"in": inp, "out": out, "tmp": tmp}
        definition = plan.definition
        self._blocks = {"in": definition.in_blocks, "out": definition.out_blocks}
        self._scale = 0  # not known yet

    def transfers(self) -> Iterator[tuple[dict[str, Any], Region | None, list[Region]]]:
        """Each transfer of the plan, with its destination and its sources here; where one of them is a list, a transfer
        for each block. A token has neither."""
        transfers = self._plan.transfers
        self._scale = self._find_scale(transfers)
        for transfer in transfers:
            count = transfer["dst"]["count"]
            if transfer["kind"] == "token":
                yield transfer, None, []
                continue
            regions = [self._region(region) for region in (transfer["dst"], *transfer["src"])]
            if all(isinstance(region, Region) for region in regions):
                yield transfer, *self._split(regions)
                continue
            for at in range(count):
                yield transfer, *self._split([self._block(region, at) for region in regions])

    @staticmethod
    def _split(regions: Sequence[Region | list[Region]]) -> tuple[Region, list[Region]]:
        dst, *sources = [region for region in regions if isinstance(region, Region)]
        return dst, sources

    def _block(self, region: Region | list[Region], at: int) -> Region:
        if isinstance(region, list):
            return region[at]
        return region[at * self._scale : (at + 1) * self._scale]

    def _vector(self, region: dict[str, Any]) -> Region | Sequence[Region]:
        return self._buffers[region["buffer"]][self._members[region["rank"]]]

    def _find_scale(self, transfers: list[dict[str, Any]]) -> int:
        """From the first vector that is the user's: of scratch there may be more than the plan needs."""
        named = (region for transfer in transfers for region in (transfer["dst"], *transfer["src"]))
        first = next((region for region in named if region["buffer"] != "tmp"), None)
        if first is None:
            return 1
        vector, blocks = self._vector(first), self._blocks[first["buffer"]]
        if not isinstance(vector, Region):
            return vector[0].count if len(vector) > 0 else 1
        return self._hold(vector, blocks)

    def _hold(self, whole: Region, blocks: int) -> int:
        scale, rest = divmod(whole.count, blocks)
        if rest:
            remedy = (
                f"make that a multiple, c.blocks({blocks})"
                if blocks == self._plan.blocks
                else "make that a multiple"
            )
            raise fault(
                f"a plan of {blocks} blocks is included, and {whole!r} has {whole.count}; {remedy}"
            )
        return scale

    def _region(self, region: dict[str, Any]) -> Region | list[Region]:
        vector, buffer = self._vector(region), region["buffer"]
        first, count, stride = region["first"], region["count"], region["stride"]
        last = first + (count - 1) * stride
        if not isinstance(vector, Region):
            if last >= len(vector):
                raise fault(
                    f"a plan is included whose {buffer}[{region['rank']}] has a block {last}, and {len(vector)} regions are "
                    "listed for it; list one for each block"
                )
            return [vector[first + at * stride] for at in range(count)]
        if buffer != "tmp":
            self._hold(vector, self._blocks[buffer])
        elif (last + 1) * self._scale > vector.room:
            raise fault(
                f"a plan is included that needs {(last + 1) * self._scale} blocks of scratch, and {vector!r} has {vector.count}; "
                "give more"
            )
        if self._scale == 1:
            return vector[first : last + 1 : stride]
        if stride != 1:
            raise fault(
                f"a plan with regions of stride {stride} is included over {vector!r}; include it over {self._plan.blocks} blocks"
            )
        return vector[first * self._scale : (first + count) * self._scale]

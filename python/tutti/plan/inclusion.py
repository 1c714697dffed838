"""Includes a plan in another: maps its ranks and regions to those of the other plan.

An `Inclusion` lives during one call of `Context.include`. The included plan's ranks become
`members`, its vectors become regions of the context. Each of these regions has `scale` times as
many blocks as the included plan's vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tutti.plan.fault import fault
from tutti.plan.region import Region, Vectors

if TYPE_CHECKING:
    from tutti._core import Plan

# The vectors of some ranks: one of the context's buffers, or for each rank a region or a list of
# regions, one for each block.
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
        """Each transfer of the included plan, with its destination and sources in the other plan.

        If a region is a list, the transfer is split into one for each block. A token has None and
        [].
        """
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
        """The scale, from the first vector but scratch, which may be larger than needed."""
        named = (region for transfer in transfers for region in (transfer["dst"], *transfer["src"]))
        first = next((region for region in named if region["buffer"] != "tmp"), None)
        if first is None:
            return 1
        vector, blocks = self._vector(first), self._blocks[first["buffer"]]
        if not isinstance(vector, Region):
            return vector[0].count if len(vector) > 0 else 1
        return self._scale_of(vector, blocks)

    def _scale_of(self, whole: Region, blocks: int) -> int:
        scale, rest = divmod(whole.count, blocks)
        if rest:
            remedy = (
                f"make that a multiple, c.blocks({blocks})"
                if blocks == self._plan.blocks
                else "make that a multiple"
            )
            raise fault(
                f"the included plan has {blocks} blocks, but {whole!r} has {whole.count}; {remedy}"
            )
        return scale

    def _region(self, region: dict[str, Any]) -> Region | list[Region]:
        vector, buffer = self._vector(region), region["buffer"]
        first, count, stride = region["first"], region["count"], region["stride"]
        last = first + (count - 1) * stride
        if not isinstance(vector, Region):
            if last >= len(vector):
                raise fault(
                    f"{buffer}[{region['rank']}] of the included plan has a block {last}, but "
                    f"{len(vector)} regions are listed for it; list one for each block"
                )
            return [vector[first + at * stride] for at in range(count)]
        if buffer != "tmp":
            self._scale_of(vector, self._blocks[buffer])
        elif (last + 1) * self._scale > vector.room:
            raise fault(
                f"the included plan needs {(last + 1) * self._scale} blocks of scratch, but "
                f"{vector!r} has {vector.count}; give more"
            )
        if self._scale == 1:
            return vector[first : last + 1 : stride]
        if stride != 1:
            raise fault(
                f"the included plan has regions of stride {stride}, so {vector!r} must have "
                f"exactly {self._plan.blocks} blocks; give such a region"
            )
        return vector[first * self._scale : (first + count) * self._scale]

"""Tensors and comparisons that the cases share."""

from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor

Groups = dict[str, dist.ProcessGroup]
REAL = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
WHOLE = [torch.uint8, torch.int8, torch.int32, torch.int64]  # gloo's
SIZES = [0, 1, 7, 5000, 70000]
NODES: list[list[int]] = []  # the ranks of each node; empty: all are on one


def numbers(size: int, dtype: torch.dtype, salt: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(100 * dist.get_rank() + salt)
    if dtype in WHOLE or dtype == torch.bool:
        return torch.randint(0, 2 if dtype == torch.bool else 5, (size,), generator=generator).to(
            dtype
        )
    return torch.randn(size, generator=generator, dtype=torch.float64).to(dtype)


def alike_everywhere(group: dist.ProcessGroup, tensor: Tensor) -> None:
    raw = tensor.contiguous().view(torch.uint8) if tensor.numel() else tensor
    all_bits = [torch.empty_like(raw) for _ in range(dist.get_world_size())]
    dist.all_gather(all_bits, raw, group=group)
    assert all(torch.equal(bits, raw) for bits in all_bits)


def exact_sum(size: int, dtype: torch.dtype, salt: int, groups: Groups) -> Tensor:
    """The sum in float64, from gloo's gathered data."""
    own = numbers(size, dtype, salt).double()
    parts = [torch.empty_like(own) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, own, group=groups["gloo"])
    return torch.stack(parts).sum(0)


def total_of(parts: list[Tensor]) -> Tensor:
    """The sum in the order in which ranks combine: on each node, then node by node."""
    sums = []
    for ranks in NODES or [list(range(len(parts)))]:
        total = parts[ranks[0]]
        for rank in ranks[1:]:
            total = total + parts[rank]
        sums.append(total)
    for more in sums[1:]:
        sums[0] = sums[0] + more
    return sums[0]


def error_of(call: Callable[[], object]) -> str:
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return "no error"

"""Cases of cases.py: calls that move data, and messages."""

import torch
import torch.distributed as dist
from torch import Tensor
from values import SIZES, Groups, numbers


def moves(group: dist.ProcessGroup, size: int, dtype: torch.dtype) -> list[Tensor]:
    """The results of every call that moves data."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    results = []
    tensor = numbers(size, dtype)
    dist.broadcast(tensor, ranks - 1, group=group)
    results.append(tensor)
    own = numbers(size, dtype, 1)
    parts = [torch.empty_like(own) for _ in range(ranks)]
    dist.all_gather(parts, own, group=group)
    results += parts
    flat = torch.empty(ranks * size, dtype=dtype)
    dist.all_gather_into_tensor(flat, own, group=group)
    results.append(flat)
    at_root = [torch.empty_like(own) for _ in range(ranks)] if rank == 0 else None
    dist.gather(own, at_root, 0, group=group)
    results += at_root or []
    given = list(numbers(ranks * size, dtype, 2).split(size)) if rank == 1 and size else None
    if size:
        got = torch.empty_like(own)
        dist.scatter(got, given, 1, group=group)
        results.append(got)
    out = torch.empty(ranks * size, dtype=dtype)
    dist.all_to_all_single(out, numbers(ranks * size, dtype, 4), group=group)
    results.append(out)
    # Rank r sends r + j numbers to rank j.
    sends = [rank + other for other in range(ranks)]
    uneven = torch.empty(sum(sends), dtype=dtype)
    dist.all_to_all_single(uneven, numbers(sum(sends), dtype, 5), sends, sends, group=group)
    results.append(uneven)
    ins = list(numbers(ranks * size, dtype, 6).tensor_split(ranks))
    outs = [torch.empty(size, dtype=dtype) for _ in range(ranks)]
    dist.all_to_all(outs, ins, group=group)
    return results + outs


def test_moves(groups: Groups) -> None:
    for size in SIZES:
        for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.uint8):
            both = [moves(groups[name], size, dtype) for name in ("gloo", "tutti")]
            for gloo, own in zip(*both, strict=True):
                assert torch.equal(gloo, own), (size, dtype)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    ins = [torch.full((rank + other,), 100 * rank + other) for other in range(ranks)]
    outs = [torch.empty(rank + other, dtype=torch.int64) for other in range(ranks)]
    dist.all_to_all(outs, ins, group=groups["tutti"])  # gloo's parts have one length
    assert all(bool((out == 100 * other + rank).all()) for other, out in enumerate(outs))
    for dtype in (torch.bool, torch.complex64, torch.float8_e4m3fn):
        tensor = numbers(9, torch.float32).to(dtype)
        parts = [torch.empty_like(tensor) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, tensor, group=groups["tutti"])
        own = parts[dist.get_rank()].view(torch.uint8)
        assert torch.equal(own, tensor.view(torch.uint8))


def test_strided_tensors(groups: Groups) -> None:
    ranks = dist.get_world_size()
    matrix = torch.arange(12.0).reshape(3, 4)
    column = matrix.t()
    dist.all_reduce(column, group=groups["tutti"])
    assert torch.equal(matrix, ranks * torch.arange(12.0).reshape(3, 4))
    outs = torch.zeros(ranks, 3, 2).transpose(1, 2)
    dist.all_gather(list(outs), torch.ones(2, 3), group=groups["tutti"])
    assert torch.equal(outs, torch.ones(ranks, 2, 3))
    # Conjugates that are not computed yet, by the backend itself, because torch.distributed
    # refuses them in some calls and resolves them in others.
    backend = groups["tutti"]._get_backend(torch.device("cpu"))
    sent, got = (
        torch.tensor([1 + 2j, 3 - 1j]).conj(),
        torch.zeros(2, dtype=torch.complex64).conj(),
    )
    backend.send([sent], (dist.get_rank() + 1) % ranks, 9).wait()
    backend.recv([got], (dist.get_rank() - 1) % ranks, 9).wait()
    assert got.tolist() == [1 - 2j, 3 + 1j]


def test_messages(groups: Groups) -> None:
    rank, ranks, group = dist.get_rank(), dist.get_world_size(), groups["tutti"]
    after, before = (rank + 1) % ranks, (rank - 1) % ranks
    for size in SIZES:
        got = torch.empty(size)
        works = [
            dist.irecv(got, before, group=group, tag=size + 1),
            dist.isend(torch.full((size,), float(rank)), after, group=group, tag=size + 1),
        ]
        for work in works:
            assert work is not None
            work.wait()
        assert bool((got == before).all())
    dist.send(torch.tensor([rank]), after, group=group)
    token = torch.tensor([-1])
    assert dist.recv(token, group=group) == before and token.item() == before
    operations = [
        dist.P2POp(dist.isend, torch.tensor([rank]), after, group),
        dist.P2POp(dist.irecv, token, before, group),
    ]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    assert token.item() == before
    everything: list[object] = [None] * ranks
    dist.all_gather_object(everything, {"rank": rank}, group=group)
    assert everything == [{"rank": other} for other in range(ranks)]
    at_root = [None] * ranks if rank == 1 else None
    dist.gather_object({"rank": rank}, at_root, 1, group=group)
    assert rank != 1 or at_root == everything
    told: list[object] = [everything, "text"] if rank == 1 else [None, None]
    dist.broadcast_object_list(told, 1, group=group)
    assert told == [everything, "text"]
    mine: list[object] = [None]
    dist.scatter_object_list(mine, everything if rank == 1 else None, 1, group=group)
    assert mine == [{"rank": rank}]

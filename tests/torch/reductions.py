"""Cases of cases.py: sums and other reductions."""

import torch
import torch.distributed as dist
from values import (
    REAL,
    SIZES,
    WHOLE,
    Groups,
    alike_everywhere,
    error_of,
    exact_sum,
    numbers,
    total_of,
)


def test_reductions(groups: Groups) -> None:
    op = dist.ReduceOp
    ranks = dist.get_world_size()
    for size in SIZES:
        for dtype in WHOLE:
            for how in (op.SUM, op.PRODUCT, op.MIN, op.MAX, op.BAND, op.BOR, op.BXOR):
                both = {}
                for name, group in groups.items():
                    both[name] = numbers(size, dtype)
                    dist.all_reduce(both[name], how, group=group)
                assert torch.equal(both["gloo"], both["tutti"]), (size, dtype, how)
        for dtype in REAL:
            exact = exact_sum(size, dtype, 0, groups)
            for how, expected in ((op.SUM, exact), (op.AVG, exact / ranks)):
                tensor = numbers(size, dtype)
                dist.all_reduce(tensor, how, group=groups["tutti"])
                eps = torch.finfo(dtype).eps
                scale = torch.full_like(expected, 4.0 * ranks)
                # Half types are rounded once: half a unit of the result, and float's own rounding.
                limit = expected.abs() * eps / 2 + scale * (
                    2e-7 if dtype in REAL[2:] else ranks * eps
                )
                assert (tensor.double() - expected).abs().le(limit).all(), (size, dtype, how)
                alike_everywhere(groups["gloo"], tensor)
            for how in (op.MIN, op.MAX):
                both = {name: numbers(size, dtype) for name in groups}
                for name, group in groups.items():
                    dist.all_reduce(both[name], how, group=group)
                assert torch.equal(both["gloo"], both["tutti"]), (size, dtype, how)
    short = torch.arange(-5, 5, dtype=torch.int16)
    dist.all_reduce(short, group=groups["tutti"])
    assert torch.equal(short, ranks * torch.arange(-5, 5, dtype=torch.int16))
    flags = numbers(100, torch.bool)
    parts = [torch.empty_like(flags) for _ in range(ranks)]
    dist.all_gather(parts, flags, group=groups["tutti"])
    expected = torch.stack(parts)
    for how, result in (
        (op.SUM, expected.any(0)),
        (op.PRODUCT, expected.all(0)),
        (op.BAND, expected.all(0)),
        (op.BOR, expected.any(0)),
        (op.BXOR, expected.sum(0) % 2 == 1),
    ):
        tensor = flags.clone()
        dist.all_reduce(tensor, how, group=groups["tutti"])
        assert torch.equal(tensor, result)
    pair = torch.tensor([1 + 2j, 3 - 1j])
    dist.all_reduce(pair, group=groups["tutti"])
    assert torch.equal(pair, ranks * torch.tensor([1 + 2j, 3 - 1j]))


def test_reduce_and_reduce_scatter(groups: Groups) -> None:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for size in SIZES:
        both = {name: numbers(size, torch.int64) for name in groups}
        for name, group in groups.items():
            dist.reduce(both[name], ranks - 1, group=group)
        if rank == ranks - 1:
            assert torch.equal(both["gloo"], both["tutti"])
        for dtype in (torch.int32, torch.float32, torch.bfloat16):
            exact = exact_sum(size * ranks, dtype, 3, groups)[rank * size : (rank + 1) * size]
            whole = numbers(size * ranks, dtype, 3)
            outs = [torch.empty(size, dtype=dtype) for _ in range(2)]
            dist.reduce_scatter_tensor(outs[0], whole, group=groups["tutti"])
            dist.reduce_scatter(outs[1], list(whole.chunk(ranks)), group=groups["tutti"]) if (
                size
            ) else outs[1].copy_(outs[0])
            assert torch.equal(outs[0], outs[1])
            eps = 0.0 if dtype == torch.int32 else torch.finfo(dtype).eps
            assert (outs[0].double() - exact).abs().le((exact.abs() + ranks) * eps * ranks).all()


def test_scaled_sums(groups: Groups) -> None:
    """PREMUL_SUM: each rank's numbers times a factor, which may differ by rank, before the sum."""
    rank, ranks, group = dist.get_rank(), dist.get_world_size(), groups["tutti"]
    weights = ranks * (ranks + 1) // 2
    for factor in (rank + 1.0, torch.tensor([rank + 1.0])):
        op = dist._make_nccl_premul_sum(factor)
        for dtype in REAL:
            for size in (0, 7, 70000):
                tensor = torch.full((size,), 0.5, dtype=dtype)
                dist.all_reduce(tensor, op, group=group)
                assert bool((tensor == weights / 2).all()), (dtype, size)
        tensor = torch.full((6,), 2.0)
        dist.reduce(tensor, 0, op, group=group)
        assert tensor.tolist() == [2.0 * weights if rank == 0 else 2.0] * 6
        part = torch.empty(3)
        whole = torch.ones(3 * ranks)
        dist.reduce_scatter_tensor(part, whole, op, group=group)
        assert part.tolist() == [weights] * 3 and bool((whole == 1).all())
        pair = torch.tensor([1 + 2j])
        dist.all_reduce(pair, op, group=group)
        assert pair.item() == weights * (1 + 2j)
    # Half types are multiplied and summed in float, and rounded once.
    op = dist._make_nccl_premul_sum(1 / 3)
    for dtype in REAL[2:]:
        own = numbers(5000, dtype)
        parts = [torch.empty_like(own) for _ in range(ranks)]
        dist.all_gather(parts, own, group=group)
        total = total_of([part.float() * (1 / 3) for part in parts])
        dist.all_reduce(own, op, group=group)
        assert torch.equal(own, total.to(dtype)), dtype


def test_numbers_of_8_bits(groups: Groups) -> None:
    """They are combined in float, in the order of ranks, and rounded once."""
    rank, ranks, op = dist.get_rank(), dist.get_world_size(), dist.ReduceOp
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        for size in (0, 9, 70000):
            own = numbers(ranks * size, torch.float32).to(dtype)
            parts = [torch.empty_like(own) for _ in range(ranks)]
            dist.all_gather(parts, own, group=groups["tutti"])
            total = total_of([part.float() for part in parts])
            largest = torch.stack([part.float() for part in parts]).amax(0)
            for how, exact in ((op.SUM, total), (op.AVG, total / ranks), (op.MAX, largest)):
                expected = exact.to(dtype).view(torch.uint8)
                tensor = own.clone()
                dist.all_reduce(tensor, how, group=groups["tutti"])
                assert torch.equal(tensor.view(torch.uint8), expected), (dtype, size, how)
                part = torch.empty(size, dtype=dtype)
                dist.reduce_scatter_tensor(part, own, how, group=groups["tutti"])
                mine = expected[rank * size : (rank + 1) * size]
                assert torch.equal(part.view(torch.uint8), mine), (dtype, size, how)


def test_coalesced(groups: Groups) -> None:
    ranks, group = dist.get_world_size(), groups["tutti"]
    tensors = [torch.ones(3), torch.ones(400)]
    dist.all_reduce_coalesced(tensors, group=group)
    assert all(bool((tensor == ranks).all()) for tensor in tensors)
    lists = [[torch.empty(3), torch.empty(2)] for _ in range(ranks)]
    own = float(dist.get_rank())
    dist.all_gather_coalesced(lists, [torch.full((3,), own), torch.full((2,), own)], group=group)
    for rank, two in enumerate(lists):
        assert all(bool((tensor == rank).all()) for tensor in two)
    from torch.distributed import _functional_collectives as functional

    sums = functional.all_reduce_coalesced([torch.ones(4), torch.ones(5)], "avg", group)
    assert all(bool((tensor == 1).all()) for tensor in sums)
    whole = functional.all_gather_tensor(torch.full((2,), own), 0, group)
    assert whole.tolist() == [float(rank) for rank in range(ranks) for _ in range(2)]
    parts = functional.reduce_scatter_tensor_coalesced([torch.ones(ranks)], "sum", [0], group)
    assert parts[0].tolist() == [float(ranks)]


def test_several_tensors_a_rank(groups: Groups) -> None:
    """The backend's own calls: all tensors of all ranks are combined, or gathered."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    backend = groups["tutti"]._get_backend(torch.device("cpu"))
    for dtype in (torch.float64, torch.int32, torch.bfloat16):
        two = [torch.full((2, 3), 2 * rank + i, dtype=dtype) for i in range(2)]
        backend.allreduce(two, dist.AllreduceOptions()).wait()
        assert all(bool((one == ranks * (2 * ranks - 1)).all()) for one in two)
    # Both numbers of a rank are added before they are rounded to bfloat16: 257 is none.
    halves = [
        torch.tensor([256.0 if rank == 0 else 0.0]).bfloat16(),
        torch.tensor([1.0]).bfloat16(),
    ]
    backend.allreduce(halves, dist.AllreduceOptions()).wait()
    expected = torch.tensor([256.0 + ranks]).bfloat16()
    assert all(bool((one == expected).all()) for one in halves)
    options = dist.BroadcastOptions()
    options.rootRank, options.rootTensor = 1, 1
    two = [torch.tensor([10 * rank]), torch.tensor([10 * rank + 1])]
    backend.broadcast(two, options).wait()
    assert [one.item() for one in two] == [11, 11]
    lists = [[torch.empty(3) for _ in range(2 * ranks)] for _ in range(2)]
    backend.allgather(lists, [torch.full((3,), 2.0 * rank + i) for i in range(2)]).wait()
    for gathered in lists:
        assert all(bool((one == i).all()) for i, one in enumerate(gathered))


def test_sparse_sums(groups: Groups) -> None:
    """A sum has the elements that any rank has, also those that are zero, as gloo's."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for shape in ((2 * ranks,), (2 * ranks, 3)):
        values = torch.full((3, *shape[1:]), rank + 1.0)
        values[2] = {0: 1.0, 1: -1.0}.get(rank, 0.0)  # their sum is zero
        given = torch.sparse_coo_tensor(torch.tensor([[rank, rank, ranks]]), values, shape)
        sums = {}
        for name in ("gloo", "tutti"):
            sums[name] = given.clone()
            dist.all_reduce(sums[name], group=groups[name])
        gloo, own = sums["gloo"].coalesce(), sums["tutti"].coalesce()
        assert torch.equal(gloo.indices(), own.indices())
        assert torch.equal(gloo.values(), own.values())
    empty = torch.sparse_coo_tensor(torch.empty(1, 0, dtype=torch.int64), torch.empty(0), (5,))
    dist.all_reduce(empty, group=groups["tutti"])
    assert empty.coalesce().indices().numel() == 0


def test_types_that_differ(groups: Groups) -> None:
    """Reductions of numbers of different types, or by different operations, fail at every rank."""
    op, first = dist.ReduceOp, dist.get_rank() == 0
    for size in (3, 70000):
        for dtype, how, told in (
            (torch.int32, op.SUM, "sum of int32"),
            (torch.float32, op.MAX, "maximum of float32"),
        ):
            group = dist.new_group(backend="cpu:tutti")
            tensor = torch.ones(size, dtype=dtype if first else torch.float32)
            work = dist.all_reduce(tensor, how if first else op.SUM, group=group, async_op=True)
            error = error_of(work.wait)
            assert told in error and "sum of float32" in error, error
    # torch's own check of all calls takes this backend, too.
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    group = dist.new_group(backend="cpu:tutti")
    dist.set_debug_level(dist.DebugLevel.OFF)
    tensor = torch.ones(3)
    dist.all_reduce(tensor, group=group)
    assert bool((tensor == dist.get_world_size()).all())
    other = torch.ones(3, dtype=torch.int32 if first else torch.float32)
    error = error_of(lambda: dist.broadcast(other, 0, group=group))
    assert "Int" in error and "Float" in error, error

"""The ranks of tests/torch: cases.py RANKS. Each case runs on gloo and on tutti, in one start.

Results of moved data and of whole numbers have the same bits as gloo's. Sums of floating-point
numbers are within the rounding of gloo's, and have the same bits at all ranks.
"""

import datetime
import faulthandler
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import tutti.torch  # noqa: F401 (registers the backend)
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel
from tutti.torch.extension import load

Groups = dict[str, dist.ProcessGroup]
REAL = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
WHOLE = [torch.uint8, torch.int8, torch.int32, torch.int64]  # gloo's
LIMIT = 120  # seconds of a rank; then its threads are printed
SIZES = [0, 1, 7, 5000, 70000]


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
        total = parts[0].float() * (1 / 3)
        for part in parts[1:]:
            total = total + part.float() * (1 / 3)
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
            total = parts[0].float()
            for part in parts[1:]:
                total = total + part.float()
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


def test_asynchronous(groups: Groups) -> None:
    """Two groups in different orders, futures, and a Work that nobody waits for."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    pair = [groups["tutti"], groups["second"]]
    if rank % 2:
        pair.reverse()
    for _ in range(50):
        tensors = [torch.ones(3) for _ in pair]
        works = [
            dist.all_reduce(tensor, group=group, async_op=True)
            for tensor, group in zip(tensors, pair, strict=True)
        ]
        for work in works:
            work.wait()
        assert all(bool((tensor == ranks).all()) for tensor in tensors)
    tensor = torch.ones(70000)
    future = dist.all_reduce(tensor, group=groups["tutti"], async_op=True).get_future()
    doubled = future.then(lambda ended: ended.value()[0] * 2)
    assert bool((doubled.wait() == 2 * ranks).all())
    dropped = torch.ones(5)
    dist.all_reduce(dropped, group=groups["tutti"], async_op=True)
    end = time.monotonic() + 100
    while not bool((dropped == ranks).all()):
        assert time.monotonic() < end
        time.sleep(0.001)
    work = dist.all_reduce(dropped, group=groups["tutti"], async_op=True)
    while not work.is_completed():
        assert time.monotonic() < end
    assert work.is_success()


def test_barrier_completes_earlier_calls(groups: Groups) -> None:
    group = groups["tutti"]
    for size in (5, 70000):
        tensors = [torch.ones(size) for _ in range(20)]
        for tensor in tensors:
            dist.all_reduce(tensor, group=group, async_op=True)
        dist.barrier(group=group)
        assert all(bool((tensor == dist.get_world_size()).all()) for tensor in tensors)


def test_sequence_numbers(groups: Groups) -> None:
    """A rank counts the collectives that it has started, so all ranks have the same number."""
    rank, group = dist.get_rank(), groups["tutti"]
    backend = group._get_backend(torch.device("cpu"))
    before = backend._get_sequence_number_for_group()
    dist.all_reduce(torch.ones(3), group=group)
    dist.all_reduce_coalesced([torch.ones(3), torch.ones(5)], group=group)
    if rank == 0:
        dist.send(torch.ones(1), 1, group=group)
    elif rank == 1:
        dist.recv(torch.ones(1), 0, group=group)
    work = dist.barrier(group=group, async_op=True)
    number = backend._get_sequence_number_for_group()
    work.wait()
    numbers: list[object] = [None] * dist.get_world_size()
    dist.all_gather_object(numbers, number, group=groups["gloo"])
    assert number == before + 3 and numbers == [number] * len(numbers), numbers


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


def test_two_waiters(groups: Groups) -> None:
    """The second keeps its own timeout, and a future can be had meanwhile."""
    tensor = torch.ones(3)
    if dist.get_rank() == 0:
        work = dist.all_reduce(tensor, group=groups["tutti"], async_op=True)
        waits = threading.Thread(target=lambda: errors.append(error_of(work.wait)))
        errors: list[str] = []
        waits.start()
        time.sleep(0.1)
        short = datetime.timedelta(milliseconds=50)
        assert "Timed out after 50 ms" in error_of(lambda: work.wait(short))
        assert not work.is_completed()
        future = work.get_future()
        assert not future.done()
        dist.barrier(group=groups["gloo"])
        future.wait()
        waits.join(60)
        assert errors == ["no error"], errors
    else:
        dist.barrier(group=groups["gloo"])
        dist.all_reduce(tensor, group=groups["tutti"])
    assert bool((tensor == dist.get_world_size()).all())


def test_group_that_ends_late(groups: Groups) -> None:
    """A group whose data is not read yet ends without a stop of other groups' futures."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    store = dist.PrefixStore("late", dist.distributed_c10d._get_default_store())
    backend = load().create(store, rank, ranks, 60000)  # nobody else has a reference
    got, given = torch.zeros(1), torch.full((70000,), float(rank))
    if rank == 0:
        backend.broadcast([given], dist.BroadcastOptions()).wait()  # waits for nobody
        backend.recv([got], 1, 0)  # its Work is dropped, and has the last reference
        del backend
        dist.barrier(group=groups["gloo"])
        while got.item() != 1:
            time.sleep(0.001)
    else:
        dist.barrier(group=groups["gloo"])
        if rank == 1:
            backend.send([torch.ones(1)], 0, 0).wait()
    time.sleep(0.1)
    tensor = torch.ones(5)
    dist.all_reduce(tensor, group=groups["tutti"], async_op=True).get_future().wait()
    assert tensor.tolist() == [float(ranks)] * 5
    dist.barrier(group=groups["gloo"])  # rank 0's future has ended before the data is read
    if rank != 0:
        backend.broadcast([given], dist.BroadcastOptions()).wait()
        assert bool((given == 0).all())


def test_subgroups(groups: Groups) -> None:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for members in ([0], [1, 0], list(range(ranks - 1, -1, -1))):
        group = dist.new_group(members, backend="cpu:tutti")
        if rank not in members:
            continue
        tensor = torch.tensor([rank])
        dist.all_reduce(tensor, group=group)
        assert tensor.item() == sum(members)
        dist.broadcast(tensor, members[0], group=group)
        dist.destroy_process_group(group)


def test_errors(groups: Groups) -> None:
    group = groups["tutti"]

    def refused(call: Callable[[], object], *words: str) -> None:
        try:
            call()
        except (RuntimeError, TypeError, ValueError) as error:
            assert all(word in str(error) for word in words), error
            return
        raise AssertionError(f"not refused: {words}")

    ones = torch.ones(3)
    op = dist.ReduceOp
    refused(lambda: dist.all_reduce(ones, op.BAND, group=group), "no BAND of Float")
    refused(lambda: dist.all_reduce(torch.ones(2).int(), op.AVG, group=group), "no AVG of Int")
    premul = dist._make_nccl_premul_sum(2.0)
    refused(lambda: dist.all_reduce(ones.int(), premul, group=group), "no PREMUL_SUM of Int")
    sparse = ones.to_sparse()
    refused(lambda: dist.all_reduce(sparse, op.MAX, group=group), "unsupported reduction")
    backend = group._get_backend(torch.device("cpu"))
    refused(lambda: backend.broadcast([sparse], dist.BroadcastOptions()), "dense tensors")
    refused(lambda: backend.allreduce([ones, ones.double()]), "invalid tensor type at index 1")
    # A wait ends in time, and the group is as before.
    rank = dist.get_rank()
    if rank == 0:
        work = dist.all_reduce(ones, group=group, async_op=True)
        short = datetime.timedelta(milliseconds=50)
        refused(lambda: work.wait(short), "Timed out", "allreduce")
        dist.barrier(group=groups["gloo"])
        work.wait()
    else:
        dist.barrier(group=groups["gloo"])
        dist.all_reduce(ones, group=group)
    assert bool((ones == dist.get_world_size()).all())
    dist.monitored_barrier(groups["gloo"])


def test_profiler(groups: Groups) -> None:
    """A profile has an event for each call, from its start to its end, with the shapes given."""
    with torch.autograd.profiler.profile(record_shapes=True) as profile:
        dist.all_reduce(torch.ones(3, 4), group=groups["tutti"])
        work = dist.broadcast(torch.ones(5), 0, group=groups["tutti"], async_op=True)
        work.wait()
    events = {event.name: event for event in profile.function_events if ":" in event.name}
    assert events["tutti:all_reduce"].input_shapes == [[3, 4]]
    assert events["tutti:broadcast"].input_shapes == [[5]] and events["tutti:broadcast"].is_async


def test_abort(groups: Groups) -> None:
    """Works under way end with an error, and so do later calls; other groups go on."""
    group = dist.new_group(backend="cpu:tutti")
    if dist.get_rank() == 0:
        work = dist.all_reduce(torch.ones(3), group=group, async_op=True)
        future = dist.all_reduce(torch.ones(3), group=group, async_op=True).get_future()
        waits = threading.Thread(target=lambda: errors.append(error_of(work.wait)))
        errors: list[str] = []
        waits.start()
        group.abort()
        waits.join(20)
        assert ["was aborted" in error for error in errors] == [True], errors
        assert "was aborted" in error_of(future.wait)
        assert "was aborted" in error_of(lambda: dist.all_reduce(torch.ones(3), group=group))
    dist.barrier(group=groups["tutti"])


def error_of(call: Callable[[], object]) -> str:
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return "no error"


def net() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(20, 50), torch.nn.ReLU(), torch.nn.Linear(50, 1))


def test_ddp(groups: Groups) -> None:
    trained = {}
    for name in ("gloo", "tutti"):
        model = DistributedDataParallel(net(), process_group=groups[name], bucket_cap_mb=1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        generator = torch.Generator().manual_seed(dist.get_rank())
        for _ in range(5):
            inputs = torch.randn(16, 20, generator=generator)
            optimizer.zero_grad()
            model(inputs).pow(2).mean().backward()
            optimizer.step()
        trained[name] = [parameter.detach() for parameter in model.parameters()]
    for gloo, own in zip(trained["gloo"], trained["tutti"], strict=True):
        torch.testing.assert_close(gloo, own, rtol=1e-5, atol=1e-7)
        alike_everywhere(groups["gloo"], own)


def main(rank: int, ranks: int, store: str) -> None:
    torch.set_num_threads(1)
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    groups: Groups = {"gloo": dist.group.WORLD}
    cases = [(name, case) for name, case in globals().items() if name.startswith("test_")]
    own = dist.new_group(backend="cpu:tutti")
    groups["tutti"] = own
    second = dist.new_group(backend="cpu:tutti")
    for name, case in cases:
        given = {**groups, "second": second} if name == "test_asynchronous" else groups
        began = time.monotonic()
        case(given)
        if rank == 0:
            print(f"{name} passed on {ranks} ranks in {time.monotonic() - began:.2f} s", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        count = int(sys.argv[1])
        mp.spawn(main, (count, os.path.join(directory, "store")), nprocs=count)

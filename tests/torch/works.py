"""Cases of cases.py: Works, groups and errors."""

import datetime
import threading
import time
from collections.abc import Callable

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from tutti.torch import empty_shared
from tutti.torch.extension import load
from values import Groups, alike_everywhere, error_of


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


def test_coalescing_manager(groups: Groups) -> None:
    """One Work waits for all calls, also of different kinds, and fails if one does."""
    rank, ranks, group = dist.get_rank(), dist.get_world_size(), groups["tutti"]
    after, before = (rank + 1) % ranks, (rank - 1) % ranks
    cpu = torch.device("cpu")
    for device in (None, cpu):
        tensors = [torch.ones(3), torch.ones(70000)]
        with dist._coalescing_manager(group, device, async_ops=True) as manager:
            for tensor in tensors:
                dist.all_reduce(tensor, group=group)
        manager.wait()
        assert all(bool((tensor == ranks).all()) for tensor in tensors)
    tensor, whole = torch.full((5,), float(rank)), torch.empty(5 * ranks)
    got = torch.zeros(70000)
    with dist._coalescing_manager(group, cpu, async_ops=True) as manager:
        dist.irecv(got, before, group=group)
        dist.broadcast(tensor, 1, group=group, async_op=True)
        dist.all_to_all_single(whole, torch.ones(5 * ranks), group=group, async_op=True)
        dist.isend(torch.full((70000,), float(rank)), after, group=group)
    (work,) = manager.works
    assert work.get_future().wait() is not None and work.is_completed()
    assert bool((got == before).all()) and tensor.tolist() == [1.0] * 5
    assert whole.tolist() == [1.0] * 5 * ranks
    # The last rank does not come for a while.
    with dist._coalescing_manager(group, cpu, async_ops=True) as manager:
        dist.broadcast(torch.ones(3), 0, group=group, async_op=True)
        if rank == ranks - 1:
            dist.barrier(group=groups["gloo"])
        dist.all_reduce(tensor, group=group, async_op=True)
        dist.broadcast(torch.ones(3), 0, group=group, async_op=True)
    if rank != ranks - 1:
        short = datetime.timedelta(milliseconds=50)
        assert "Timed out after 50 ms" in error_of(lambda: manager.works[0].wait(short))
        dist.barrier(group=groups["gloo"])
    manager.wait()
    assert tensor.tolist() == [float(ranks)] * 5


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


def is_in_heap(tensor: torch.Tensor) -> bool:
    with open("/proc/self/maps") as maps:
        heap = [line.split()[0].split("-") for line in maps if "memfd:tutti-heap" in line]
    return any(int(begin, 16) <= tensor.data_ptr() < int(end, 16) for begin, end in heap)


left_at_exit = []  # ends with the process, after its groups


def test_shared_tensors(groups: Groups) -> None:
    rank, ranks, group = dist.get_rank(), dist.get_world_size(), groups["tutti"]
    for size in (0, 1, 5000, 300000):
        for dtype in (None, torch.bfloat16, torch.int64):
            given, got = empty_shared(size, dtype=dtype), empty_shared((ranks, size), dtype=dtype)
            assert given.dtype == (dtype or torch.get_default_dtype()) and got.is_contiguous()
            assert size == 0 or (is_in_heap(given) and is_in_heap(got))
            for number in range(3):
                given.fill_(10 * number + rank)
                got.fill_(-1)
                dist.all_gather_into_tensor(got, given, group=group)
                given.fill_(7)  # this rank's again
                want = 10 * number + torch.arange(ranks)[:, None].expand(ranks, size)
                assert torch.equal(got, want.to(got.dtype))
                dist.all_reduce(given, group=group)
                assert bool((given == 7 * ranks).all())
                given.fill_(rank)
                part = empty_shared(size, dtype=dtype)
                dist.reduce_scatter_tensor(part, got.fill_(rank), group=group)
                assert bool((part == sum(range(ranks))).all())
                dist.all_to_all_single(got, got.clone() + 1, group=group)
                assert torch.equal(got[:, :1], (want + 1 - 10 * number)[:, :1].to(got.dtype))
    # A rank that waits for nobody, and whose tensor goes at once.
    dist.all_reduce(empty_shared(70000).fill_(1), group=group, async_op=True)
    dist.barrier(group=group)


def test_shared_tensors_are_read_where_they_are(groups: Groups) -> None:
    """A rank that writes to its tensor too early, which no program may, shows whether it is."""
    for make, read in ((torch.empty, 1), (empty_shared, 2)):
        tensor = make(70000).fill_(1 if dist.get_rank() == 0 else 0)
        if dist.get_rank() == 0:
            work = dist.broadcast(tensor, 0, group=groups["tutti"], async_op=True)
            tensor.fill_(2)
            dist.barrier(group=groups["gloo"])
            work.wait()
        else:
            dist.barrier(group=groups["gloo"])
            dist.broadcast(tensor, 0, group=groups["tutti"])
            assert bool((tensor == read).all()), (make, tensor)


def test_memory_of_shared_tensors(groups: Groups) -> None:
    """It is given back, and outlives groups. The heap has 64 GiB of addresses at most."""
    for _ in range(80):
        assert is_in_heap(empty_shared(2**30, dtype=torch.uint8))
    group = dist.new_group(backend="cpu:tutti")
    tensor = empty_shared(2, 50000).fill_(1)
    dist.all_reduce(tensor, group=group)
    dist.destroy_process_group(group)
    assert bool((tensor == dist.get_world_size()).all())
    half = tensor[1]
    del tensor
    dist.all_reduce(half, group=groups["tutti"])
    assert bool((half == dist.get_world_size() ** 2).all())
    left_at_exit.append(half)
    assert "no memory for 1125899906842624 bytes" in error_of(lambda: empty_shared(2**48))
    assert "negative dimension -1" in error_of(lambda: empty_shared(3, -1))


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

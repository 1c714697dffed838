"""The backend "tutti" of torch.distributed, for ranks on CPUs.

    import tutti.torch
    torch.distributed.init_process_group("cpu:tutti")

Importing registers the backend. Its extension in C++ (backend.cpp and the headers beside it) is
compiled when the first group is made, against the torch that is there, and kept in ~/.cache/tutti
(or XDG_CACHE_HOME).
"""

import datetime
import os
from collections.abc import Sequence
from multiprocessing import util
from typing import Any

import torch
import torch.distributed as dist

from tutti.torch.extension import load

LONGEST_FLUSH = 10.0  # seconds
_flushed_at_exit: set[int] = set()  # processes


def _create(store: Any, rank: int, size: int, timeout: datetime.timedelta) -> Any:
    if os.getpid() not in _flushed_at_exit:
        _flushed_at_exit.add(os.getpid())
        # Processes of multiprocessing end without atexit's functions, but call these. So do others.
        util.Finalize(None, load().flush, (LONGEST_FLUSH,), exitpriority=10)
    return load().create(store, rank, size, timeout // datetime.timedelta(milliseconds=1))


def empty_shared(*size: int | Sequence[int], dtype: torch.dtype | None = None) -> torch.Tensor:
    """A tensor of the CPU, not initialised, in memory that the ranks of the node share.

    The arguments are those of torch.empty. Long data is read from such tensors where it is; other
    tensors are copied into shared memory first. The memory is given back with the last tensor that
    uses it, also after the groups have ended. It takes whole pages. If the heap is full or
    TUTTI_REACH leaves it out, the tensor has memory of its own and works as any other.

    RuntimeError: this process has made no group of the backend "tutti" yet, or there is no memory.
    """
    return load().empty_shared(torch.empty(*size, dtype=dtype, device="meta"))


dist.Backend.register_backend("tutti", _create, devices=["cpu"])

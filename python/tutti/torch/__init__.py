"""The backend "tutti" of torch.distributed, for ranks on the CPUs of one node.

    import tutti.torch
    torch.distributed.init_process_group("cpu:tutti")

Importing registers the backend. Its extension in C++ (backend.cpp and the headers beside it) is
compiled when the first group is made, against the torch that is there, and kept in ~/.cache/tutti
(or XDG_CACHE_HOME).
"""

import datetime
import os
from multiprocessing import util
from typing import Any

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


dist.Backend.register_backend("tutti", _create, devices=["cpu"])

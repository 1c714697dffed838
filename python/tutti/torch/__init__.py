"""The backend "tutti" of torch.distributed, for ranks on the CPUs of one node.

    import tutti.torch
    torch.distributed.init_process_group("cpu:tutti")

Importing registers the backend. Its extension in C++ (backend.cpp) is compiled when the first group
is made, against the torch that is there, and kept in ~/.cache/tutti (or XDG_CACHE_HOME).
"""

import datetime
from typing import Any

import torch.distributed as dist

from tutti.torch.extension import load


def _create(store: Any, rank: int, size: int, timeout: datetime.timedelta) -> Any:
    return load().create(store, rank, size, timeout // datetime.timedelta(milliseconds=1))


dist.Backend.register_backend("tutti", _create, devices=["cpu"])

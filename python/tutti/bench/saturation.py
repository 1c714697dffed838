"""`tutti bench saturation`: the saturation map of this node's memory, between threads on its
cores. saturation_nodes measures that of the network between nodes.
"""

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from tutti.bench.cores import require_two
from tutti.bench.driver import execute_own
from tutti.saturation import map_of, show_map, show_messages

SECONDS = 3600
BYTES = (8, 1 << 20)
MESSAGES = 128


def measure(
    milliseconds: int,
    lengths: tuple[int, int] = BYTES,
    messages: int = MESSAGES,
    cores: Sequence[int] | None = None,
) -> dict[str, Any]:
    """The map's document. Each combination takes so many milliseconds, or a little more; lengths
    are the first and the last number of bytes of a message."""
    options = {
        "cores": cores or require_two("saturation"),
        "milliseconds": milliseconds,
        "bytes": lengths,
        "messages": messages,
    }
    return map_of(execute_own("saturation", options, SECONDS))


def show(map_: dict[str, Any], console: Console) -> None:
    show_map(map_, console)
    show_messages(map_, console)
    cost = map_["hand_over"]
    console.print(
        f"To hand a transfer to a server takes {cost['client']:.0f} ns of the client's core, "
        f"{cost['server'][0]:.0f} ns of the server's for {map_['bytes'][0]} bytes, and "
        f"{cost['latency']:.0f} ns both ways. --hosts measures between nodes.",
        highlight=False,
    )

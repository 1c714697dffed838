"""The sockets by which the ranks of jobs on this machine answer (src/mpi/roll/sockets.h).

Their names are in Linux's abstract namespace: tutti-roll/JOB/RANK/RANKS. Only the user of a job, and
root, gets an answer.
"""

import os
import socket
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

PREFIX = "@tutti-roll/"
NAMES = Path("/proc/net/unix")
# A rank says first that it is there, and gathers the others' places within two seconds.
GREETING = b"here\n"
SECONDS = 5.0


@dataclass
class Job:
    """A job that has ranks on this machine."""

    name: str
    ranks: int  # the whole job's
    here: list[int] = field(default_factory=list)


def jobs_in(lines: Iterable[str]) -> list[Job]:
    """The jobs whose sockets are among the lines of /proc/net/unix, with their ranks, rising."""
    jobs: dict[tuple[str, int], Job] = {}
    for line in lines:
        _, found, name = line.rstrip("\n").partition(PREFIX)
        parts = name.rsplit("/", 2)
        if not found or len(parts) != 3 or not (parts[1].isdigit() and parts[2].isdigit()):
            continue
        job, rank, ranks = parts[0], int(parts[1]), int(parts[2])
        here = jobs.setdefault((job, ranks), Job(job, ranks)).here
        # Each connection to a rank has a line with the rank's name, too.
        if rank not in here:
            here.append(rank)
    for found_job in jobs.values():
        found_job.here.sort()
    return [jobs[key] for key in sorted(jobs)]


def jobs() -> list[Job]:
    """The jobs of this machine, of all users."""
    try:
        with NAMES.open(encoding="utf-8", errors="replace") as lines:
            return jobs_in(lines)
    except OSError:
        return []


def _connected(job: Job, rank: int) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(SECONDS)
    try:
        connection.connect(f"\0{PREFIX[1:]}{job.name}/{rank}/{job.ranks}")
        return connection
    except OSError:
        connection.close()
        raise


@dataclass
class Owner:
    """A process of a job, and its user's number."""

    process: int
    user: int


def owner_of(job: Job) -> Owner | None:
    """The process of the job's lowest rank that is here; None if the job has ended."""
    for rank in job.here:
        try:
            with _connected(job, rank) as connection:
                size = struct.calcsize("3i")
                told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
                return Owner(*struct.unpack("3i", told)[:2])
        except OSError:
            continue
    return None


def own_jobs() -> list[tuple[Job, Owner]]:
    """The jobs of which this process's user may ask, each with its owner."""
    found = [(job, owner_of(job)) for job in jobs()]
    return [(job, owner) for job, owner in found if owner and os.geteuid() in (0, owner.user)]


def ask(job: Job, request: str) -> str:
    """The answer of the first rank that gives one; empty if none does."""
    for rank in job.here:
        try:
            with _connected(job, rank) as connection:
                connection.sendall(f"{request}\n".encode())
                answer = b"".join(iter(lambda: connection.recv(65536), b""))
        except OSError:  # it is stopped, or has ended
            continue
        if answer.startswith(GREETING) and answer != GREETING:
            return answer.removeprefix(GREETING).decode(errors="replace")
    return ""

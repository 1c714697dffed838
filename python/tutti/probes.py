"""Tests what the machine permits by trying it, because settings do not tell all. For `tutti
doctor`.
"""

import ctypes
import mmap
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PR_SET_PTRACER = 0x59616D61  # from linux/prctl.h
TOKEN = b"tutti probes its way into memory"


@dataclass(frozen=True)
class Outcome:
    works: bool
    reason: str = ""  # why it does not work


def sessions_are_groups(setting: Path = Path("/proc/sys/kernel/sched_autogroup_enabled")) -> bool:
    """True if the kernel schedules each session as a group (sched(7), autogrouping).

    Then `sched_yield` yields only to tasks of the same session. Ranks that share a core cannot
    yield to each other if the launcher starts each rank in a session of its own (as MPICH's does).
    """
    try:
        return setting.read_text().strip() == "1"
    except OSError:
        return False


def _in_child(body: Callable[[], bytes]) -> tuple[int, int]:
    """Forks a process that runs `body` and writes its result into a pipe.

    Returns (process id, descriptor to read from).
    """
    ours, theirs = os.pipe()
    process = os.fork()
    if process != 0:
        os.close(theirs)
        return process, ours
    answer = b"an exception"
    try:
        answer = body()
    except OSError as error:
        answer = (error.strerror or "error").encode()
    finally:
        os.write(theirs, answer)
        os._exit(0)


def _answer(child: tuple[int, int]) -> Outcome:
    process, pipe = child
    with os.fdopen(pipe, "rb") as stream:
        text = stream.read()
    os.waitpid(process, 0)
    return Outcome(True) if text == b"ok" else Outcome(False, text.decode(errors="replace"))


class _Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def _read_remote(process: int, address: int) -> bytes:
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(len(TOKEN))
    local = _Vector(ctypes.addressof(buffer), len(TOKEN))
    remote = _Vector(address, len(TOKEN))
    read = libc.process_vm_readv
    read.restype = ctypes.c_ssize_t
    one = ctypes.c_ulong(1)
    length = read(process, ctypes.byref(local), one, ctypes.byref(remote), one, ctypes.c_ulong(0))
    if length != len(TOKEN):
        return os.strerror(ctypes.get_errno()).encode()
    return b"ok" if buffer.raw == TOKEN else b"wrong bytes arrived"


def cma() -> Outcome:
    """One process reads the memory of another that is neither its parent nor its child.

    Ranks of a job are related in the same way. Yama permits this only if the other process names
    the reader or an ancestor of it, so the other process names the parent of both, as ranks do.
    """
    if not hasattr(ctypes.CDLL(None), "process_vm_readv"):
        return Outcome(False, "the system has no process_vm_readv")
    ours, theirs = os.pipe()
    wait, finish = os.pipe()
    owner = os.fork()
    if owner == 0:
        try:
            os.close(finish)
            # Without Yama this call has no effect.
            ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(os.getppid()), 0, 0, 0)
            held = ctypes.create_string_buffer(TOKEN, len(TOKEN))
            os.write(theirs, struct.pack("Q", ctypes.addressof(held)))
            os.read(wait, 1)  # until the parent closes the other end
        finally:
            os._exit(0)
    try:
        (address,) = struct.unpack("Q", os.read(ours, 8))
        return _answer(_in_child(lambda: _read_remote(owner, address)))
    finally:
        for descriptor in (finish, wait, ours, theirs):
            os.close(descriptor)
        os.waitpid(owner, 0)


def process_descriptors() -> Outcome:
    """A descriptor of a process tells when it ends (Linux 5.3)."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError) as error:
        return Outcome(False, getattr(error, "strerror", None) or str(error))
    return Outcome(True)


def _token_at(name: str) -> bytes:
    file = os.open(name, os.O_RDWR)
    with mmap.mmap(file, 4096) as memory:
        return b"ok" if memory[: len(TOKEN)] == TOKEN else b"the other process sees other memory"


def memfd() -> Outcome:
    """Tries memory without a name, which another process maps through /proc."""
    try:
        file = os.memfd_create("tutti-probe")
    except (AttributeError, OSError) as error:
        return Outcome(False, str(error))
    try:
        os.ftruncate(file, 4096)
        with mmap.mmap(file, 4096) as memory:
            memory[: len(TOKEN)] = TOKEN
            name = f"/proc/{os.getpid()}/fd/{file}"
            return _answer(_in_child(lambda: _token_at(name)))
    except OSError as error:
        return Outcome(False, str(error))
    finally:
        os.close(file)


def shm_directory() -> tuple[Outcome, int, int]:
    """Tries a file in /dev/shm. Also returns the size of /dev/shm and its free space, in bytes."""
    name = f"/dev/shm/tutti-probe-{os.getpid()}"
    try:
        room = os.statvfs("/dev/shm")
        file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        return Outcome(False, error.strerror or str(error)), 0, 0
    size, free = room.f_blocks * room.f_frsize, room.f_bavail * room.f_frsize
    try:
        os.ftruncate(file, 4096)
        with mmap.mmap(file, 4096) as memory:
            memory[: len(TOKEN)] = TOKEN
            return _answer(_in_child(lambda: _token_at(name))), size, free
    except OSError as error:
        return Outcome(False, error.strerror or str(error)), size, free
    finally:
        os.close(file)
        os.unlink(name)

"""Runs `tutti` commands as processes that need not read the package first.

A server has imported `tutti.cli`, which takes most of the time of a short command, and makes a copy
of itself (fork) for each command. The copy has the standard streams, the environment and the
directory that a new process would have. Each process that runs tests has one server.
"""

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import redirect_stderr
from importlib import import_module
from io import StringIO
from pathlib import Path

from tutti import cli


class CommandServer:
    """The side of the tests. One thread at a time may run commands."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._server = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        theirs.close()

    def close(self) -> None:
        self._socket.close()
        self._server.wait(timeout=100)

    def run(
        self,
        arguments: list[str],
        environment: dict[str, str],
        stdin: str,
        seconds: float,
        cwd: Path,
    ) -> subprocess.CompletedProcess[str]:
        """Runs one command; like subprocess.run, raises TimeoutExpired and then ends it."""
        ends = [os.pipe() for _ in range(3)]
        ours = [ends[0][1], ends[1][0], ends[2][0]]
        theirs = [ends[0][0], ends[1][1], ends[2][1]]
        request = json.dumps([arguments, environment, str(cwd)]).encode()
        with open(ours[0], "w") as into, open(ours[1]) as out, open(ours[2]) as err:
            socket.send_fds(self._socket, [request], theirs)
            for end in theirs:
                os.close(end)
            said = ["", ""]

            def write() -> None:
                try:
                    into.write(stdin)
                    into.close()
                except BrokenPipeError:
                    pass

            def read(which: int, stream) -> None:
                said[which] = stream.read()

            threads = [
                threading.Thread(target=write),
                threading.Thread(target=read, args=(0, out)),
                threading.Thread(target=read, args=(1, err)),
            ]
            for thread in threads:
                thread.start()
            pid = int(self._socket.recv(64))
            self._socket.settimeout(seconds)
            try:
                code = int(self._socket.recv(64))
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self._socket.settimeout(None)
                self._socket.recv(64)
                raise subprocess.TimeoutExpired(["tutti", *arguments], seconds) from None
            finally:
                self._socket.settimeout(None)
            for thread in threads:
                thread.join(seconds)
        return subprocess.CompletedProcess(["tutti", *arguments], code, said[0], said[1])


def become(arguments: list[str], environment: dict[str, str], cwd: str, streams: list[int]) -> None:
    """In the copy: takes over what a new process would have, runs the command and ends.

    The objects of the standard streams have not been used, and write to the same numbers.
    """
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(cwd)
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update(environment)
    sys.argv = ["tutti", *arguments]
    code = cli.run(arguments)
    # It ends as a child of `multiprocessing` does. To take the interpreter apart would copy most of
    # its pages.
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def serve(connection: socket.socket) -> None:
    # A refused command reads what commands need to parse their arguments, and nothing else: the
    # compiled module may remember its environment.
    cli.whole_app()
    with redirect_stderr(StringIO()):
        cli.run(["plan", "show", "allreduce", "--ranks", "none"])
    import_module("matplotlib.figure")  # takes 0.3 s of each command that draws
    gc.freeze()  # collections in the copies look at what they make themselves
    while True:
        request, streams, _, _ = socket.recv_fds(connection, 1 << 20, 3)
        if not request:
            return
        pid = os.fork()
        if pid == 0:
            connection.close()
            become(*json.loads(request), streams)
        for stream in streams:
            os.close(stream)
        connection.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))

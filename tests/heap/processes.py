"""Python under the shared heap starts processes in every way that Python has."""

import multiprocessing
import os
import subprocess
import sys


def square(number):
    text = ["x" * number] * 1000  # allocates in the child
    return number * number + len(text) - 1000


def main():
    program = [sys.executable, "-c", "print(sum(range(10)))"]
    assert subprocess.run(program, capture_output=True, text=True, check=True).stdout == "45\n"
    # preexec_fn makes subprocess fork instead of vfork.
    assert subprocess.run(["true"], preexec_fn=lambda: None).returncode == 0
    assert os.system("exit 3") == 3 << 8
    kept = bytearray(b"parent" * 100000)
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(square, range(20)) == [number * number for number in range(20)]
    child = os.fork()
    if child == 0:
        kept[:] = b"child." * 100000
        os._exit(0 if kept[:6] == b"child." else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert kept == b"parent" * 100000
    print("ok")


if __name__ == "__main__":
    main()

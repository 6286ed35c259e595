"""Starts one command and says what it cost: wall time, processor time and peak memory, as JSON into a file.

It is a process of its own, and a small one, since a child's peak memory counts from that of its parent.
Usage: launch.py RESULT SECONDS BYTES COMMAND [ARGUMENT]... ends the command after so many seconds, and lets it have no
more memory than so many bytes (0: as much as there is).
"""

import json
import os
import resource
import signal
import sys
import time

ENDED_BY_US = -1
"""The exit code of a command that took too long."""


def main() -> None:
    """Run the command with this process's own standard streams."""
    result, seconds, memory, *command = sys.argv[1:]
    if int(memory):
        resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    start = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ)
    too_late = []

    def end(*_: object) -> None:
        too_late.append(True)
        os.kill(process, signal.SIGKILL)

    signal.signal(signal.SIGALRM, end)
    signal.alarm(int(seconds))
    _, status, usage = os.wait4(process, 0)
    signal.alarm(0)
    wall = time.perf_counter() - start
    # Linux counts in kilobytes, macOS in bytes.
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    code = ENDED_BY_US if too_late else os.waitstatus_to_exitcode(status)
    values = {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "peak": peak, "code": code}
    with open(result, "w", encoding="utf-8") as stream:  # noqa: PTH123 (pathlib would make this process larger)
        json.dump(values, stream)


if __name__ == "__main__":
    main()

"""Where the program begins, as `ladderdeck` and as `python -m ladderdeck`: Ctrl-C is answered from here on.

It imports nothing at its top but what ends a process, so that even a Ctrl-C during the imports finds an answer.
"""

import os
import signal
import sys

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 and the signal's number."""


def main() -> None:
    """Run the command line and exit; with one line and code 130 after Ctrl-C, whenever it comes."""
    try:
        import gc

        # What is loaded stays: to look for garbage in it takes a tenth of the start.
        gc.disable()
        from .cli import main as command_line

        gc.freeze()
        gc.enable()
        command_line()
    except KeyboardInterrupt as interrupt:
        _end("" if interrupt.args else "\n")
    except SystemExit:
        # The work is done: from here on there is nothing to interrupt.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise


def _end(start: str) -> None:
    """Leave at once: what an interpreter does at its end could be interrupted again, and would show a traceback."""
    try:
        sys.stdout.flush()
        sys.stderr.write(f"{start}Stopped. No file is half-written.\n")
        sys.stderr.flush()
    finally:
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()

"""`python build.py …`: the command line of ladderdeck, from a checkout."""

import os
import sys

# Not with pathlib, whose import takes as long as the start of Python itself.
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)) + "/src")  # noqa: PTH120

if __name__ == "__main__":
    try:
        from ladderdeck.__main__ import main

        main()
    except ModuleNotFoundError as error:
        sys.exit(f"build.py needs the package {error.name}: run `make deck`, or `.venv/bin/python build.py`.")

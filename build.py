"""`python build.py …`: the command line of ladderdeck, from a checkout."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

if __name__ == "__main__":
    try:
        from ladderdeck.__main__ import main

        main()
    except ModuleNotFoundError as error:
        sys.exit(f"build.py needs the package {error.name}: run `make deck`, or `.venv/bin/python build.py`.")

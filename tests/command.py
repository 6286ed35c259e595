"""Runs the command line as a user does: a process of its own, from a checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
SEED = CHECKOUT / "cards" / "llm-inference-serving" / "SKILL.md"


@dataclass(frozen=True)
class Run:
    """How a command ended."""

    code: int
    out: str
    err: str


def ladderdeck(*arguments: str | Path, cwd: Path, **environment: str) -> Run:
    """Run `python build.py …` in the folder ``cwd``; ``environment`` is added to this process's."""
    run = subprocess.run(
        [sys.executable, str(CHECKOUT / "build.py"), *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )
    return Run(run.returncode, run.stdout.decode("utf-8", "replace"), run.stderr.decode("utf-8", "replace"))


def here(*arguments: str | Path, cwd: Path) -> Run:
    """The same within this process: quicker, where a process of its own makes no difference."""
    from click.testing import CliRunner

    from ladderdeck.cli import cli

    before = Path.cwd()
    os.chdir(cwd)
    try:
        result = CliRunner().invoke(cli, [str(argument) for argument in arguments], prog_name="python build.py")
    finally:
        os.chdir(before)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Run(result.exit_code, result.stdout, result.stderr)


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder with their content: what must not change when a command fails."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}

"""What a build is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..packaging.formats import DEFAULT_FORMAT
from ..values.model import Language


@dataclass(frozen=True)
class Request:
    """What a build is asked for.

    ``paths`` are packs and folders, ``output`` is the file to write, in the format named ``format_name``. ``now`` is the
    time (Unix seconds) with which changes are stamped, ``clock`` what the machine's clock says. ``locked`` forbids a
    change of the ledger, ``dry_run`` writes nothing. ``ledger`` names the ledger's file, if it is not where it is looked
    for.
    """

    paths: Sequence[Path]
    output: Path
    templates: Path
    now: int
    clock: int
    format_name: str = DEFAULT_FORMAT
    language: Language | None = None
    ledger: Path | None = None
    locked: bool = False
    dry_run: bool = False

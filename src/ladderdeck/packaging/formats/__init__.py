"""The formats that a build can write. Each is a module of this package that defines ``FORMAT``; one more is one more file."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from .contract import Format

DEFAULT_FORMAT = "apkg"


def format_names() -> tuple[str, ...]:
    """The names of all formats, sorted; none is loaded for it."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != "contract"))


def load_format(name: str) -> Format:
    """The format of that name, which must be one of :func:`format_names`."""
    found = importlib.import_module(f".{name}", __package__).FORMAT
    assert isinstance(found, Format)
    return found


def format_of(file: Path) -> str | None:
    """The name of the format that a file's suffix says, in any letter case; None where it says none."""
    suffix = file.suffix.lower()
    return next((name for name in format_names() if suffix in load_format(name).suffixes), None)

"""How work tells how far it is: it calls a function with a few words. Who calls decides whether anybody sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_Item = TypeVar("_Item")

Report = Callable[[str], None]
"""Takes what is being done now, in a few words."""


def silent(_: str) -> None:
    """Tell nobody."""


def tracked(items: Sequence[_Item], what: str, report: Report) -> Iterator[_Item]:
    """The items one by one, each reported as `WHAT 3 of 40` before it is worked on."""
    for number, item in enumerate(items, 1):
        report(f"{what} {number} of {len(items)}")
        yield item

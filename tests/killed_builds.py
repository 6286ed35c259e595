"""Builds that die at every step of writing: a program of its own, since it forks.

Called with a folder that holds a deck, and the name of a signal. Each build is a fork of this process that sends itself
the signal when it comes to a certain line of `ladderdeck.keeping.files`: the first fork dies at the first line, the next at the
second, until one gets through. After each death the disk is looked at, and a build that nobody disturbs must mend it (once
for each state of the disk: a build is made of nothing else).
Prints how many builds died, and how often the disk held which pair.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from deck_builder import NOW, Deck

import ladderdeck.building.build
from ladderdeck.keeping import files
from ladderdeck.keeping.files import replace_together

State = dict[str, "bytes | None"]


class AtLine:
    """A tracer that calls ``act`` at the n-th line of `ladderdeck.keeping.files` that is run while files are replaced."""

    def __init__(self, number: int, act: Callable[[], None]) -> None:
        self.left, self.act = number, act

    def __call__(self, frame, event, argument):
        if frame.f_code.co_filename != files.__file__:
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                self.act()
        return self

    def replace_together(self, writers):
        """`replace_together`, watched."""
        sys.settrace(self)
        try:
            return replace_together(writers)
        finally:
            sys.settrace(None)


def build_in_a_fork(deck: Deck, step: int, number: signal.Signals) -> int:
    """Build in a child that gets the signal at line ``step``; its exit code, negative for a signal that ended it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    tracer = AtLine(step, lambda: os.kill(os.getpid(), number))
    ladderdeck.building.build.replace_together = tracer.replace_together
    code = 1
    try:
        deck.build(NOW + 5)
        code = 0
    except KeyboardInterrupt:
        code = 130
    finally:
        os._exit(code)


def restore(deck: Deck, state: State) -> None:
    """Bring the folder back to a state."""
    shutil.rmtree(deck.folder)
    for name, data in state.items():
        path = deck.folder / name
        if data is None:
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def without_left_overs(state: State) -> State:
    """A state without temporary files."""
    return {name: data for name, data in state.items() if not name.endswith(".ladderdeck.tmp")}


def main() -> None:
    """See above."""
    deck, number = Deck(Path(sys.argv[1])), signal.Signals[sys.argv[2]]
    old = deck.on_disk()
    deck.build(NOW + 5)
    new = deck.on_disk()
    between = {**old, "cards/ledger.json": new["cards/ledger.json"]}
    step, seen = 0, Counter()
    mended: set[object] = set()
    while True:
        restore(deck, old)
        step += 1
        code = build_in_a_fork(deck, step, number)
        after = deck.on_disk()
        if code == 0:
            assert after == new
            break
        assert code == (130 if number is signal.SIGINT else -number), code
        found = without_left_overs(after)
        if number is signal.SIGINT:
            assert after == found, "an interrupted build left files behind"
        found = {name: data for name, data in found.items() if data is not None or name in old}
        seen[
            "old"
            if found == old
            else "new"
            if found == {k: v for k, v in new.items() if v is not None or k in old}
            else "between"
        ] += 1
        assert found in (old, between) or without_left_overs(after) == new, sorted(found)
        if (state := tuple(sorted(after.items()))) not in mended:
            mended.add(state)
            deck.build(NOW + 5)
            assert deck.on_disk() == new, "the next build did not make good"
    print(json.dumps({"died": step - 1, **seen}))


if __name__ == "__main__":
    main()

"""What can be wrong with a build as a whole, in words: the ledger, the output, and what identity could not decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ..identity.ledger import Ledger, newest
from ..identity.matching import Doubt
from ..values.model import Position, Problem, Severity
from ..values.note import Note
from ..values.paths import shown

_A_DAY = 24 * 3600


def from_the_future(file: Path, ledger: Ledger, clock: int) -> tuple[Problem, ...]:
    """A warning for a ledger whose changes are later than what the clock says (Unix seconds)."""
    ahead = newest(ledger) - clock
    if ahead <= _A_DAY:
        return ()
    message = f"the ledger's latest change lies {ahead // _A_DAY} day(s) in the future; changes go on from there"
    return (Problem("future-ledger", Severity.WARNING, Position(shown(file)), message, "check this machine's clock"),)


def overwrites(output: Path, read: Iterable[Path]) -> tuple[Problem, ...]:
    """An error where the output would overwrite what it is made of."""
    if all(file.resolve() != output.resolve() for file in read):
        return ()
    message, hint = "the output would overwrite what it is made of", "name another file with -o, such as dist/my.apkg"
    return (Problem("own-output", Severity.ERROR, Position(shown(output)), message, hint),)


def not_ours(output: Path, is_ours: Callable[[bytes], bool]) -> tuple[Problem, ...]:
    """An error where in the output's place is what a build must not replace: no file, or one of somebody else's.

    ``is_ours`` says whether a file that begins with certain bytes was written by a build like this; an empty one is free.
    """
    if not output.exists():
        return ()
    position = Position(shown(output))
    try:
        if output.is_file():
            with output.open("rb") as stream:
                beginning = stream.read(512)
            if not beginning or is_ours(beginning):
                return ()
    except OSError as error:
        message = f"what is there cannot be read: {error.strerror}"
        return (Problem("cannot-read", Severity.ERROR, position, message, "check its permissions"),)
    message = "what is there was not written by such a build, and is not overwritten"
    return (Problem("not-ours", Severity.ERROR, position, message, "name another file with -o, or move that one away"),)


def doubtful(doubt: Doubt, notes: Sequence[Note]) -> Problem:
    """A warning about a choice between two that was too close to call; it names both."""
    note, chosen = notes[doubt.note], doubt.chosen
    old = f"the old `{chosen.text}`{_in(chosen.topic)}"
    if doubt.other is not None:
        message = f"`{note.origin.wording}`{_in(note.origin.topic)} is taken for {old}, and could as well be "
        message += f"`{doubt.other.text}`{_in(doubt.other.topic)}"
    else:
        rival = notes[doubt.rival or 0].origin
        message = f"{old} is taken to be `{note.origin.wording}`{_in(note.origin.topic)} now, and could as well be "
        message += f"`{rival.wording}`{_in(rival.topic)}"
    hint = "if that is wrong, undo the edit, and make it in two steps with a build between them"
    return Problem("close-identity", Severity.WARNING, note.position or Position(""), message, hint)


def _in(topic: str) -> str:
    return f" ({topic})" if topic else ""


def busy(ledger: Path) -> Problem:
    """An error where another build kept this one waiting for too long."""
    message = "another build has been writing this deck for too long"
    return Problem("busy", Severity.ERROR, Position(shown(ledger)), message, "end it, and build again")


def locked(ledger: Path) -> Problem:
    """An error where the ledger would change though it must not."""
    message = "the ledger would change, and --locked forbids it"
    return Problem(
        "locked", Severity.ERROR, Position(shown(ledger)), message, "build without --locked, and commit the ledger"
    )

"""`push`: sends the package into a running Anki."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import click

from ..building.report import count_of
from ..handing_over.anki_connect import DEFAULT_ADDRESS, KEY_VARIABLE, AnkiConnectError, Connection, check_address
from ..handing_over.push import Fate, Plan
from ..handing_over.pushing import Report, look_ahead, push
from ..packaging.package_reading import StoredNote, read_package
from ..values.model import Position, Problem, Severity
from ..values.paths import shown
from .common import ledger_option, pack_arguments, show_problems
from .package_file import package_option, read_package_file, warn_if_stale

_NAMED_AT_MOST = 10


@click.command("push")
@pack_arguments
@ledger_option
@package_option
@click.option("--move", is_flag=True, help="Also move cards whose deck changed, and suspend retired ones.")
@click.option("--sync", is_flag=True, help="Then have Anki sync.")
@click.option("--dry-run", is_flag=True, help="Show what would happen in Anki, and change nothing there.")
@click.option("--key", default="", metavar="KEY", envvar=KEY_VARIABLE, show_envvar=True, help="AnkiConnect's apiKey.")
@click.option("--address", default=DEFAULT_ADDRESS, metavar="URL", show_default=True, help="Where AnkiConnect listens.")
def command(
    paths: tuple[Path, ...],
    language: str | None,
    ledger: Path | None,
    package: Path,
    move: bool,
    sync: bool,
    dry_run: bool,
    key: str,
    address: str,
) -> None:
    """Send the package into Anki, which must be running on this computer with the add-on AnkiConnect (2055492159).

    Then it reads back what arrived. Nothing is ever deleted, and nothing is built: if the packs at PATH, or in cards/,
    have changed since the package was built, it says so.

    Example: python build.py push --move --sync
    """
    try:
        connection = Connection(check_address(address), key)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--address") from error
    data = read_package_file(package)
    warn_if_stale(data, package, paths, language, ledger)
    notes = read_package(data)
    try:
        report = look_ahead(connection, notes) if dry_run else push(connection, package, notes, move=move, sync=sync)
    except AnkiConnectError as error:
        _complain(error, package)
        if error.code != "timeout":  # else nobody knows
            click.echo("Nothing was imported.", err=True)
        raise SystemExit(1) from None
    _show(report, package, move=move, dry_run=dry_run)
    if report.trouble is not None:
        _complain(report.trouble, package)
    elif sync and not dry_run:
        click.echo("Anki is syncing. Then sync the phone.")
    if report.trouble is not None or any(fate is Fate.MISSING for _, fate in report.fates):
        raise SystemExit(1)


def _complain(error: AnkiConnectError, package: Path) -> None:
    show_problems([Problem(error.code, Severity.ERROR, Position(shown(package)), error.message, error.hint)], err=True)


def _show(report: Report, package: Path, *, move: bool, dry_run: bool) -> None:
    where = f"Anki, profile {report.profile}" if report.profile else "Anki"
    click.echo(f"{shown(package)} {'would go' if dry_run else 'went'} into {where}:")
    counts = Counter(fate for _, fate in report.fates)
    line = ", ".join(f"{counts[fate]} {fate.value}" for fate in Fate if counts[fate])
    click.echo(f"  {line or 'what arrived could not be read back'}")
    _name(report.fates, Fate.MISSING, "  These did not arrive:")
    _name(
        report.fates, Fate.KEPT, "  Anki kept its own, since these were edited there later, or have another note type:"
    )
    for line in _cards(report, move=move, dry_run=dry_run):
        click.echo(f"  {line}")
    if dry_run:
        click.echo("Nothing was changed, since this was a dry run.")


def _name(fates: Iterable[tuple[StoredNote, Fate]], fate: Fate, heading: str) -> None:
    notes = [note for note, its_fate in fates if its_fate is fate]
    if notes:
        click.echo(heading)
    for note in notes[:_NAMED_AT_MOST]:
        click.echo(f"    {_title(note)}")
    if len(notes) > _NAMED_AT_MOST:
        click.echo(f"    … and {len(notes) - _NAMED_AT_MOST} more")


def _cards(report: Report, *, move: bool, dry_run: bool) -> list[str]:
    """What there was to do about cards, and whether it was done."""
    if not report.plan:
        return []
    if not move:
        return [*_plan_lines(report.plan, "to move", "to suspend", "to wake"), "push --move does that."]
    if dry_run:
        return _plan_lines(report.plan, "would be moved", "would be suspended", "would be woken")
    if not report.left:
        return _plan_lines(report.plan, "moved", "suspended", "woken")
    lines = _plan_lines(report.left, "not moved", "not suspended", "not woken")
    return [f"Not all of the cards could be dealt with: {line}" for line in lines]


def _plan_lines(plan: Plan, moved: str, suspended: str, woken: str) -> list[str]:
    lines = [
        f"{count_of(len(move.cards), 'card', 'cards')} {moved}: {move.source}  ⇒  {move.target}" for move in plan.moves
    ]
    if plan.suspend:
        lines.append(f"{count_of(len(plan.suspend), 'retired card', 'retired cards')} {suspended}")
    if plan.wake:
        lines.append(f"{count_of(len(plan.wake), 'card', 'cards')} that came back {woken}")
    return lines


def _title(note: StoredNote) -> str:
    text = html.unescape(re.sub(r"<[^<>]*>", " ", note.fields.get("Question", "")))
    line = " ".join(text.split())
    return f"{line if len(line) <= 80 else line[:79] + '…'} ({note.deck})"

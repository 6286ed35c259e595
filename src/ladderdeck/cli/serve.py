"""`serve`: hands the package to a phone in the same network."""

from __future__ import annotations

import asyncio
import ipaddress
import math
import os
import secrets
import shutil
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import click

from ..handing_over.handover import Event, Limits, hand_over, listen, own_address
from ..handing_over.qr_code import qr_lines
from ..handing_over.transfer import Offer, offer_of
from ..values.model import Position, Problem, Severity
from ..values.paths import shown
from .common import ledger_option, pack_arguments, show_problems
from .package_file import package_option, read_package_file, warn_if_stale

INTERRUPTED = 130
"""The exit code of a program that Ctrl-C has ended, as shells have it."""


@click.command("serve")
@pack_arguments
@ledger_option
@package_option
@click.option("--host", metavar="ADDRESS", help="The address of this computer to serve at, if it has several.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port; without it any free one.")
@click.option("--minutes", type=click.FloatRange(0, 24 * 60, min_open=True), default=10, show_default=True)
@click.option("--stay", is_flag=True, help="Do not stop after a download: there are several phones.")
def command(
    paths: tuple[Path, ...],
    language: str | None,
    ledger: Path | None,
    package: Path,
    host: str | None,
    port: int,
    minutes: float,
    stay: bool,
) -> None:
    """Hand the package to a phone in the same network: shows an address, and a QR code of it.

    It serves that one file, as it is now, until it was downloaded or the time is up; Ctrl-C ends it. Nothing is built:
    if the packs at PATH, or in cards/, have changed since the package was built, it says so.

    Example: python build.py serve
    """
    if math.isnan(minutes):
        raise click.BadParameter("that is not a number of minutes.", param_hint="--minutes")
    try:
        data = read_package_file(package)
        warn_if_stale(data, package, paths, language, ledger)
        listener = _listen(_one_address(host), port)
        offer = offer_of(data, shown(Path(package.name)), secrets.token_urlsafe(16))
        limits = replace(Limits(), total=minutes * 60, stay=stay)

        async def serve() -> int:
            # Introduced only here, where Ctrl-C finds a loop that is whole: a half-made one would complain at its end.
            _introduce(offer, listener, package, limits)
            return await hand_over(offer, listener, limits, lambda event, peer: _tell(event, peer, limits))

        downloads = asyncio.run(serve())
    except KeyboardInterrupt:
        click.echo("Stopped.")
        raise SystemExit(INTERRUPTED) from None
    if not downloads:
        click.echo(f"Stopped after {_minutes(limits)}: nobody has downloaded the package.", err=True)
        raise SystemExit(1)
    click.echo("Done. On the phone, open the file with Anki and confirm the import.")


def _one_address(host: str | None) -> str:
    """The address to serve at: the given one, else this machine's in its network."""
    if host is not None:
        if host in ("", "0.0.0.0", "::", "*"):
            raise click.UsageError("--host takes one address of this computer, not all of them.")
        return host
    try:
        address = own_address()
    except OSError:
        _fail("no-network", "this computer is in no network", "join the phone's Wi-Fi, or name an address with --host")
    if ipaddress.ip_address(address).is_global:
        text = "the address of this computer is a public one, and anybody on the internet can connect to it"
        hint = "nobody can guess the path, but the file travels unencrypted; with --host you can name another address"
        show_problems([Problem("public-address", Severity.WARNING, Position(address), text, hint)], err=True)
    return address


def _listen(host: str, port: int) -> socket.socket:
    try:
        return listen(host, port)
    except (OSError, UnicodeError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        hint = "name an address of this computer with --host, and a free port, or none, with --port"
        _fail("cannot-serve", f"nothing can be served at {host}, port {port or 'any'}: {reason}", hint)


def _fail(code: str, message: str, hint: str) -> NoReturn:
    show_problems([Problem(code, Severity.ERROR, Position("serve"), message, hint)], err=True)
    raise SystemExit(1)


def _introduce(offer: Offer, listener: socket.socket, package: Path, limits: Limits) -> None:
    host, port = listener.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}{offer.path}"
    until = "" if limits.stay else ", or until it was downloaded"
    click.echo(f"Serving {shown(package)} ({_size(len(offer.data))}) for {_minutes(limits)}{until}:\n\n  {address}\n")
    for line in _qr_code(address):
        click.echo(line, color=True)
    click.echo("The phone must be in the same network. Scan the code or type the address, and open the file with Anki.")
    if ipaddress.ip_address(host.partition("%")[0]).is_loopback:
        click.echo("This address can be reached from this computer only.")
    click.echo("If nothing arrives, a firewall may be in the way. Ctrl-C ends this.")
    sys.stdout.flush()


def _qr_code(address: str) -> Sequence[str]:
    if not sys.stdout.isatty():
        return ()
    columns = shutil.get_terminal_size().columns
    lines = qr_lines(
        address, columns=columns, encoding=sys.stdout.encoding or "ascii", colour=not os.environ.get("NO_COLOR")
    )
    return (*lines, "") if lines else ("(The terminal is too small, or too simple, for a QR code.)", "")


def _tell(event: Event, peer: str, limits: Limits) -> None:
    if event is Event.STARTED:
        click.echo(f"{peer} is downloading.")
    else:
        more = "" if limits.stay else f" Still here for {limits.grace:.0f} seconds, should it ask again."
        click.echo(f"{peer} has downloaded the package.{more}")
    sys.stdout.flush()


def _minutes(limits: Limits) -> str:
    minutes = limits.total / 60
    return "1 minute" if minutes == 1 else f"{minutes:g} minutes"


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1000))} kB"

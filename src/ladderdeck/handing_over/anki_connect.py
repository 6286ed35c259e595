"""Talks to a running Anki through the add-on AnkiConnect, version 6 of its protocol: JSON over HTTP on this machine.

Whatever can be in the way (Anki is closed, the add-on too old, a dialog open) ends in an :class:`AnkiConnectError` that says
so in words for people.
"""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

DEFAULT_ADDRESS = "http://127.0.0.1:8765"
KEY_VARIABLE = "LADDERDECK_ANKICONNECT_KEY"
VERSION = 6

_LARGEST_REPLY = 256 * 1024 * 1024
_SYNC_STATUS = "Sync status "
_KEY_HINT = f"give the apiKey of AnkiConnect's configuration with --key, or in {KEY_VARIABLE}"


class AnkiConnectError(Exception):
    """Something that kept Anki from doing what it was asked: a stable code, a message and a hint for people."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint


@dataclass(frozen=True)
class Connection:
    """Where AnkiConnect listens, its key ('' where none is set), and for how many seconds an answer is waited for:
    ``patience`` for what Anki does at once, ``long_patience`` for an import or a sync."""

    address: str = DEFAULT_ADDRESS
    key: str = ""
    patience: float = 30
    long_patience: float = 600

    def call(self, action: str, *, long: bool = False, **parameters: Any) -> Any:
        """Have an action done; its result. Raises AnkiConnectError."""
        request: dict[str, Any] = {"action": action, "version": VERSION, "params": parameters}
        if self.key:
            request["key"] = self.key
        data = self._send(json.dumps(request).encode("utf-8"), self.long_patience if long else self.patience)
        return _result(data, action, self)

    def _send(self, body: bytes, patience: float) -> bytes:
        headers = {"Content-Type": "application/json"}
        try:
            request = urllib.request.Request(self.address, body, headers)
            with _opener().open(request, timeout=patience) as response:
                data: bytes = response.read(_LARGEST_REPLY)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 403:
                raise _refused() from error
            raise _stranger(self.address) from error
        except TimeoutError as error:
            raise _silent(patience) from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise _silent(patience) from error
            raise _not_running(self.address, error.reason) from error
        except (http.client.HTTPException, ConnectionError, ValueError) as error:
            raise _stranger(self.address) from error
        except OSError as error:
            raise _not_running(self.address, error) from error
        return data


def greet(connection: Connection) -> str:
    """Make sure that AnkiConnect is there and lets this program in, and a profile is open; the profile's name.

    The name is '' where the add-on does not tell it. Raises AnkiConnectError.
    """
    permission = call_if_known(connection, "requestPermission")
    if isinstance(permission, dict):
        if permission.get("permission") != "granted":
            raise _refused()
        if permission.get("requireApikey") and not connection.key:
            raise AnkiConnectError("key-required", "AnkiConnect asks for a key", _KEY_HINT)
    version = connection.call("version")
    if not isinstance(version, int):
        raise _stranger(connection.address)
    if version < VERSION:
        raise _too_old(f"version {version} of its protocol is too old, {VERSION} is needed")
    connection.call("deckNames")  # fails while no profile is open, as all that follows would
    profile = call_if_known(connection, "getActiveProfile")
    return profile if isinstance(profile, str) else ""


def call_if_known(connection: Connection, action: str, **parameters: Any) -> Any:
    """The result of an action that older versions of the add-on do not know; None from those."""
    try:
        return connection.call(action, **parameters)
    except AnkiConnectError as error:
        if error.code == "unknown-action":
            return None
        raise


def check_address(address: str) -> str:
    """The address, if it is one to send requests to: http, a host, and nothing behind it. Raises ValueError if not."""
    parts = urlsplit(address)
    if parts.scheme != "http" or not parts.hostname or parts.path.strip("/") or parts.query or parts.username:
        raise ValueError(f"an address looks like {DEFAULT_ADDRESS}")
    _ = parts.port  # raises ValueError for what is no port
    return address


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """AnkiConnect sends nobody elsewhere; a stranger that does must not get the key sent on."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _opener() -> urllib.request.OpenerDirector:
    # Without a proxy: it could not reach this machine, and has no business with the key.
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)


def _result(data: bytes, action: str, connection: Connection) -> Any:
    try:
        reply = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _stranger(connection.address) from error
    if isinstance(reply, int) and not isinstance(reply, bool):
        # Versions up to 4 answered with the bare result.
        raise _too_old(f"version {reply} of its protocol is too old, {VERSION} is needed")
    if not isinstance(reply, dict) or not {"result", "error"} <= reply.keys():
        raise _stranger(connection.address)
    if reply["error"] is not None:
        raise _error(str(reply["error"]), action, connection)
    return reply["result"]


def _error(text: str, action: str, connection: Connection) -> AnkiConnectError:
    """What an error of AnkiConnect means. Its texts are not translated, so they can be compared."""
    lower = text.lower()
    if "valid api key" in lower:
        message = "AnkiConnect does not take this key" if connection.key else "AnkiConnect asks for a key"
        return AnkiConnectError("key-required", message, _KEY_HINT)
    if "unsupported action" in lower:
        return AnkiConnectError("unknown-action", *_update(f"it does not know `{action}`"))
    if "is not available" in lower or "locked" in lower or "already open" in lower:
        message = "no profile is open in Anki, or it is busy"
        hint = "choose a profile in Anki's window, let a sync or a backup end, and try again"
        return AnkiConnectError("no-profile", message, hint)
    if "auth not configured" in lower:
        hint = "press Sync in Anki once, and log in to AnkiWeb"
        return AnkiConnectError("not-logged-in", "Anki is not logged in to AnkiWeb, so it cannot sync", hint)
    if text.startswith(_SYNC_STATUS):
        message = "Anki asks for a full sync, in which one side replaces the other: only you can choose which"
        hint = "sync every phone as far as it goes, then press Sync in Anki and choose"
        return AnkiConnectError("full-sync", message, hint)
    line = " ".join(text.split())[:300] or "it did not say why"
    return AnkiConnectError(
        "anki-error", f"Anki could not do `{action}`: {line}", "look at Anki's window, and try again"
    )


def _update(reason: str) -> tuple[str, str]:
    hint = "update it in Anki: Tools, Add-ons, Check for Updates; then start Anki again"
    return f"the add-on AnkiConnect is too old: {reason}", hint


def _too_old(reason: str) -> AnkiConnectError:
    return AnkiConnectError("old-add-on", *_update(reason))


def _refused() -> AnkiConnectError:
    hint = "look at webCorsOriginList and ignoreOriginList in AnkiConnect's configuration"
    return AnkiConnectError("permission-refused", "AnkiConnect refuses this program permission", hint)


def _stranger(address: str) -> AnkiConnectError:
    hint = "end the other program, or give AnkiConnect's own address with --address"
    return AnkiConnectError("not-anki-connect", f"what answers at {address} is not AnkiConnect", hint)


def _silent(patience: float) -> AnkiConnectError:
    message = f"Anki has not answered for {patience:g} seconds"
    return AnkiConnectError("timeout", message, "look at Anki's window: it may be busy, or ask you something")


def _not_running(address: str, reason: object) -> AnkiConnectError:
    because = "" if isinstance(reason, ConnectionRefusedError) else f" ({reason})"
    message = f"nothing answers at {address}{because}: Anki is not running, or has no AnkiConnect"
    hint = "start Anki; the add-on is installed with Tools, Add-ons, Get Add-ons, code 2055492159"
    return AnkiConnectError("not-running", message, hint)

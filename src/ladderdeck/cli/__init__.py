"""The command line. Each command is a module of this folder, imported only when it is called."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click
from click.shell_completion import CompletionItem

from .. import __version__

_COMMANDS = {
    "build": "build the deck (this is what happens without a command)",
    "new": "write a commented pack to start from",
    "add": "take a downloaded pack into cards/, after showing what it changes",
    "check": "show what is wrong with packs, and build nothing",
    "answers": "show which items are answered, or write skeletons for the rest",
    "preview": "show all cards in one page, as a phone shows them",
    "templates": "write the cards' templates into a folder, for a look of your own",
    "serve": "hand the package to a phone in the same network, with a QR code",
    "push": "send the package into a running Anki, and look at what arrived",
    "inspect": "print the parsed packs as JSON",
}


_FROM_A_CHECKOUT = "python build.py"
"""What the examples of all commands begin with, to be replaced by what a person types who has installed ladderdeck."""


class _Commands(click.Group):
    """A group that loads its commands late, and takes `build` where the first word is no command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = importlib.import_module(f".{cmd_name}", __package__).command
        if not isinstance(command, click.Command):
            return None
        command.help = _in_words_of(program(), command.help)
        return command

    def get_help(self, ctx: click.Context) -> str:
        self.help = _in_words_of(program(), self.help)
        return super().get_help(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        is_completed = ctx.resilient_parsing and not args
        if first not in _COMMANDS and first not in ("--help", "-h", "--version") and not is_completed:
            self._refuse_misspelt(ctx, first)
            args = ["build", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What the first word may become: a command, else a path or an option of `build`."""
        commands = [CompletionItem(name, help=help) for name, help in _COMMANDS.items() if name.startswith(incomplete)]
        build = self.get_command(ctx, "build")
        if commands or build is None:
            return commands
        options = build.shell_complete(click.Context(build, parent=ctx, info_name="build"), incomplete)
        version = [CompletionItem("--version")] if incomplete and "--version".startswith(incomplete) else []
        return [*options, *version] if incomplete.startswith("-") else [CompletionItem(incomplete, type="file")]

    def _refuse_misspelt(self, ctx: click.Context, word: str) -> None:
        """End with a usage error where a word is no path, and looks like a command."""
        import difflib

        near = difflib.get_close_matches(word.lower(), _COMMANDS, n=1)
        if near and not word.startswith("-") and not os.path.lexists(word):
            message = f"There is no command `{word}`, and no file or folder of that name. Did you mean `{near[0]}`?"
            raise click.UsageError(message, ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # The short texts stand here, so that asking for help imports none of the commands.
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.command(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    options_metavar="",
    subcommand_metavar="[PATH]... [-o FILE]  |  COMMAND [ARGUMENT]...",
)
@click.version_option(__version__, prog_name="ladderdeck")
def cli() -> None:
    """Turn ladder documents into an Anki deck that keeps its review history.

    \b
    Examples:
      python build.py                     build cards/ into dist/ladders.apkg
      python build.py notes/ -o my.apkg   build the packs in notes/
      python build.py check               only look for mistakes
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line with ``arguments`` (those of the process by default) and exit."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A console that cannot show Chinese shows escapes instead of ending the build.
            stream.reconfigure(errors="backslashreplace")
    try:
        given = None if arguments is None else list(arguments)
        code = cli.main(args=given, prog_name=program(), standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.Abort as abort:
        # What click makes of Ctrl-C, and of the end of input at a question: it has begun a new line already.
        if not isinstance(abort.__cause__ or abort.__context__, EOFError):
            raise KeyboardInterrupt("\n") from None
        click.echo("There was no answer, and nothing was done.", err=True)
        code = 1
    sys.exit(code if isinstance(code, int) else 0)


def program() -> str:
    """What a person types to call this program, the way it was called now."""
    name = sys.argv[0].replace("\\", "/").rpartition("/")[2]
    return {"build.py": _FROM_A_CHECKOUT, "__main__.py": "python -m ladderdeck"}.get(name, "ladderdeck")


def _in_words_of(name: str, text: str | None) -> str | None:
    return text and text.replace(_FROM_A_CHECKOUT, name)

"""The `companion` command: a lazily imported module a subcommand, and one way to fail.

Exit status 0: done, or legal; 1: the answer is no; 2: bad input, one clear line on stderr, never a traceback.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click

from companion import __version__

# name -> one line of help; the module companion.cli.<name> holds a click command called `command`.
COMMANDS: dict[str, str] = {
    "serve": "The service and its page; finds the devices and says what it found.",
    "host": "A fresh host link for the running service.",
    "referee": "Replay a game record: a ruling for each move.",
    "rule": "A clause by its id, or clauses and disputes by words.",
    "score": "The score sheet of a record or a position, line by line.",
    "playout": "A random legal game as a record.",
    "shake": "Count beads in recorded shakes; simulate shakes; rebuild the model.",
    "balance": "Count beads by weighing them: the referee's balance.",
    "vision": "What the camera sees.",
    "kit": "Printable sheets (PDF): board markers and a check ruler.",
    "firmware": "The igloo's program: build it, list the images, put one onto a board.",
    "doctor": "Every device, permission and setting: found, missing, how to mend it.",
    "backup": "The nights with pictures and profiles, as one file.",
    "restore": "The nights out of a backup; the former ones are kept.",
    "export": "The nights as JSON, CSV or links for BG Stats.",
    "explain": "Two positions a turn apart: the legal turns between them.",
    "bench": "Speed and accuracy tables.",
}


class LazyGroup(click.Group):
    """A group that imports a subcommand's module only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the subcommands in the order of the design."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a subcommand."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = importlib.import_module(f"companion.cli.{cmd_name}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of subcommands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup)
@click.version_option(__version__, prog_name="companion")
def command() -> None:
    """Hears, sees, judges and shows a board game night."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status; bad input ends in one line on stderr."""
    try:
        result = command.main(args=arguments, prog_name="companion", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        # A group without a subcommand: its help is the answer, on the standard output, and still no success.
        click.echo(error.ctx.get_help())
        click.echo(f"companion: {error.ctx.command_path} needs a subcommand.", err=True)
        return 2
    except click.ClickException as error:
        click.echo(f"companion: {error.format_message()}", err=True)
        return 2
    except BrokenPipeError:
        return 0
    except (ValueError, OSError) as error:
        # Errors of ours inherit ValueError or OSError and carry one sentence for the reader.
        click.echo(f"companion: {sentence(error)}", err=True)
        return 2
    return result if isinstance(result, int) else 0


def sentence(error: Exception) -> str:
    """Return one line for an error; those of the operating system without their number."""
    cause = error if isinstance(error, OSError) and error.strerror else error.__cause__
    if isinstance(cause, OSError) and cause.strerror and "[Errno" in str(error):
        return f"{cause.filename}: {cause.strerror}." if cause.filename else f"{cause.strerror}."
    return " ".join(str(error).split()) or type(error).__name__


def main() -> None:
    """Run as the console script."""
    sys.exit(run())

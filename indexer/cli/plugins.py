"""Plugins: the group of commands in; the same with the commands that other packages declare for it out.

A package declares a click command as an entry point of the group `gear.indexer.commands`. So a command may need what
the indexer must not know, such as how searches are asked, and be found where operators look for it.
"""

from importlib.metadata import EntryPoint, entry_points

import click

GROUP = "gear.indexer.commands"


class Commands(click.Group):
    """A group that also has the declared commands; its own go first, and none is loaded before it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return sorted({*super().list_commands(ctx), *(entry.name for entry in declared())})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command with this name, or None."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        entry = next((entry for entry in declared() if entry.name == cmd_name), None)
        if entry is None:
            return None
        command = entry.load()
        if not isinstance(command, click.Command):
            message = f"the entry point {entry.name} of {GROUP} is no command: {entry.value}"
            raise click.ClickException(message)
        return command


def declared() -> tuple[EntryPoint, ...]:
    """The commands that installed packages declare."""
    return tuple(entry_points(group=GROUP))

"""The settings of `--set` in a command's `--help-all`."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from textwrap import fill
from typing import Final

import msgspec

#: Columns of the settings in a command's help.
_COLUMNS: Final = 76


def with_settings(
    settings: type[msgspec.Struct],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that lists settings in a command's `--help-all`."""
    members = msgspec.json.schema(settings)["$defs"][settings.__name__]["properties"]
    text = "\n".join(
        fill(
            f"{name}={msgspec.json.encode(about['default']).decode()}: "
            f"{about['description']}",
            width=_COLUMNS,
            initial_indent="  ",
            subsequent_indent="      ",
        )
        for name, about in members.items()
    )

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        command.__doc__ = (
            f"{cleandoc(command.__doc__ or '')}\n\f\n\b\n"
            "Settings of --set (NAME=DEFAULT), beside those of tasks and suites:\n"
            f"{text}"
        )
        return command

    return decorate

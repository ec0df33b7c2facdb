"""Options of a command that belong together, declared once as one dataclass.

Typer reads a command's options off its parameters, one each. Here a parameter may be
a dataclass instead: each of its fields is an option, and the command is given one
value that holds them all.
"""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import TYPE_CHECKING, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer, whose dataclass parameters are options each.

    Args:
        command: A function that takes keywords only. A parameter whose type is a
            dataclass stands for its fields, which are annotated as typer's options
            are; every field has a default, or the option is required.

    Example:
        >>> @dataclass(frozen=True, kw_only=True)
        ... class Limits:
        ...     seconds: Annotated[float, typer.Option(help="Deadline.")] = 40.0
        ...     memory: Annotated[int, typer.Option(help="MiB.")] = 4096
        >>> @app.command()
        ... @with_option_groups
        ... def measure(*, limits: Limits, quiet: bool = False) -> None:
        ...     print(limits.seconds, quiet)
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        group = hints[name]
        if isinstance(group, type) and is_dataclass(group):
            options = _options(group)
            groups[name] = group, [option.name for option in options]
            parameters += options
        else:
            keyword = parameter.replace(
                annotation=group, kind=inspect.Parameter.KEYWORD_ONLY
            )
            parameters.append(keyword)

    @wraps(command)
    def flat(**values: object) -> None:
        for name, (group, options) in groups.items():
            values[name] = group(**{option: values.pop(option) for option in options})
        command(**values)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # PEP 362 reads it
    flat.__annotations__ = {option.name: option.annotation for option in parameters}
    return flat


def _options(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[field.name],
            default=(
                inspect.Parameter.empty if field.default is MISSING else field.default
            ),
        )
        for field in fields(group)
    ]

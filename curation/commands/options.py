"""Options that several commands share, and groups of options.

In a command wrapped in `with_option_groups` a parameter may be a dataclass: each of
its fields is an option.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from enum import EnumType, StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer._coercion import RuntimeParam, bool_flag_type_descriptor, build_runtime_param
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from curation.system.credentials import redacted
from curation.system.user_files import refuse_unprintable

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter, Parameter

#: Most characters of the sentence about a command.
_SENTENCE = 400


def local_path(text: str) -> Path:
    """Return a path on this machine: a URL would become a folder named `s3:`.

    Raises:
        BadParameter: it is a URL (exit 2).
        NoInput: its name is not UTF-8, and appears in the output.
    """
    if "://" in text:
        raise typer.BadParameter(f"a path on this machine, not {redacted(text)}")
    return refuse_unprintable(Path(text))


def path_option(metavar: str, help_: str) -> Any:  # noqa: ANN401 - as typer.Option
    """Return an option that takes a path on this machine."""
    return typer.Option(metavar=metavar, help=help_, parser=local_path)


def path_argument(metavar: str, help_: str) -> Any:  # noqa: ANN401 - as typer.Argument
    """Return an argument that is a path on this machine."""
    return typer.Argument(metavar=metavar, help=help_, parser=local_path)


#: A folder of archives that is searched before the network.
MirrorOption = Annotated[
    Path | None,
    typer.Option(
        envvar="CSBDATA_MIRROR", help="Folder of source archives to look in first."
    ),
]
#: Whether the network may be used.
OfflineOption = Annotated[
    bool, typer.Option("--offline", help="Never open a network connection.")
]
#: Where the workers are.
ExecutorOption = Annotated[
    str,
    typer.Option(
        metavar="local|ray[:HOST:PORT]",
        hidden=True,
        help="Work here, or on the nodes of a Ray cluster: a new one, "
        "this machine's (ray:auto), or one at an address.",
    ),
]
#: Schemas that a command reads.
SourcesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="Files and folders of JSON Schemas, OpenAPI, tools or requests (FILE#NAME "
        "for one of several), MODULE:MODEL, mcp:COMMAND, a build or a Hub dataset; - "
        "is stdin.",
    ),
]


class ProblemFormat(StrEnum):
    """The form of problems of schemas."""

    AUTO = "auto"
    """For people: a line a problem."""
    JSON = "json"
    """One JSON object on stdout, for programs."""
    GITHUB = "github"
    """GitHub's annotations, next to the lines of a change."""


#: In which form problems are printed.
ProblemFormatOption = Annotated[
    ProblemFormat,
    typer.Option(
        "--format",
        help="auto is for people, json for programs, github for "
        "annotations in a workflow.",
    ),
]


class _AsGiven(RuntimeParam):
    """Take words and values that need no reading as they are.

    Others are read by typer, which imports pydantic for them: 80 ms.
    """

    def _coerce_value(self, value: Any, param: TyperOption, ctx: Context) -> object:  # type: ignore[override]  # noqa: ANN401 - the typed value, or a default
        kind = self.annotation
        if isinstance(kind, type) and isinstance(value, kind):
            return value
        if kind == list[str]:
            return list(value)
        if isinstance(kind, EnumType) and value in set(kind):
            return kind(value)
        return build_runtime_param(param.type_descriptor).coerce(value, param, ctx)


def _read_quickly(parameters: list[Parameter]) -> list[Parameter]:
    for parameter in parameters:
        if isinstance(parameter, TyperOption | TyperArgument):
            kinds = parameter.type_descriptor
            parameter._runtime_param = _AsGiven(kinds.parameter_info, kinds.annotation)  # noqa: SLF001 - typer has no other place for it
    return parameters


class CommandGroup(TyperGroup):
    """Commands, listed with their first sentence as it is."""

    def get_params(self, ctx: Context) -> list[Parameter]:
        """Return the options of the group."""
        return _read_quickly(super().get_params(ctx))

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write each command's name and its first sentence."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(limit=_SENTENCE))
                    for name in self.list_commands(ctx)
                    if (command := self.get_command(ctx, name)) is not None
                ]
            )


class GroupedCommand(TyperCommand):
    """A command whose help shows its options in named groups (`rich_help_panel`).

    `--help-all` also shows the hidden options, and the docstring's text after a
    form feed, where there are such.
    """

    def get_params(self, ctx: Context) -> list[Parameter]:
        """Return the arguments and options, and `--help-all` before `--help`."""
        parameters = _read_quickly(super().get_params(ctx))
        if "\f" in (self.help or "") or any(
            getattr(option, "hidden", False) for option in parameters
        ):
            parameters.append(
                TyperOption(
                    param_decls=["--help-all"],
                    type_descriptor=bool_flag_type_descriptor(),
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=self.print_everything,
                    help="Show every option and setting.",
                )
            )
        return parameters

    @staticmethod
    def print_everything(context: Context, _: Parameter, is_set: object) -> None:
        """Print the help with every option, if the option is set."""
        if is_set:
            command = context.command
            command.help = (command.help or "").replace("\f", "\n")
            for parameter in command.params:
                parameter.hidden = False  # type: ignore[attr-defined]  # of options
            typer.echo(command.get_help(context))
            raise typer.Exit

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the arguments, the options without a group, and each group."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            is_argument = parameter.param_type_name == "argument"
            name = getattr(parameter, "rich_help_panel", None) or "Options"
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups.setdefault("Arguments" if is_argument else name, []).append(
                    record
                )
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer, whose dataclass parameters are options each.

    Args:
        command: A function that takes keywords only. A parameter whose type is a
            dataclass is replaced by its fields, which are annotated as typer's options
            are; every field has a default, or the option is required. The first line
            of the docstring of the class that has a field is the name of its group in
            the command's help.

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
    groups: dict[str, Any] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        group = hints[name]
        keyword = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        if not is_dataclass(group):
            parameters.append(keyword.replace(annotation=group))
            continue
        groups[name] = group
        options = get_type_hints(group, include_extras=True)
        titles: dict[str, str] = {}
        for base in groups[name].__mro__[-2::-1]:
            title = (base.__doc__ or "").partition("\n")[0].rstrip(".")
            titles |= dict.fromkeys(base.__annotations__, title)
        for field in fields(group):
            annotation = options[field.name]
            option = copy(annotation.__metadata__[0])
            option.rich_help_panel = option.rich_help_panel or titles[field.name]
            default = keyword.empty if field.default is MISSING else field.default
            parameters.append(
                keyword.replace(
                    name=field.name,
                    annotation=Annotated[annotation.__origin__, option],
                    default=default,
                )
            )

    @wraps(command)
    def flat(**values: object) -> None:
        for name, group in groups.items():
            options = {field.name: values.pop(field.name) for field in fields(group)}
            values[name] = group(**options)
        command(**values)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # PEP 362 reads it
    flat.__annotations__ = {option.name: option.annotation for option in parameters}
    return flat

"""A dataclass among a command's parameters is one option a field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from curation.commands.options import with_option_groups


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Options that belong together."""

    seconds: Annotated[float, typer.Option(help="Deadline of one try.")] = 40.0
    only: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="Only these.")
    ] = None
    name: Annotated[str, typer.Option(help="Without a default.")]


app = typer.Typer(rich_markup_mode=None)


@app.command()
@with_option_groups
def measure(
    *,
    run: Annotated[str, typer.Argument(metavar="RUN")],
    limits: Limits,
    quiet: bool = False,
) -> None:
    """Print what is asked for."""
    typer.echo(f"{run} {limits.seconds:g} {limits.only} {limits.name} {quiet}")


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("r --name a", "r 40.0 None a False"),
        ("r --name a --seconds 2 --id x --id y --quiet", "r 2 ['x', 'y'] a True"),
    ],
)
def test_the_command_gets_one_value_with_all_of_them(words: str, printed: str) -> None:
    """Defaults, repeated options and renamed ones arrive in the group."""
    answer = CliRunner().invoke(app, words.split())
    assert answer.stdout.strip() == printed.replace("40.0", "40")


def test_a_field_without_a_default_is_required() -> None:
    """What has no default has to be given."""
    answer = CliRunner().invoke(app, ["r"])
    assert answer.exit_code == 2
    assert "--name" in answer.output


def test_the_help_lists_them_where_the_group_stands() -> None:
    """Options are in the order of parameters and fields, with their help."""
    printed = CliRunner().invoke(app, ["--help"]).stdout
    names = ["RUN", "--seconds", "--id", "--name", "--quiet"]
    places = [printed.index(name) for name in names]
    assert places == sorted(places)
    assert "Deadline of one try." in printed
    assert "Print what is asked for." in printed

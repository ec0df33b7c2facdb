"""`csbdata build`: fetch what is missing, decide, write the dataset folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from curation.commands.options import (  # noqa: TC001 - typer reads them off the signature
    AddressOption,
    ExecutorOption,
    MirrorOption,
    OfflineOption,
)
from curation.core.benchmark import SPLITS
from curation.dataset.editions import DEFAULT_BUILD, SAMPLE_BUILD
from curation.system.errors import CsbdataError
from curation.system.terminal import (
    Format,
    FormatOption,
    print_json,
    say,
    say_command,
    show,
    stdout,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.download.acquire import UnavailableArchive
    from curation.packaging.manifest import ConfigFigures
    from curation.pipeline.build import BuildRequest, BuildResult
    from curation.pipeline.inputs import ExtraSource

_CONFIG_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
#: Reject reasons named in the summary's table before the rest is added up.
_FEW = 4


_Rules = Annotated[
    str, typer.Option(help="Rule set: clean or paper (see `csbdata rules`).")
]
_With = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="SOURCE",
        help="Add a source outside the ten configs: bfcl, cloudformation, corpus, "
        "openapi, or your own as local=PATH, openapi:FILE, tools:FILE, mcp:COMMAND, "
        "pydantic:MODULE or hf:OWNER/NAME@REV#COLUMN; local:CONFIG=PATH and "
        "tools:CONFIG=FILE, like the others, name the config. May be repeated.",
    ),
]
_Sample = Annotated[
    bool, typer.Option("--sample", help="Use the embedded sample alone.")
]
_Strict = Annotated[
    bool, typer.Option("--strict", help="Fail unless every source is upstream.")
]
_AllowPartial = Annotated[
    bool,
    typer.Option("--allow-partial", help="Go on without subsets that cannot be had."),
]
_NoGpl = Annotated[
    bool,
    typer.Option(
        "--no-gpl", help="Take nothing from a collection under the GPL or AGPL."
    ),
]
_Out = Annotated[
    Path | None,
    typer.Option(
        help=f"The dataset folder to write [default: {DEFAULT_BUILD}; "
        f"with --sample {SAMPLE_BUILD}]."
    ),
]
_Replace = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Replace a build made from other inputs, rules or options.",
    ),
]
_Fastjsonschema = Annotated[
    bool,
    typer.Option(
        "--fastjsonschema", help="Also try fastjsonschema on every record (slow)."
    ),
]
_Instances = Annotated[
    bool,
    typer.Option(
        "--instances",
        help="Also make witnesses and near misses of every record (minutes).",
    ),
]
_Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Workers [default: all cores; of a cluster, all CPUs]."),
]


def build(  # noqa: PLR0913 (one parameter an option)
    *,
    rules: _Rules = "clean",
    with_: _With = None,
    sample: _Sample = False,
    strict: _Strict = False,
    allow_partial: _AllowPartial = False,
    no_gpl: _NoGpl = False,
    out: _Out = None,
    replace: _Replace = False,
    mirror: MirrorOption = None,
    offline: OfflineOption = False,
    fastjsonschema: _Fastjsonschema = False,
    instances: _Instances = False,
    jobs: _Jobs = None,
    executor: ExecutorOption = "local",
    address: AddressOption = "",
    format_: FormatOption = Format.AUTO,
) -> None:
    """Build the benchmark: fetch what is missing, apply the rules, write the folder.

    The folder appears whole or not at all; the same command, run again after any
    end, goes on from there. Exits with 65 if a content is not what is pinned, 69
    if a source cannot be had, 73 if the folder cannot be written or holds a build
    made from other inputs, rules or options (--replace), 75 if another build is at
    work in it, and with 70 if a rule raised an exception: the folder is written, and
    the documents are listed by `csbdata explain --reason crashed`.

    \b
    Examples:
      csbdata build
      csbdata build --instances
      csbdata build --sample
      csbdata build --executor ray --address 10.0.0.1:6379
      csbdata build --with cloudformation --with local:Acme=schemas/
      csbdata build --sample --with openapi:api.yaml --with tools:tools.json
      csbdata build --sample --with "mcp:npx -y some-mcp-server"
      csbdata build --sample --with pydantic:shop.models
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.cluster.executor import ExecutorChoice
    from curation.download.acquire import FetchSettings
    from curation.pipeline.build import BuildRequest

    chosen = out or (SAMPLE_BUILD if sample else DEFAULT_BUILD)
    request = BuildRequest(
        out=chosen.absolute(),
        rules=rules,
        extras=tuple(_extra(text) for text in with_ or ()),
        sample=sample,
        strict=strict,
        allow_partial=allow_partial,
        no_gpl=no_gpl,
        fastjsonschema=fastjsonschema,
        instances=instances,
        replace=replace,
        jobs=jobs,
        executor=ExecutorChoice(name=executor, address=address),
        fetch=FetchSettings.from_environment(mirror=mirror, offline=offline),
    )
    _build(request, format_, shown_out=chosen)


def _build(request: BuildRequest, format_: Format, shown_out: Path) -> None:
    """Build, and print what was done."""
    from curation.pipeline.build import build as build_folder
    from curation.system.progress import Quiet, Shown

    built = build_folder(request, Quiet() if format_ is Format.JSON else Shown())
    if format_ is Format.JSON:
        print_json(report(built))
    else:
        _print(built, shown_out)
    if built.rule_faults:
        raise CsbdataError(
            "; ".join(map(str, built.rule_faults)),
            str(shown_out),
            f"csbdata explain --reason crashed --in {shown_out}",
        )


def _extra(text: str) -> ExtraSource:
    """Read one value of `--with`.

    Raises:
        BadParameter: it names no source, no folder or no usable config name.
    """
    from curation.pipeline.inputs import ExtraSource
    from curation.sources.own.forms import FORMS

    name, colon, given = text.partition(":")
    if colon and name in FORMS:
        return _own_form(name, given)
    source, _, path = text.partition("=")
    name, _, config = source.partition(":")
    if not path:
        return ExtraSource(source=name)
    if name != "local":
        raise typer.BadParameter(f"only local takes a path, not {name!r}")
    config = config or Path(path).resolve().stem
    if not _CONFIG_NAME.fullmatch(config):
        raise typer.BadParameter(
            f"{config!r} cannot be a config's name; choose one: local:NAME={path}"
        )
    return ExtraSource(source=name, path=Path(path), config=config)


def _own_form(name: str, given: str) -> ExtraSource:
    """Read `FORM:WHAT` or `FORM:CONFIG=WHAT`.

    Raises:
        BadParameter: nothing is named.
    """
    from curation.pipeline.inputs import ExtraSource
    from curation.sources.own.forms import FORMS
    from curation.sources.own.schema import plain_id

    form = FORMS[name]
    config, equals, named = given.partition("=")
    if not (equals and _CONFIG_NAME.fullmatch(config)):
        config, named = "", given
    if not named.strip():
        raise typer.BadParameter(f"say {name}:{form.wanted}")
    if not config:
        # The file's name, the program's, the module's, the dataset's.
        first = Path(named).stem if form.names_file else named.split()[0]
        first = first.partition("@")[0].rpartition("/")[2]
        config = f"{name}-{plain_id(first)}"
    return ExtraSource(source="local", form=name, given=named, config=config)


def report(built: BuildResult) -> dict[str, Json]:
    """Return what `csbdata build --format json` prints."""
    from curation.packaging.origins import origins_of

    manifest, origins = built.manifest, origins_of(built.manifest)
    return {
        "name": manifest.name,
        "rules": manifest.rules,
        "out": str(built.request.out),
        "seconds": round(sum(built.phases.values()), 3),
        "phases": dict(built.phases),
        "peak_rss_mb": built.peak_rss_mb,
        "unchanged": built.unchanged,
        "partial": list(manifest.partial),
        "real": dict(origins.real),
        "sample": list(origins.sample),
        "not_had": [absent.why for absent in built.not_had],
        "configs": msgspec.to_builtins(manifest.configs),
    }


def _print(built: BuildResult, shown_out: Path) -> None:
    figures = built.manifest
    rows = [_row(name, config) for name, config in figures.configs.items()]
    headers = ("config", "origin", "raw", "kept", "train", "val", "test", "rejected")
    stdout().print(table(headers, rows, numbers=(2, 3, 4, 5, 6)))
    kept = sum(config.kept for config in figures.configs.values())
    raw = sum(config.raw for config in figures.configs.values())
    state = "was there already" if built.unchanged else "written"
    show(
        f"{figures.name} ({figures.rules} rules): {kept:,} records of {raw:,} "
        f"raw documents, {state} in {sum(built.phases.values()):.1f} s"
    )
    say_command(
        "Why a document is not in it",
        f"csbdata explain --reason REASON --in {shown_out}",
    )
    if built.request.instances:
        say_command(
            "Witnesses and near misses", f"csbdata instances --report {shown_out}"
        )
    say_command("Next", f"csbdata stats {shown_out}")
    for line in partiality(built):
        say(line, style="yellow")


def partiality(built: BuildResult) -> Iterator[str]:
    """Say which configs of a build are not real, why, and what to do; or nothing."""
    from curation.packaging.origins import origins_of
    from curation.sources.base import SAMPLE_REASON

    origins = origins_of(built.manifest)
    if not origins.partial:
        return
    yield f"This is not the whole benchmark: {origins.sentence}."
    # What the sample stands for has just been said.
    others = (why for why in origins.reasons if SAMPLE_REASON not in why)
    yield from (f"  {why}" for why in others)
    if built.request.sample:
        yield "Why: --sample was asked. Without it the real sources are read."
        return
    refused: dict[str, list[UnavailableArchive]] = {}
    for absent in built.not_had:
        refused.setdefault(absent.publisher, []).append(absent)
    for publisher, archives in refused.items():
        names = ", ".join(absent.archive for absent in archives)
        why = archives[0].why.removeprefix(f"{archives[0].archive}: ")
        yield f"Why: {publisher} did not give {names} ({why})."
    if refused:
        yield (
            "What to do: the same command with --replace where they answer, or with "
            "--replace --mirror DIR, a folder of their archives (`csbdata sources`)."
        )


def _row(name: str, config: ConfigFigures) -> tuple[str, ...]:
    reasons = sorted(config.rejected.items(), key=lambda item: (-item[1], item[0]))
    few = reasons if len(reasons) <= _FEW + 1 else reasons[:_FEW]
    shown = [f"{reason} {count:,}" for reason, count in few]
    if len(reasons) > len(few):
        rest = sum(count for _, count in reasons[len(few) :])
        shown.append(f"and {rest:,} for {len(reasons) - len(few)} more")
    return (
        name,
        config.origin,
        f"{config.raw:,}",
        f"{config.kept:,}",
        *(f"{config.splits[split]:,}" for split in SPLITS),
        ", ".join(shown),
    )

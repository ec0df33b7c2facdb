"""`csbdata fit`: which targets take a schema, and what they ignore of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.checking.problems import print_annotations
from curation.commands.options import (
    ProblemFormat,
    ProblemFormatOption,
    SourcesArgument,
    local_path,
    with_option_groups,
)
from curation.system.errors import BadData, BadUsage
from curation.system.escaping import safe, shortened
from curation.system.tables import plain, table
from curation.system.terminal import (
    print_json,
    say,
    say_command,
    show,
    show_whole,
    stdout,
)
from curation.system.words import command, counted

if TYPE_CHECKING:
    from rich.text import Text

    from curation.checking.schema_files import SchemaFile
    from curation.checking.schema_fit import FitOutcome, SchemaFit
    from curation.fit.profile import Profile
    from curation.fit.rewriting import Fit

#: The providers that most schemas are written for.
_USUAL = "openai-strict,anthropic,gemini"
#: Findings of one schema and target, and schemas of one matrix, that are printed.
_SHOWN = 12
_IN_MATRIX = 30


class Allowed(StrEnum):
    """The rewrites that may be made."""

    ANY = "any"
    """All: what the target cannot hold is dropped, and said in descriptions."""
    SAFE = "safe"
    """Those after which every decoded answer is valid by the schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteOptions:
    """How one schema is rewritten for one target, and what is made of it."""

    write: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Rewrite one schema for one target, say what each step changes, and "
            "write it here.",
            parser=local_path,
        ),
    ] = None
    only: Annotated[
        Allowed,
        typer.Option(
            help="safe: only rewrites after which every answer is valid by the schema; "
            "any: also drop what is left."
        ),
    ] = Allowed.ANY
    diff: Annotated[
        bool, typer.Option("--diff", help="Print the rewritten schema as a difference.")
    ] = False
    rest: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write what the target will not hold, as a schema for its answers.",
            parser=local_path,
        ),
    ] = None
    decode: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Print the value that an answer to the rewritten schema (- for stdin) "
            "stands for, valid by the schema itself.",
        ),
    ] = None

    @property
    def is_asked(self) -> bool:
        """Whether anything is to be made of a rewritten schema."""
        return bool(self.write or self.diff or self.rest or self.decode)


@with_option_groups
def fit(
    *,
    sources: SourcesArgument,
    targets: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="TARGET,...",
            help="Providers, servers and engines, or the path of your own profile "
            "(.toml); all are all that csbdata knows.",
        ),
    ] = _USUAL,
    rewriting: RewriteOptions,
    format_: ProblemFormatOption = ProblemFormat.AUTO,
) -> None:
    """Say which targets take a schema, or would after safe rewrites, and who says so.

    \b
    Examples:
      csbdata fit person.schema.json
      csbdata fit tools:tools.json --for openai-strict,vllm
      csbdata fit schemas/ --format github
      csbdata fit a.json --for openai-strict --write sent.json --rest rest.json
      csbdata fit a.json --for openai-strict --decode answer.json

    Exits with 0 if every target takes every schema, parts that it ignores or not; 1 if
    one does after safe rewrites, which are named; 3 if a deadline ended the search for
    them; 4 if there are none, and the schema must be remodelled by hand; 65 if a text
    is not JSON. The tools of one list are one request: a bad one ends it, and limits
    count them together. Each line names the documentation, the library or the
    measurement that it is taken from; of what none tells, nothing is guessed. With
    --write, --diff, --rest or --decode it is 0 if the rewritten schema is taken.
    Nothing is ever fetched, and no provider is asked.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.checking.schema_files import read_schema_files
    from curation.checking.schema_fit import judge_files
    from curation.fit.profile import load_profiles
    from curation.system.progress import progress_of

    profiles = load_profiles(targets)
    files = read_schema_files(sources, say)
    if rewriting.is_asked:
        if format_ is not ProblemFormat.AUTO:
            then = "leave it out: --write FILE has the schema as JSON"
            raise BadUsage("a rewrite is told to people", "--format", then)
        _rewrite(files, profiles, rewriting)
        return
    fits = list(judge_files(files, profiles, progress_of(len(files))))
    if format_ is ProblemFormat.AUTO:
        _print(fits, profiles, len(files))
    elif format_ is ProblemFormat.JSON:
        print_json({"schemas": [each.as_json() for each in fits]})
    else:
        placed = {file.name: file.placed for file in files}
        named = [
            (each.name, placed.get(each.name, tuple)(each.problems())) for each in fits
        ]
        print_annotations(named)
    outcomes = {each.outcome(it.name) for each in fits for it in profiles}
    worst = max((it.exit_code for it in outcomes), default=0)
    is_json = all(each.is_json for each in fits)
    raise typer.Exit(worst if is_json else BadData.exit_code)


def _rewrite(
    files: Sequence[SchemaFile], targets: Sequence[Profile], options: RewriteOptions
) -> None:
    from curation.checking.schema_files import read_schema_files
    from curation.core.documents import Rejected
    from curation.fit.answers import decode, fit_schema
    from curation.fit.rest import rest_of
    from curation.json import text as jsontext
    from curation.json.line_diff import line_diff
    from curation.json.text import parse
    from curation.system.atomic_files import atomic_write_bytes

    if len(files) != 1 or len(targets) != 1:
        what = f"{counted(len(files), 'schema')} and {counted(len(targets), 'target')}"
        then = "a rewrite is of one schema for one target: name one file, and --for one"
        raise BadUsage(what, "--write", then)
    text = files[0].schema_text()
    result = fit_schema(
        text, targets[0], allow="safe" if options.only is Allowed.SAFE else "any"
    )
    if options.decode is None:
        _print_rewrite(result)
    else:
        answer = read_schema_files([options.decode])[0]
        value = parse(answer.content)
        if isinstance(value, Rejected):
            raise BadData(f"{value.reason}: {value.detail}", answer.name)
        print_json(decode(value, result))
    for path, schema in (
        (options.write, result.schema),
        (options.rest, rest_of(result)),
    ):
        if path is not None:
            atomic_write_bytes(path, (jsontext.write(schema) + "\n").encode())
            say(f"written: {path}")
    if options.diff:
        for changed in line_diff(text, jsontext.write(result.schema)):
            show_whole(changed)
    raise typer.Exit(_outcome(result).exit_code)


def _outcome(result: Fit) -> FitOutcome:
    from curation.checking.schema_fit import FitOutcome

    if result.fits:
        return FitOutcome.TAKEN
    return FitOutcome.UNDECIDED if result.is_late else FitOutcome.REMODEL


def _print_rewrite(result: Fit) -> None:
    """Print each step with its proof, and what the target will not hold."""
    from curation.fit.rest import sentences
    from curation.fit.rewriting import REWRITE_SECONDS

    steps = counted(len(result.steps), "rewrite")
    whole = f"{_outcome(result)} after {steps}; the whole is {result.claim}"
    if result.is_late:
        whole = f"undecided, not told within {REWRITE_SECONDS:g} s; {steps} so far"
    show(f"{result.target}: {whole}", style="bold")
    for step in result.steps:
        place = ", ".join(it or "(root)" for it in step.pointers[:3])
        value = f": {step.value}" if step.value is not None else ""
        line = f"{step.rewrite}: {step.claim} ({step.evidence}{value}): {place}"
        show(shortened(f"{line}: {step.sentence}", 400))
    for finding in result.failing[:_SHOWN]:
        show(
            f"still {finding.effect}: {finding.pointer or '(root)'}: {finding.sentence}"
        )
    for sentence in sentences(result):
        show(f"not held: {shortened(sentence, 400)}")


_STYLES = {0: "green", 1: "yellow", 3: "", 4: "red"}


def _cell(outcome: FitOutcome) -> Text:
    return plain(outcome, _STYLES[outcome.exit_code])


def _print(fits: Sequence[SchemaFit], profiles: Sequence[Profile], count: int) -> None:
    names = [profile.name for profile in profiles]
    if len(fits) == 1:
        _print_one(fits[0], profiles)
        return
    from curation.checking.schema_fit import FitOutcome

    rows = []
    for name in names:
        outcomes = Counter(each.outcome(name) for each in fits)
        reasons = Counter(
            cause
            for each in fits
            for cause in sorted({it.cause for it in each.findings[name]})
        )
        common = ", ".join(f"{it} {count:,}" for it, count in reasons.most_common(3))
        rows.append([name, *(outcomes[it] for it in FitOutcome), common])
    headers = ["target", *FitOutcome, "schemas refused, ignored for"]
    title = counted(count, "schema")
    numbers = range(1, 1 + len(FitOutcome))
    stdout().print(table(headers, rows, title=title, numbers=tuple(numbers)))
    worst = sorted(fits, key=lambda each: sum(each.is_taken_by(it) for it in names))
    cells = [
        [each.name, *(_cell(each.outcome(name)) for name in names)]
        for each in worst[:_IN_MATRIX]
    ]
    stdout().print(table(["schema", *names], cells))
    if len(fits) > _IN_MATRIX:
        more = counted(len(fits) - _IN_MATRIX, "schema")
        show(f"... and {more} more: --format json has all")
    for request in dict.fromkeys(each.request for each in fits if each.request):
        _print_request(request, fits, names)
    full = next((each.name for each in worst if not each.request), None)
    if full is not None:
        say_command(
            "One schema in full", command("fit", full, "--for", ",".join(names))
        )


def _print_request(
    request: str, fits: Sequence[SchemaFit], names: Sequence[str]
) -> None:
    """Print which tools, or which limit of all together, end a request."""
    from curation.fit.verdict import FAILING

    own = [each for each in fits if each.request == request]
    for target in names:
        bad = [each for each in own if not each.is_taken_by(target)]
        if not bad:
            show(f"{target}: takes the request with all its tools")
            continue
        first = next(it for it in bad[0].findings[target] if it.effect in FAILING)
        place = f"{bad[0].name}: {first.pointer or '(root)'}: {first.sentence}"
        count = f"{len(bad):,} of {len(own):,}"
        show(
            f"{target}: refuses the whole request, for {count}: {shortened(place, 400)}"
        )


def _print_one(each: SchemaFit, profiles: Sequence[Profile]) -> None:
    from curation.checking.schema_fit import cited

    rows = []
    for profile in profiles:
        findings = each.findings[profile.name]
        effects = Counter(finding.effect.value for finding in findings)
        counts = ", ".join(f"{number:,} {name}" for name, number in effects.items())
        untold = ", ".join(each.untold.get(profile.name, ()))
        cell = _cell(each.outcome(profile.name))
        rows.append([profile.name, cell, counts, untold, profile.date])
    headers = ["target", "verdict", "parts", "not told", "as of"]
    stdout().print(table(headers, rows, title=safe(each.name)))
    sources: dict[str, int] = {}
    for profile in profiles:
        findings = each.findings[profile.name]
        for finding in findings[:_SHOWN]:
            place = safe(finding.pointer or "(root)")
            sentence = shortened(finding.sentence, 400)
            number = sources.setdefault(cited(finding), len(sources) + 1)
            show(f"{profile.name}: {place}: {finding.rule}: {sentence} [{number}]")
        if len(findings) > _SHOWN:
            more = len(findings) - _SHOWN
            show(f"{profile.name}: ... and {more:,} more: --format json has all")
    for source, number in sources.items():
        show(f"[{number}] {source}")
    for target, repair in each.repairs.items():
        show(f"{target}: {repair.outcome}: {shortened(repair.sentence, 400)}")
    for profile in profiles:
        if each.findings[profile.name] and profile.note:
            say(f"{profile.name}: {profile.note}")
    usable = [target for target, it in each.repairs.items() if it.is_usable]
    if usable and not each.request:
        target = min(usable, key=lambda it: each.outcome(it).exit_code)
        say_command(
            "The rewritten schema",
            command("fit", each.name, "--for", target, "--write", "FILE"),
        )

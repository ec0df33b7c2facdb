"""`csbdata fit`: which targets accept a schema, and which parts they ignore."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.commands.annotations import print_annotations
from curation.commands.options import (
    ProblemFormat,
    ProblemFormatOption,
    SourcesArgument,
    path_option,
    with_option_groups,
)
from curation.system.errors import BadData, BadUsage
from curation.system.terminal import (
    log,
    print_json,
    say_command,
    show,
    show_whole,
    stdout,
    table,
)
from curation.system.words import command, counted, plain, safe, shortened

if TYPE_CHECKING:
    from curation.fit.profile import Profile
    from curation.fit.rewriting import Fit
    from curation.fit.schema_fit import RequestFit, SchemaFit
    from curation.fit.verdict import FitFinding
    from curation.sources.schema_files import SchemaFile

#: The providers that most schemas are written for, and most tools.
_USUAL = "openai-strict,anthropic,gemini"
_FOR_TOOLS = "openai,openai-strict,anthropic,anthropic-strict,gemini,gemini-functions"
#: Findings of one schema and target, and schemas of one matrix, printed at most.
_SHOWN = 12
_IN_MATRIX = 30
#: The characters of a line's text, at most.
_LENGTH = 400


class Allowed(StrEnum):
    """The rewrites that may be made."""

    ANY = "any"
    """All: unsupported parts are dropped, and added to descriptions."""
    SAFE = "safe"
    """Those after which every decoded answer is valid by the schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteOptions:
    """Options of the rewriting of one schema for one target."""

    write: Annotated[
        Path | None,
        path_option(
            "FILE",
            "Rewrite one schema for one target, print the effect of each step, and "
            "write it here.",
        ),
    ] = None
    only: Annotated[
        Allowed,
        typer.Option(
            help="safe: only rewrites after which every answer is valid by the schema; "
            "any: also drop the rest."
        ),
    ] = Allowed.ANY
    diff: Annotated[
        bool, typer.Option("--diff", help="Print the rewritten schema as a difference.")
    ] = False
    rest: Annotated[
        Path | None,
        path_option(
            "FILE", "Write the dropped part, as a schema for the target's answers."
        ),
    ] = None
    decode: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Decode an answer to the rewritten schema (- for stdin) for the "
            "original, and validate it.",
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
        str | None,
        typer.Option(
            "--for",
            metavar="TARGET,...",
            help="Providers, servers, engines (ENGINE==VERSION too), or the path of "
            "your own profile (.toml); all are all providers and servers.  [default: "
            f"{_USUAL}; of tools {_FOR_TOOLS}]",
        ),
    ] = None,
    ask: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER:MODEL",
            help="Send each schema once to a served model, with the fewest tokens; "
            "its answers are listed next to the profiles'.",
        ),
    ] = None,
    rewriting: RewriteOptions,
    format_: ProblemFormatOption = ProblemFormat.AUTO,
) -> None:
    """Report which targets accept a schema, unchanged or rewritten, with sources.

    \b
    Examples:
      csbdata fit person.schema.json
      csbdata fit tools.json --for openai-strict,vllm
      csbdata fit person.schema.json --for xgrammar,llguidance
      csbdata fit api.yaml#getPet.200 --for gemini
      csbdata fit a.json --for openai-strict --write sent.json --rest rest.json
      csbdata fit a.json --for openai-strict --decode answer.json

    Exits with 0 if every target accepts every schema, even if it ignores parts; 1 if
    named rewrites fix the rejected ones; 3 if the result is unknown, after rewrites
    too, or a deadline ended the search; 4 if no rewrite was found, or an engine blocks
    valid values; 65 if a text is not JSON. The tools of one list are one request: a bad
    one fails it, and limits count them together. Each line names its source:
    documentation, library or measurement. An installed engine is run on values made for
    the schema; for others published results on real schemas with these keywords count.
    With --write, --diff, --rest or --decode the code is 0 if the new schema is
    accepted. Nothing is fetched, and no provider is called without --ask.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.fit.engine_evidence import Engines
    from curation.fit.schema_fit import build_requests, judge_files
    from curation.sources.readers import Role
    from curation.sources.schema_files import read_schema_files
    from curation.system.progress import make_progress

    files = read_schema_files(sources, log)
    has_tools = any(file.entry.role is Role.TOOL for file in files)
    with Engines(ask) as engines:
        names = targets or (_FOR_TOOLS if has_tools else _USUAL)
        profiles = engines.targets(names)
        if rewriting.is_asked:
            if format_ is not ProblemFormat.AUTO:
                hint = "leave it out: --write FILE has the schema as JSON"
                raise BadUsage("a rewrite is printed for people", "--format", hint)
            _rewrite(files, profiles, rewriting)
            return
        fits = judge_files(files, profiles, make_progress(len(files)), engines)
    requests = build_requests(fits, profiles)
    if format_ is ProblemFormat.AUTO:
        _print(fits, requests, profiles)
    elif format_ is ProblemFormat.JSON:
        print_json(
            {
                "schemas": [fit.as_json() for fit in fits],
                "requests": [request.as_json() for request in requests],
            }
        )
    else:
        print_annotations(
            [(str(fit.file.path or fit.name), fit.problems()) for fit in fits]
        )
    raise typer.Exit(_exit_code(fits, requests, profiles))


def _exit_code(
    fits: Sequence[SchemaFit],
    requests: Sequence[RequestFit],
    profiles: Sequence[Profile],
) -> int:
    from curation.fit.schema_fit import EXIT_CODES

    if any(not fit.is_json for fit in fits):
        return BadData.exit_code
    codes = [0]
    for profile in profiles:
        codes += [fit.exit_code(profile.name) for fit in fits]
        codes += [
            EXIT_CODES[request.verdict_together(profile.name)] for request in requests
        ]
    return max(codes)


def _rewrite(
    files: Sequence[SchemaFile], targets: Sequence[Profile], options: RewriteOptions
) -> None:
    from curation.core.documents import Rejected
    from curation.fit.answers import decode, read_schema
    from curation.fit.profile import TargetKind
    from curation.fit.residual import residual_schema
    from curation.fit.rewriting import Rewriting
    from curation.fit.schema_fit import EXIT_CODES
    from curation.fit.verdict import Verdict
    from curation.json.line_diff import line_diff
    from curation.json.text import parse, write
    from curation.relation.comparer import Comparer
    from curation.sources.readers import Role
    from curation.sources.schema_files import read_schema_files
    from curation.system.atomic_files import atomic_write_bytes

    sent = [file for file in files if file.entry.role is not Role.RESULT]
    if len(sent) != 1 or len(targets) != 1:
        counts = f"{counted(len(sent), 'schema')} and {counted(len(targets), 'target')}"
        hint = "a rewrite is of one schema for one target: name --for one"
        if len(sent) > 1:
            example = command("fit", sent[0].name, "--for", targets[0].name)
            hint = f"name one: {example} --write FILE"
        raise BadUsage(counts, "--write", hint)
    if targets[0].kind is TargetKind.ENGINE:
        hint = "name a provider or a server: --for openai-strict"
        raise BadUsage("no rules to rewrite a schema by", targets[0].name, hint)
    file = sent[0]
    text = file.schema_text()
    with Comparer(forked=True) as comparer:
        result = Rewriting(
            read_schema(text, ""),
            targets[0],
            comparer,
            tool=file.entry.role is Role.TOOL,
            strict=file.entry.strict,
            allow="safe" if options.only is Allowed.SAFE else "any",
        ).run()
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
        (options.rest, residual_schema(result)),
    ):
        if path is not None:
            atomic_write_bytes(path, (write(schema) + "\n").encode())
            log(f"written: {path}")
    if options.diff:
        for changed in line_diff(text, write(result.schema)):
            show_whole(changed)
    raise typer.Exit(EXIT_CODES[Verdict.UNKNOWN if result.is_late else result.verdict])


def _print_rewrite(result: Fit) -> None:
    """Print each step with its proof, and the part that the target cannot hold."""
    from curation.fit.profile import Effect
    from curation.fit.residual import sentences
    from curation.fit.rewriting import REWRITE_SECONDS

    steps = counted(len(result.steps), "rewrite")
    summary = f"{result.verdict} after {steps}, together: {result.claim}"
    if result.is_late:
        summary = f"not decided within {REWRITE_SECONDS:g} s; {steps} so far"
    show(f"{result.target}: {summary}", style="bold")
    for step in result.steps:
        pointers = ", ".join(pointer or "(root)" for pointer in step.pointers[:3])
        value = f": {step.value}" if step.value is not None else ""
        line = f"{step.rewrite}: {step.claim} ({step.evidence}{value}): {pointers}"
        show(shortened(f"{line}: {step.sentence}", _LENGTH))
    open_ = [it for it in result.remarks if it.effect is Effect.UNKNOWN]
    for finding in (*result.failing, *open_)[:_SHOWN]:
        show(
            f"still {finding.effect}: {finding.pointer or '(root)'}: {finding.sentence}"
        )
    for sentence in sentences(result):
        show(f"not held: {shortened(sentence, _LENGTH)}")


_STYLES = {
    "accepted": "green",
    "ignored in part": "yellow",
    "unknown": "magenta",
    "blocks valid values": "red",
    "rejected": "red",
}


def _verdict(fit: SchemaFit, target: str) -> str:
    fix = fit.fixes.get(target)
    verdict = fit.verdict(target)
    return f"{verdict}, {fix.outcome}" if fix and fix.claim else verdict


def _print(
    fits: Sequence[SchemaFit],
    requests: Sequence[RequestFit],
    profiles: Sequence[Profile],
) -> None:
    names = [profile.name for profile in profiles]
    schemas = [fit for fit in fits if not fit.fault]
    if len(schemas) == 1:
        _print_findings(schemas[0], profiles)
    elif schemas:
        _print_matrix(schemas, names)
    for fit in fits:
        if fit.fault:
            show(f"{safe(fit.name)}: {shortened(fit.fault, _LENGTH)}")
    for request in requests:
        _print_request(request, names)
    for profile in profiles:
        if profile.note and schemas:
            log(f"{profile.name}: {profile.note}")


def _print_matrix(fits: Sequence[SchemaFit], names: Sequence[str]) -> None:
    from curation.fit.verdict import Verdict

    rows = []
    for name in names:
        verdicts = Counter(fit.verdict(name) for fit in fits)
        causes = Counter[str]()
        for fit in fits:
            causes.update(sorted({finding.cause for finding in fit.findings[name]}))
        common = ", ".join(f"{key} {count:,}" for key, count in causes.most_common(3))
        rows.append([name, *(verdicts[verdict] for verdict in Verdict), common])
    headers = ["target", *Verdict, "most frequent reasons"]
    title = counted(len(fits), "schema")
    numbers = tuple(range(1, len(headers) - 1))
    stdout().print(table(headers, rows, title=title, numbers=numbers))
    worst = sorted(fits, key=lambda fit: -max(map(fit.exit_code, names)))
    cells = [
        [fit.name]
        + [plain(_verdict(fit, name), _STYLES[fit.verdict(name)]) for name in names]
        for fit in worst[:_IN_MATRIX]
    ]
    stdout().print(table(["schema", *names], cells))
    if len(fits) > _IN_MATRIX:
        hidden = counted(len(fits) - _IN_MATRIX, "schema")
        show(f"... and {hidden} more: --format json has all")
    say_command(
        "One schema in full",
        command("fit", worst[0].name, "--for", ",".join(names)),
    )


def _print_request(request: RequestFit, names: Sequence[str]) -> None:
    """Print for each target what happens to the request, and the first reason."""
    from curation.fit.verdict import FAILING, Verdict

    count = counted(request.count, "tool")
    if request.lacking:
        count += f" ({len(request.lacking):,} without a schema)"
    for target in names:
        verdict = request.verdict(target)
        if verdict in (Verdict.ACCEPTED, Verdict.IN_PART):
            partly = ", parts of them ignored" if verdict is Verdict.IN_PART else ""
            show(f"{target}: accepts the request with all of {count}{partly}")
            continue
        if verdict is Verdict.UNKNOWN:
            show(f"{target}: unknown whether it accepts the request with {count}")
            continue
        reasons = [
            f"{request.name}: {finding.sentence}"
            for finding in request.findings[target]
        ]
        reasons += [
            f"{tool.name}: {finding.pointer or '(root)'}: {finding.sentence}"
            for tool in request.tools
            for finding in tool.findings.get(target, ())
            if finding.effect in FAILING
        ]
        reasons += [
            f"{tool.name}: {tool.fault}" for tool in request.tools if tool.fault
        ]
        bad = sum(tool.verdict(target) is Verdict.REJECTED for tool in request.tools)
        line = f"{target}: rejects the whole request of {count}"
        line += f", for {bad:,} of them" if bad else ""
        show(f"{line}: {shortened('; '.join(reasons[:3]), _LENGTH)}")


def _print_undocumented(target: str, findings: Sequence[FitFinding]) -> None:
    from curation.fit.verdict import UNDOCUMENTED

    pointers: dict[str, list[str]] = {}
    for finding in findings:
        if finding.rule == UNDOCUMENTED:
            pointers.setdefault(finding.keyword, []).append(finding.pointer)
    for keyword, (pointer, *further) in pointers.items():
        hidden = f" and {len(further):,} more" if further else ""
        sentence = f"no source says what happens to `{keyword}`"
        show(f"{target}: {safe(pointer)}{hidden}: {sentence}")


def _print_findings(fit: SchemaFit, profiles: Sequence[Profile]) -> None:
    from curation.fit.schema_fit import Outcome, cited
    from curation.fit.verdict import UNDOCUMENTED

    show(f"{fit.name}:")
    width = max(len(profile.name) for profile in profiles)
    for profile in profiles:
        name, effects = profile.name, Counter[str]()
        effects.update(finding.effect for finding in fit.findings[name])
        parts = [f"{number:,} {effect}" for effect, number in effects.items()]
        cells = [name.ljust(width), _verdict(fit, name), ", ".join(parts)]
        line = "  ".join(filter(None, cells))
        show(f"  {line}  (as of {profile.date})", _STYLES[fit.verdict(name)])
    sources: dict[str, int] = {}
    for target, findings in fit.findings.items():
        documented = [finding for finding in findings if finding.rule != UNDOCUMENTED]
        for finding in documented[:_SHOWN]:
            pointer = safe(finding.pointer or "(root)")
            sentence = shortened(finding.sentence, _LENGTH)
            number = sources.setdefault(cited(finding), len(sources) + 1)
            show(f"{target}: {pointer}: {finding.rule}: {sentence} [{number}]")
        if len(documented) > _SHOWN:
            hidden = len(documented) - _SHOWN
            show(f"{target}: ... and {hidden:,} more: --format json has all")
        _print_undocumented(target, findings)
    for source, number in sources.items():
        show(f"[{number}] {source}")
    for target, measured in fit.measured.items():
        for sentence in measured:
            show(f"{target}: {sentence}")
    for target, fix in fit.fixes.items():
        show(f"{target}: {shortened(fix.sentence, _LENGTH)}")
    fixable = [
        target for target, fix in fit.fixes.items() if fix.outcome is Outcome.FIXABLE
    ]
    if fixable:
        say_command(
            "The rewritten schema",
            command("fit", fit.name, "--for", fixable[0], "--write", "FILE"),
        )

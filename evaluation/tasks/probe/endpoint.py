"""Conformance of a served model, measured by at most 20 requests.

Each prompt asks for a value that the schema forbids. An answer that keeps the schema
shows a constraint only if the same prompt without the schema breaks it; otherwise the
result is unknown.
"""

from __future__ import annotations

import datetime
import json
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.fit.profile import TargetKind
from curation.system.errors import Unavailable
from curation.system.words import counted, shortened
from evaluation.answers.judge import judge
from evaluation.core.records import Message, Record
from evaluation.generation.text_generation import (
    Generation,
    GenerationRequest,
    TextEnding,
)
from evaluation.reporting.tables import Table
from evaluation.servers.client import ServerClient
from evaluation.servers.models import find_prices
from evaluation.servers.pacing import Account, Spending, SpendingLimit
from evaluation.servers.provider import PROMPT_ALONE
from evaluation.servers.served_model import ConditionUnavailable, ServedModel
from evaluation.tasks.probe.acceptance import list_servers
from evaluation.tasks.probe.outcomes import ProbeOutcome
from evaluation.tasks.probe.probe import KEYWORD_PROBES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.servers.model_server import ModelServer
    from evaluation.tasks.probe.probe import Probe

#: Most requests of one command, retries included.
MAX_REQUESTS: Final = 20
#: Most tokens of an answer, its thought among them, and of a prompt with its schema.
_BUDGET, _PROMPT = 2048, 1024
_YES, _NO, _NOT_TOLD = "yes", "no", "not told"
#: Properties in the schema's order, which is neither alphabetical nor the prompt's;
#: a set for each of the requests at one time.
_PROPERTIES: Final = (
    ("deck", "mast", "anchor"),
    ("keel", "sail", "bow"),
    ("hull", "rope", "chart"),
    ("stern", "oar", "cabin"),
)
_NOTE: Final = (
    "Prompts ask for values that the schema forbids. Not told: without a schema the "
    "answer keeps it too, or is missing, or no request was left."
)
_OBJECT: Final[Json] = {"type": "object"}
_JSON_MODE: Final = "json"
#: The lowest level at which models reason.
_MIN_EFFORT: Final = "low"
#: Names of the probes of keywords, in fours that servers take or refuse together.
PROBED: Final = (
    *("enum", "const", "anyOf", "pattern"),
    *("minimum (integer)", "maximum (integer)", "multipleOf (integer)", "minLength"),
    *("maxItems", "uniqueItems", "oneOf (overlapping)", "not (value)"),
)
_FOUR: Final = 4
#: Held by every answer that keeps a schema of `_PROPERTIES`.
_HELD: Final = ("type", "properties", "required", "additionalProperties")
_ENFORCED: Final = ProbeOutcome.ENFORCED
_REFUSALS: Final = (TextEnding.ENGINE, TextEnding.REQUEST)
#: After which as the first answer no more is asked.
_TROUBLE: Final = (TextEnding.MODEL, TextEnding.TIMEOUT)


class Conformance(NamedTuple):
    """Findings from the answers of a server."""

    server: ModelServer
    #: Way to ask, feature, answer, and why.
    findings: Sequence[tuple[str, str, str, str]]
    #: Outcomes by keyword; None if unknown.
    keywords: Mapping[str, ProbeOutcome | None]
    requests: int
    date: str

    def tables(self) -> list[Table]:
        """Return the tables of features and of keywords."""
        columns = ("way", "feature", "answer", "why")
        keyword_rows = tuple(
            (name, outcome.value if outcome else _NOT_TOLD)
            for name, outcome in self.keywords.items()
        )
        ways = ("keyword", f"in {self.server.spec}")
        rows = tuple(self.findings)
        features = Table(title="conformance", columns=columns, rows=rows, note=_NOTE)
        keywords = Table(title="keywords", columns=ways, rows=keyword_rows, note=_NOTE)
        return [features, keywords] if keyword_rows else [features]

    def profile(self, name: str) -> str:
        """Return the profile of the server for `csbdata fit`, as TOML."""
        title = f"{self.server.label} at {self.server.connection.base}"
        # Texts and lists of TOML are JSON's.
        quoted = partial(json.dumps, ensure_ascii=False)
        by_outcome: dict[ProbeOutcome | None, list[str]] = defaultdict(list)
        for keyword, outcome in sorted(self.keywords.items()):
            by_outcome[outcome].append(keyword)
        lines = [
            "# Made by `csbdata probe`.",
            f"name = {quoted(name)}",
            f"title = {quoted(title)}",
            f'date = "{self.date}"',
            f'kind = "{TargetKind.SERVER}"',
            'compared = "the server, by probes"',
            f"accepted = {quoted(by_outcome[_ENFORCED])}",
            "\n[sources.probes]",
            f"title = {quoted(f'probes of {title}')}",
            f'date = "{self.date}"',
            'evidence = "probed"',
        ]
        for outcome in (ProbeOutcome.REFUSED, ProbeOutcome.IGNORED):
            if keywords := by_outcome[outcome]:
                lines += ["\n[[rules]]", 'check = "keyword"']
                lines += [f"names = {quoted(keywords)}", f'effect = "{outcome}"']
                lines.append('source = "probes"')
        return "\n".join([*lines, ""])


@dataclass(slots=True)
class _Asker:
    """Asks a server in all ways."""

    model: ServedModel
    #: Why no more was sent.
    limit: str = ""
    answered: bool = False
    #: Reason of the first request without an answer.
    trouble: str = ""

    def ask(
        self, server: ModelServer, *questions: tuple[str, Json]
    ) -> list[Generation | None]:
        """Return the answers to prompts with schemas; None where none was sent."""
        generations: list[Generation | None] = [None] * len(questions)
        requests = [
            GenerationRequest(
                record=Record(id="probe", schema=json.dumps(schema)),
                messages=(Message(role="user", content=prompt),),
                budget=_BUDGET,
            )
            for prompt, schema in questions
        ]
        try:
            self.model.generate(requests, server, generations.__setitem__)
        except SpendingLimit as limit:
            self.limit = str(limit)
        except ConditionUnavailable as lacking:
            self.trouble = self.trouble or str(lacking)
        for generation in filter(None, generations):
            self.answered |= generation.generated
            self.trouble = self.trouble or generation.detail or generation.ending.value
        return generations

    def judged(self, generation: Generation | None, schema: Json) -> tuple[str, str]:
        """Return whether an answer keeps a schema, and why."""
        if generation is None:
            return _NOT_TOLD, self.limit
        if generation.ending in _REFUSALS:
            return _NO, generation.detail
        if not generation.generated or generation.ending is not TextEnding.END:
            return _NOT_TOLD, generation.detail or generation.ending.value
        if judge(generation.text, schema):
            return _YES, ""
        return _NO, f"wrote {shortened(generation.text, 40)!r}"


def probe_endpoint(
    address: str,
    max_cost: float | None,
    max_requests: int | None,
    log: Callable[[str], None],
) -> Conformance:
    """Return the findings from at most `MAX_REQUESTS` requests to a server.

    Args:
        address: `PROVIDER:NAME` or `URL#NAME`.
        max_cost: Stop sending once the answers have cost this much.
        max_requests: Maximum number of requests.
        log: Reports the requests to come.

    Raises:
        BadUsage: not a served model, or no price is known.
        BadConfiguration: the server has several models.
        Unavailable: the server does not answer, or answers nothing (exit 69).
        NotPermitted: the key is missing or wrong (exit 77).
        NoInput: the server has no such model (exit 66).
    """
    free, *servers = list_servers(address, PROMPT_ALONE)
    connection = free.connection
    prices = find_prices(None, connection, max_cost)
    limit = min(max_requests or MAX_REQUESTS, MAX_REQUESTS)
    cost = "the cost is unknown"
    if prices is not None:
        at_most = limit * (prices.cost(_PROMPT, _BUDGET) or 0.0)
        cost = f"together at most {at_most:.2f} ({prices.source})"
    log(
        f"{connection.base}: at most {counted(limit, 'request')}, answers of at most "
        f"{counted(_BUDGET, 'token')}, {cost}"
    )
    spending = Spending(max_cost, limit)
    account = Account(spending, prices)
    client = ServerClient(connection, account=account)
    with closing(ServedModel(client, log)) as model:
        asker = _Asker(model)
        findings, strongest = _features(asker, free, servers)
        keywords: dict[str, ProbeOutcome | None] = {}
        if strongest is not None:
            keywords = _keywords(asker, free, strongest)
    if not asker.answered:
        message = f"no answer: {asker.trouble or asker.limit}"
        raise Unavailable(message, connection.base)
    return Conformance(
        server=strongest or free,
        findings=findings,
        keywords=keywords,
        requests=spending.requests,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
    )


def _schema(names: Sequence[str], **properties: Json) -> Json:
    """Return the schema of an object with these members alone, integers by default."""
    integers: dict[str, Json] = {name: {"type": "integer"} for name in names}
    return {
        "type": "object",
        "properties": integers | properties,
        "required": [*names],
        "additionalProperties": False,
    }


def _forbidden(names: Sequence[str]) -> str:
    """Return a prompt for what `_schema` forbids: no JSON, other names and types."""
    assignments = f"{names[1]}=three, {names[2]}=two, flag=four"
    return f"Do not answer in JSON. Write only this and nothing else: {assignments}"


def _features(
    asker: _Asker, free: ModelServer, servers: Sequence[ModelServer]
) -> tuple[list[tuple[str, str, str, str]], ModelServer | None]:
    """Return the findings, and the way that constrains most, if any does."""
    names = _PROPERTIES[0]
    prompt = _forbidden(names)
    full_schema = _schema(names)
    (control,) = asker.ask(free, (prompt, full_schema))
    if control is not None and control.ending in _TROUBLE and not control.text:
        return [], None
    findings = [(free.way, "streams", *_streams(control))]
    constraining: list[ModelServer] = []
    for server in servers:
        schema = _OBJECT if server.way == _JSON_MODE else full_schema
        (generation,) = asker.ask(server, (prompt, schema))
        answer, why = asker.judged(generation, schema)
        order = (_NOT_TOLD, "no valid answer")
        if generation is not None and answer == _YES:
            names_written = [*json.loads(generation.text)]
            order = (
                (_YES if names_written == [*names] else _NO),
                f"wrote {', '.join(names_written)}",
            )
            without, text = asker.judged(control, schema)
            if without != _NO:
                answer = _NOT_TOLD
                why = f"without a schema: {text or 'valid too'}"
        feature = "constrains" if schema is full_schema else "an object at all"
        findings.append((server.way, feature, answer, why))
        findings.append((server.way, "streams", *_streams(generation)))
        if schema is full_schema:
            findings.append((server.way, "property order", *order))
            findings.append((server.way, "while reasoning", *_reasons(asker, server)))
            if answer == _YES:
                constraining.append(server)
    strongest = constraining[-1] if constraining else None
    if strongest is not None:
        answers = _at_once(asker, strongest)
        findings.append((strongest.way, "under concurrency", *answers))
    return findings, strongest


def _streams(generation: Generation | None) -> tuple[str, str]:
    pieces = generation.pieces if generation is not None else None
    if not pieces:
        return _NOT_TOLD, "no answer"
    return (_NO, "in one piece") if pieces == 1 else (_YES, f"{pieces} pieces")


def _reasons(asker: _Asker, server: ModelServer) -> tuple[str, str]:
    """Return whether an answer after a thought keeps the schema."""
    provider = server.connection.provider
    names = _PROPERTIES[0]
    if not provider.effort or server.way in provider.unthinking.ways:
        return _NOT_TOLD, "no levels of reasoning"
    thinking = replace(server, effort=_MIN_EFFORT)
    schema = _schema(names)
    (generation,) = asker.ask(thinking, (_forbidden(names), schema))
    thought = generation is not None and (
        generation.reasoning or generation.reasoning_tokens
    )
    if generation is not None and generation.generated and not thought:
        return _NOT_TOLD, "it did not reason"
    return asker.judged(generation, schema)


def _at_once(asker: _Asker, server: ModelServer) -> tuple[str, str]:
    """Return whether answers under way together keep each its own schema."""
    questions = [(_forbidden(names), _schema(names)) for names in _PROPERTIES]
    generations = asker.ask(server, *questions)
    judged = [
        asker.judged(generation, schema)
        for generation, (_, schema) in zip(generations, questions, strict=True)
    ]
    for answer in (_NO, _NOT_TOLD):
        if reasons := [why for verdict, why in judged if verdict == answer]:
            return answer, f"{len(reasons)} of {len(judged)}: {reasons[0]}"
    return _YES, f"{len(judged)} at once"


def _keywords(
    asker: _Asker, free: ModelServer, server: ModelServer
) -> dict[str, ProbeOutcome | None]:
    """Return the outcome of each keyword; a group without an answer is split."""
    by_name = {probe.name: probe for probe in KEYWORD_PROBES}
    probes = {f"p{index}": by_name[name] for index, name in enumerate(PROBED)}
    (control,) = asker.ask(free, (_broken(probes), True))
    copied = _values(control)
    # Rules kept without a schema show nothing under one.
    groups = [
        {
            name: probe
            for name, probe in probes.items()
            if name in copied and not _keeps(copied[name], probe)
        }
    ]
    outcomes: dict[str, ProbeOutcome | None] = dict.fromkeys(_HELD, _ENFORCED)
    outcomes |= {probe.keyword: None for probe in probes.values()}
    while groups and (group := groups.pop(0)) and not asker.limit:
        schema = _schema(
            [*group], **{name: _typed(probe) for name, probe in group.items()}
        )
        (generation,) = asker.ask(server, (_broken(group), schema))
        if generation is not None and generation.ending is not TextEnding.END:
            # One keyword is refused, or is written for ever; the others may not be.
            if len(group) == 1 and generation.ending in _REFUSALS:
                outcomes |= {
                    probe.keyword: ProbeOutcome.REFUSED for probe in group.values()
                }
            items = [*group.items()]
            size = _FOUR if len(group) > _FOUR else 1
            starts = range(0, len(items), size) if len(items) > 1 else ()
            groups += [dict(items[start : start + size]) for start in starts]
        values = _values(generation)
        for name in values.keys() & group.keys():
            is_respected = _keeps(values[name], group[name])
            outcome = _ENFORCED if is_respected else ProbeOutcome.IGNORED
            outcomes[group[name].keyword] = outcome
    return outcomes


def _typed(probe: Probe) -> Json:
    """Return a probe's schema with a type, which some servers require with `enum`."""
    named = probe.keyword in {"enum", "const"}
    return {"type": "string", **probe.schema} if named else probe.schema


def _broken(probes: Mapping[str, Probe]) -> str:
    values = {name: probe.violating[probe.keyword] for name, probe in probes.items()}
    document = json.dumps(values)
    return f"Write only this JSON, each value as it stands, nothing else: {document}"


def _values(generation: Generation | None) -> dict[str, Json]:
    """Return the members of an answer that is whole; none for other values."""
    is_complete = generation is not None and generation.ending is TextEnding.END
    text = generation.text if generation is not None and is_complete else ""
    return json.loads(text) if judge(text, _OBJECT) else {}


def _keeps(value: Json, probe: Probe) -> bool:
    return judge(json.dumps(value), _typed(probe)).valid

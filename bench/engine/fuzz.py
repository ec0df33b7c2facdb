"""Fuzz engines against validators: draw, judge, walk, shrink, class, keep.

    python -m bench fuzz --hours 0.5 --build build/JSONSchemaBench

Schemas come from the grammar of keywords, and from real ones and earlier findings,
mutated and crossed. Where an engine is at odds with what both validators say, schema
and text are shrunk as long as it does the same at the same kind of place. What is new
is seen once more in a new process, kept in the corpus, and printed as the text of an
issue. The same command goes on where the last one ended.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from bench.builds import clean_build
from bench.engine.fuzz_corpus import Corpus, Finding
from bench.engine.fuzz_draws import (
    Text,
    dialect_of,
    drawn,
    judge,
    mutated,
    read,
    refusing_keywords,
    short_schemas,
    texts_of,
)
from curation.download.acquire import FetchSettings
from curation.instances.values.json_text import text_of
from evaluation.analysis.shrink_failure import ask_in_new_process, open_engine, shrink
from evaluation.core.cases import Case, InstanceWalk, Result, Row, WalkVerdict
from evaluation.data.find_data import open_data
from evaluation.results.outcomes import engine_is_wrong
from evaluation.setup.engine_files import FAITHFUL
from evaluation.setup.selected_engines import select_engines
from evaluation.tokenizers import get_tokenizer
from evaluation.walking.engine_worker import Bounds

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from curation.core.json_types import Json
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles

#: Puts a case to an engine.
Ask: TypeAlias = "Callable[[Case], Row]"
#: Returns what stands before a token of a text.
Prefix: TypeAlias = "Callable[[str, int], str]"
_ENGINES = ("llguidance", "xgrammar")
_BOUNDS = Bounds(compile_seconds=4.0, run_seconds=4.0, memory_mb=2048)
#: Schemas of one seed: drawn, and mutated.
_BATCH = 40
#: Schemas, and values, that one shrinking tries.
_SCHEMAS, _VALUES = 120, 60
#: Schemas that others are drawn from.
_POOL = 4_000
#: Wrong walks of one rough kind after which only some are shrunk.
_OFTEN = 6
_KINDS = {
    WalkVerdict.BLOCKED: "blocks a valid text",
    WalkVerdict.UNFINISHED: "does not let a valid text end",
    WalkVerdict.ACCEPTED: "accepts an invalid text",
    WalkVerdict.LIED: "has a mask at odds with commit",
    WalkVerdict.MASK_GAP: "masks what commit takes in a valid text",
    WalkVerdict.CONTRADICTED: "blocks what it let through before",
    WalkVerdict.ENGINE_ERROR: "fails in a walk",
}
_DEATHS = {
    Result.CRASH: "dies",
    Result.OUT_OF_MEMORY: "takes too much memory",
    Result.ENGINE_ERROR: "fails in a walk",
    Result.TOO_MUCH_OUTPUT: "prints without end",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--hours", type=float, default=0.02)
    parser.add_argument("--fuzz-corpus", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--fuzz-engines", nargs="*", default=_ENGINES)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Fuzz for some hours; return counts, with those of earlier runs."""
    corpus, new = Corpus(options.fuzz_corpus), 0
    if options.hours:
        fetch = FetchSettings.from_environment()
        with clean_build(options.build) as build:
            data = open_data(str(build.folder), instances=False, settings=fetch)
            real = short_schemas(record.schema for record in data.records())
        tokenizer = get_tokenizer("smollm2", fetch)
        with ExitStack() as stack:
            engines = [
                stack.enter_context(open_fuzzed(engine, tokenizer))
                for engine in select_engines(
                    fetch.cache, options.fuzz_engines, FAITHFUL, ()
                )
            ]
            fuzzer = Fuzzer(corpus, engines, lambda text: print(text, file=sys.stderr))
            fuzzer.run(real, options.hours * 3600)
            new = fuzzer.new
    print(corpus.section(), file=sys.stderr)
    return {
        "new": new,
        "classes": len(corpus.findings()),
        **{
            name: getattr(corpus.state, name) for name in corpus.state.__struct_fields__
        },
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What an engine does to one text."""

    kind: str
    #: What stands where the text is blocked.
    place: str = ""
    detail: str = ""
    warned: bool = False

    def is_like(self, other: Seen | None) -> bool:
        """Return whether another text meets the same."""
        mine = (self.kind, self.place, self.warned)
        return other is not None and mine == (other.kind, other.place, other.warned)


def see(row: Row, texts: Sequence[Text], prefix: Prefix) -> list[Seen | None]:
    """Return what is wrong with each text of a row; None where nothing is.

    An engine that dies is wrong about the first; a refusal and a deadline, which a
    busy machine may reach, are no faults.

    Args:
        row: The row.
        texts: What was walked.
        prefix: Returns what stands before a token of a text.
    """
    if row.result is not Result.OK:
        kind = _DEATHS.get(row.result)
        first = [Seen(kind=kind, detail=row.detail[:200])] if kind else [None]
        return [*first, *[None] * (len(texts) - 1)]
    seen: list[Seen | None] = []
    for walked, text in zip(row.walks, texts, strict=True):
        if not engine_is_wrong(walked):
            seen.append(None)
            continue
        at = None if walked.at is None else prefix(text.text, walked.at)
        seen.append(
            Seen(
                kind=_KINDS[walked.verdict],
                place="" if at is None else place_in(text.text, at),
                detail=walked.detail[:200],
                warned=bool(row.warnings) and not text.valid,
            )
        )
    return seen


def place_in(text: str, before: str) -> str:
    r"""Return what stands in a JSON text behind a beginning of it.

    Example:
        >>> place_in('{"a": "\\n"}', '{"a": "')
        'an escape'
    """
    rest = text[len(before) :]
    quotes = before.replace("\\\\", "").replace('\\"', "").count('"')
    if quotes % 2:
        inside = {"\\": "an escape", '"': "the end of a string"}
        return inside.get(rest[:1], "the inside of a string")
    rest = rest.lstrip(" ,:")
    if rest.startswith('"'):
        _, end = json.decoder.scanstring(rest, 1)  # type: ignore[attr-defined] # C or Python
        return "a name" if rest[end:].lstrip().startswith(":") else "a string"
    if rest[:1] in "-0123456789":
        return "a number"
    words = {"{": "an object", "[": "an array", "}": "the end of an object"}
    words |= {"]": "the end of an array", "": "the end"}
    return words.get(rest[:1], "a literal")


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzedEngine:
    """An engine, and the ways to ask it."""

    label: str
    ask: Ask
    ask_afresh: Ask
    prefix: Prefix

    def walk(
        self, schema: Json, texts: Sequence[Text], ask: Ask | None = None
    ) -> tuple[Row, list[Seen | None]]:
        """Return the row of a schema, and what is wrong with each of its texts."""
        case = Case(
            task="fuzz",
            id="fuzz",
            config=dialect_of(schema).name,
            schema=json.dumps(schema),
            walks=tuple(
                InstanceWalk(text=each.text, valid=each.valid) for each in texts
            ),
        )
        row = (ask or self.ask)(case)
        return row, see(row, texts, self.prefix)


@contextmanager
def open_fuzzed(
    engine: EngineUnderTest, tokenizer: TokenizerFiles
) -> Iterator[FuzzedEngine]:
    """Open an engine's worker for the length of a block."""
    encode, contents = tokenizer.encoder(), tokenizer.token_bytes()

    def prefix(text: str, token: int) -> str:
        tokens = encode([text])[0] or []
        joined = b"".join(contents[each] or b"" for each in tokens[:token])
        return joined.decode("utf-8", "ignore")

    with open_engine(engine, tokenizer, _BOUNDS) as ask:
        yield FuzzedEngine(
            label=engine.label,
            ask=ask,
            ask_afresh=ask_in_new_process(engine, tokenizer, _BOUNDS),
            prefix=prefix,
        )


def shrunk(
    engine: FuzzedEngine, schema: Json, text: Text, seen: Seen
) -> tuple[Json, Text]:
    """Return the smallest schema and text with which an engine does the same.

    Both validators still say the same of the text, and the same keyword alone refuses
    it if it is invalid.
    """

    def same(schema: Json, value: Json) -> bool:
        smaller = replace(text, text=text_of(value))
        if not is_as_said(schema, smaller):
            return False
        return seen.is_like(engine.walk(schema, [smaller])[1][0])

    value: Json = json.loads(text.text)
    for _ in range(2):
        schema = shrink(schema, partial(same, value=value), _SCHEMAS)
        value = shrink(value, partial(same, schema), _VALUES)
    return schema, replace(text, text=text_of(value))


def is_as_said(schema: Json, text: Text) -> bool:
    """Return whether both validators say of a text what is said of it."""
    readings = read(schema) if isinstance(schema, dict) else None
    if readings is None:
        return False
    value = json.loads(text.text)
    if judge(readings, value) is not text.valid:
        return False
    return text.valid or refusing_keywords(readings, value) == {text.keyword}


class Fuzzer:
    """One run over a corpus."""

    def __init__(
        self,
        corpus: Corpus,
        engines: Sequence[FuzzedEngine],
        tell: Callable[[str], None],
    ) -> None:
        """Take the corpus, the engines, and what is told of new findings."""
        self._corpus, self._engines, self._tell = corpus, engines, tell
        self._often: Counter[tuple[str, ...]] = Counter()
        self.new = 0

    def run(self, real: Sequence[dict[str, Json]], seconds: float) -> None:
        """Fuzz for so many seconds, seed by seed."""
        state, start = self._corpus.state, time.monotonic()
        before, pool = (
            state.seconds,
            [*real, *(each.schema for each in self._corpus.findings())],
        )
        while time.monotonic() - start < seconds:
            rng = random.Random(state.seeds)  # noqa: S311 - drawn again alike
            fresh = drawn(state.seeds, _BATCH)
            pool = [*pool, *fresh][-_POOL:]
            for schema in (*fresh, *mutated(pool, rng, _BATCH)):
                if (spent := time.monotonic() - start) < seconds:
                    self.try_schema(schema, rng)
                state.seconds = before + spent
                self._corpus.save()
            state.seeds += 1
        self._corpus.save()

    def try_schema(self, schema: dict[str, Json], rng: random.Random) -> None:
        """Put one schema to every engine; shrink and keep what is new."""
        readings, state = read(schema), self._corpus.state
        texts = texts_of(readings, state.seeds) if readings else []
        if not texts:
            return
        state.schemas += 1
        state.texts += len(texts)
        for engine in self._engines:
            row, wrong = engine.walk(schema, texts)
            if row.result is Result.COMPILE_ERROR:
                state.refused[engine.label] = state.refused.get(engine.label, 0) + 1
            for text, seen in zip(texts, wrong, strict=True):
                if seen is None:
                    continue
                counts = state.warned if seen.warned else state.wrong
                counts[engine.label] = counts.get(engine.label, 0) + 1
                if not seen.warned and self._is_worth(engine, text, seen, rng):
                    self._keep(engine, schema, text, seen)

    def _is_worth(
        self, engine: FuzzedEngine, text: Text, seen: Seen, rng: random.Random
    ) -> bool:
        """Return whether to shrink: the more seldom, the more were alike."""
        rough = (engine.label, seen.kind, seen.place, text.keyword)
        self._often[rough] += 1
        return rng.random() * self._often[rough] < _OFTEN

    def _keep(self, engine: FuzzedEngine, schema: Json, text: Text, seen: Seen) -> None:
        if not text.valid and not is_as_said(schema, text):
            return
        smallest, small = shrunk(engine, schema, text, seen)
        finding = Finding(
            engine=engine.label,
            kind=seen.kind,
            place=seen.place,
            schema=smallest,
            text=small.text,
            valid=small.valid,
            keyword=small.keyword,
            detail=seen.detail,
            date=f"{datetime.now(UTC):%Y-%m-%d}",
        )
        if not self._corpus.wants(finding):
            return
        if not seen.is_like(engine.walk(smallest, [small], engine.ask_afresh)[1][0]):
            self._corpus.state.unsteady += 1
            return
        self._corpus.add(finding)
        self.new += 1
        self._tell(finding.as_issue())

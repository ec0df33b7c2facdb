"""Rewrite a schema so that a target accepts it, and claim the effect of each step.

The findings of `curation.fit.verdict` ask for rewrites; safe ones come first. How a
step changes the values that are meant is proven by the algebra or by the rule of the
rewrite, refuted with a value, or unknown. A step that loses all known values is not
made. The whole has a deadline in processor time, proofs included.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

import msgspec
from msgspec.structs import replace

from curation.core.json_types import Json
from curation.fit.decoding import Codec
from curation.fit.edits import Claim, Sites
from curation.fit.equal_edits import has_exclusive_branches, restored, tidied
from curation.fit.positions import Position, positions
from curation.fit.profile import Effect, Profile
from curation.fit.rewrites import COUPLED, EXACT, NORMALISED, SAFE, UNSAFE, Rewrite
from curation.fit.shapes import SHAPE, Shaped
from curation.fit.sketch import sketched
from curation.fit.verdict import FAILING, FitFinding, decide_verdict, judge_fit
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.keyword_values import asserted_formats
from curation.json.pointer import Tokens, at, pointer
from curation.references.gathering import gathered
from curation.relation.comparer import PROOF_SECONDS, VALUE_SECONDS, Comparer, to_text
from curation.relation.questions import AlgebraAnswer
from curation.schema.dialects import DRAFT_2020_12
from curation.schema.subschemas import edited, subschemas, without
from curation.schema.translation import CannotPortError, ported
from curation.system.words import counted

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.fit.verdict import Verdict
    from curation.schema.dialects import Dialect

_DIALECT: Final = DRAFT_2020_12
#: How often the list of rewrites is gone through at most.
_PASSES: Final = 8
#: Seconds of processor time for a whole rewrite.
REWRITE_SECONDS: Final = 20.0
#: And for the last question.
_MIN_SECONDS: Final = 0.1
#: Claims that are safe.
SAFE_CLAIMS: Final = frozenset({Claim.EQUAL, Claim.NARROWER})


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One applied rewrite."""

    rewrite: str
    sentence: str
    claim: Claim
    #: How the claim is known.
    evidence: str
    #: JSON pointers of the schemas that are rewritten.
    pointers: tuple[str, ...]
    #: JSON text of a value that shows it, if one does.
    value: str | None = None


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """A schema rewritten for a target."""

    target: str
    original: CompiledSchema
    #: What is meant, with marks where answers have another shape.
    shaped: Shaped
    steps: tuple[Step, ...]
    #: What the target still does not take.
    failing: tuple[FitFinding, ...]
    #: Parts of the sent schema that it ignores, or is not known to honour.
    remarks: tuple[FitFinding, ...]
    #: Whether the deadline ended it before the schema fitted.
    is_late: bool

    def __repr__(self) -> str:
        """Return the answer: the rest is in the attributes."""
        rewrites = ", ".join(step.rewrite for step in self.steps) or "no rewrite"
        return f"<Fit for {self.target}: {self.verdict}; {rewrites}: {self.claim}>"

    @property
    def schema(self) -> UntypedJson:
        """The sent schema."""
        return self.shaped.schema

    @property
    def meaning(self) -> Json:
        """The schema of decoded answers."""
        return without_marks(self.shaped.marked)

    @property
    def ignored(self) -> tuple[FitFinding, ...]:
        """What it accepts and does not hold."""
        return tuple(
            remark for remark in self.remarks if remark.effect is Effect.IGNORED
        )

    @property
    def fits(self) -> bool:
        """Whether the target does not reject it."""
        return not self.failing

    @property
    def verdict(self) -> Verdict:
        """What happens to a request with the sent schema."""
        return decide_verdict((*self.failing, *self.remarks))

    @property
    def claim(self) -> Claim:
        """How decoded answers relate to the original, ignored keywords included."""
        claims = {step.claim for step in self.steps} - {Claim.EQUAL}
        claims |= {Claim.WIDER} if self.ignored else set()
        if len(claims) > 1:
            return Claim.UNKNOWN if Claim.UNKNOWN in claims else Claim.DIFFERS
        return claims.pop() if claims else Claim.EQUAL

    @property
    def codec(self) -> Codec:
        """The mapping between answers and values."""
        return Codec(self.shaped)


def without_marks(marked: Json) -> Json:
    """Return a marked schema without its marks."""

    def unmarked(_tokens: Tokens, schema: Json) -> Json:
        if not isinstance(schema, dict) or SHAPE not in schema:
            return schema
        return without(schema, SHAPE)

    return edited(marked, _DIALECT, unmarked)


class Rewriting(msgspec.Struct, dict=True):
    """The search for a schema that a target accepts."""

    #: A schema that jsonschema-rs can use.
    original: CompiledSchema
    profile: Profile
    #: Decides how steps change the schema.
    comparer: Comparer
    #: `safe` makes only steps after which decoded answers are valid; `any` makes others
    #: where those are not enough.
    allow: Literal["safe", "any"] = "safe"
    #: Values of the schema, at least one of them is to be kept; by default some are
    #: looked for when they are needed.
    examples: Sequence[Json] | None = None
    #: Whether it is the schema of a tool's parameters, and is sent with `strict`.
    tool: bool = False
    strict: bool = False
    #: Whether to ask for a proof also of claims known by a rule, and for a value that
    #: refutes a claim without proof.
    prove: bool = True
    #: The deadline in processor time of the search for safe steps, and of the one for
    #: others, the comparer's included.
    seconds: float = REWRITE_SECONDS
    steps: list[Step] = []
    #: Whether only safe steps are made so far.
    is_safe: bool = True
    #: Whether the algebra has an answer in time.
    has_algebra: bool = True
    #: Searches for values that refute a step.
    searches: int = 0

    def __post_init__(self) -> None:
        """Start the clock, with the schema as it is."""
        self.begun = time.thread_time() + self.comparer.spent
        closed: Json = {
            "type": "object",
            "properties": {},
            "additionalProperties": False,
        }
        self.may_close = not any(
            finding.keyword == "additionalProperties" and finding.effect in FAILING
            for finding in judge_fit(
                closed, self.profile, tool=self.tool, strict=self.strict
            )
        )
        self.shaped = self._shaped(self.original.value, self.original.dialect)

    def _shaped(self, marked: Json, dialect: Dialect) -> Shaped:
        return Shaped(marked, dialect, is_closed=self.may_close)

    def _examples(self) -> Sequence[Json]:
        if self.examples is None:
            original = to_text(self.original.value, self.original.dialect)
            limit = min(VALUE_SECONDS, self.seconds / 2)
            texts = self.comparer.witnesses(original, limit)
            self.examples = [json.loads(text) for text in texts]
        return self.examples

    def run(self) -> Fit:
        """Return the schema rewritten for the target, as far as that is possible."""
        if self._failing():
            self._port()
        self._search((*EXACT, *SAFE))
        failing = self._failing()
        if failing and self.allow == "any":
            self.begun = time.thread_time() + self.comparer.spent
            self.is_safe = False
            self._search((*EXACT, *SAFE, *UNSAFE))
            failing = self._failing()
        return Fit(
            target=self.profile.name,
            original=self.original,
            shaped=self.shaped,
            steps=tuple(self.steps),
            failing=failing,
            remarks=tuple(
                finding for finding in self._findings() if finding.effect not in FAILING
            ),
            is_late=bool(failing) and self._left() <= 0,
        )

    def _search(self, candidates: Iterable[Rewrite]) -> None:
        # The result of one rewrite may suit an earlier one in the list.
        for _ in range(_PASSES if self.shaped.dialect is _DIALECT else 0):
            before = len(self.steps)
            for candidate in candidates:
                self._apply(candidate)
            if len(self.steps) == before:
                break

    def _left(self) -> float:
        """Return the seconds that are left."""
        spent = time.thread_time() + self.comparer.spent - self.begun
        return self.seconds - spent

    def _within(self, limit: float) -> float:
        """Return the deadline of one question: at most a third of the remainder."""
        return min(limit, max(_MIN_SECONDS, self._left() / 3))

    def _findings(self) -> tuple[FitFinding, ...]:
        return judge_fit(
            self.shaped.schema, self.profile, tool=self.tool, strict=self.strict
        )

    def _failing(self) -> tuple[FitFinding, ...]:
        return tuple(
            finding for finding in self._findings() if finding.effect in FAILING
        )

    def _port(self) -> None:
        """Write the schema in 2020-12, in which all rewrites are made."""
        value, dialect = self.original.value, self.original.dialect

        def legal(_tokens: Tokens, schema: Json) -> Json:
            # No reference can use an anchor that 2020-12 does not allow.
            if isinstance(schema, dict) and not _ANCHOR.fullmatch(
                str(schema.get("$anchor", "a"))
            ):
                return without(schema, "$anchor")
            return schema

        try:
            bundled = gathered(value, dialect)
            new = edited(ported(bundled, dialect, _DIALECT), _DIALECT, legal)
            CompiledSchema(new, _DIALECT).validator  # noqa: B018 - may it be used?
        except (CannotPortError, ValueError):
            return
        if isinstance(new, dict) and isinstance(value, dict) and "$schema" in value:
            new = {"$schema": _DIALECT.uri, **new}
        if bundled is not value:
            sentence = "what references lead to outside of all keywords becomes a"
            self._note("gathered", f"{sentence} definition", Claim.EQUAL)
        if dialect is not _DIALECT:
            # 2020-12 asserts formats that older drafts do not have.
            formats = asserted_formats(_DIALECT) - asserted_formats(dialect)
            used = {str(part.get("format")) for part in subschemas(value, dialect)}
            claim = Claim.NARROWER if used & formats else Claim.EQUAL
            sentence = f"the schema of {dialect.name} is written in 2020-12"
            self._note("ported", sentence, claim)
        self.shaped = self._shaped(new, _DIALECT)

    def _note(self, name: str, sentence: str, claim: Claim) -> None:
        """Add a step that changes the whole schema, with a claim by its rule."""
        self.steps.append(
            Step(
                rewrite=name,
                sentence=sentence,
                claim=claim,
                evidence="by its rule",
                pointers=("",),
            )
        )

    def _apply(self, candidate: Rewrite) -> None:
        """Make a rewrite where findings ask for it; an exact one by keyword."""
        findings = [
            failure
            for failure in self._failing()
            if candidate.answers(failure.rule, failure.keyword)
        ]
        checks = {failure.rule for failure in findings}
        rules = [rule for rule in self.profile.rules if rule.check in checks]
        limits = [rule.most for rule in rules if rule.most is not None]
        for group in sorted(
            {failure.keyword if candidate.exact else "" for failure in findings}
        ):
            places = positions(self.shaped.marked, _DIALECT)
            tried: dict[Tokens, frozenset[str]] = {}
            for finding in findings:
                tokens = self.shaped.source(finding.site)
                position = places.get(tokens)
                # A part only of the sent schema cannot be edited.
                is_marked = self.shaped.places.get(tokens) == finding.site
                if position is None or not is_marked:
                    continue
                if group not in ("", finding.keyword):
                    continue
                is_site = position.plain or not candidate.shapes
                if candidate is NORMALISED and finding.rule == "open-object":
                    # Closed next to another schema, it would refuse its properties.
                    is_site = not position.plain
                if is_site:
                    previous = tried.get(tokens, frozenset())
                    tried[tokens] = previous | {finding.keyword}
            if tried and self._left() > 0:
                sites = Sites(keywords=tried, limit=min(limits, default=0))
                self._try(candidate, sites, places)

    def _try(
        self, candidate: Rewrite, sites: Sites, places: Mapping[Tokens, Position]
    ) -> None:
        """Make a rewrite if it changes something and does no harm."""
        before = self.shaped.marked
        is_form = candidate is NORMALISED
        after = self._normalised() if is_form else candidate.apply(before, sites)
        if after is before or json.dumps(after) == json.dumps(before):
            return
        step = self._judged(candidate, sites, after, places)
        if self._may_be_made(candidate, step.claim) and self._keeps_one(after):
            self.shaped = self._shaped(after, _DIALECT)
            self.steps.append(step)

    def _may_be_made(self, candidate: Rewrite, claim: Claim | None) -> bool:
        if candidate.exact:
            return claim is Claim.EQUAL
        return claim in SAFE_CLAIMS or not self.is_safe

    def _normalised(self) -> UntypedJson:
        """Return the canonical form, or the schema itself if none exists."""
        marked = self.shaped.marked
        text = json.dumps(marked)
        if SHAPE in text or not self.has_algebra:
            return marked
        seconds = self._within(PROOF_SECONDS)
        form = self.comparer.form(to_text(marked, _DIALECT), seconds)
        if not form or len(form) > _GROWTH * len(text) + 10_000:
            return marked
        return restored(tidied(json.loads(form)), marked)

    def _keeps_one(self, marked: Json) -> bool:
        """Return whether a known value that was valid still is, where one was."""
        before = CompiledSchema(self.shaped.marked, _DIALECT)
        after = CompiledSchema(marked, _DIALECT)
        try:
            after.validator  # noqa: B018 - may it be used?
            if self.examples is None:
                sketch = sketched(self.original)
                # What is empty stays valid whatever is lost.
                schemas = (self.original, before, after) if sketch else ()
                if schemas and all(schema.is_valid(sketch) for schema in schemas):
                    return True
            valid = [value for value in self._examples() if before.is_valid(value)]
            return not valid or any(map(after.is_valid, valid))
        except ValueError:
            return False

    def _judged(
        self,
        candidate: Rewrite,
        sites: Sites,
        after: Json,
        places: Mapping[Tokens, Position],
    ) -> Step:
        """Return the step to a marked schema, with its claim."""
        before, after = without_marks(self.shaped.marked), without_marks(after)
        texts = to_text(before, _DIALECT), to_text(after, _DIALECT)
        proofs = AlgebraAnswer()
        edited_places = places if candidate.everywhere else sites.keywords
        rule = candidate.claim if candidate is NORMALISED else None
        if texts[0] == texts[1]:
            # An open object may take the answers of another branch.
            is_open = not self.may_close and candidate.name in _MAKING_OBJECTS
            is_clear = not is_open or '"anyOf"' not in texts[0].text
            proofs = AlgebraAnswer(first_in_second=is_clear, second_in_first=True)
        elif candidate.name == EXACT[0].name and all(
            has_exclusive_branches(at(before, tokens)) for tokens in sites.keywords
        ):
            proofs = AlgebraAnswer(first_in_second=True, second_in_first=True)
        elif all(places[tokens].monotone for tokens in edited_places):
            rule = candidate.claim
            names = frozenset().union(*sites.keywords.values())
            if candidate.name in _DROPPING and names & COUPLED:
                rule = None
        is_told = rule is not None and self._may_be_made(candidate, rule)
        is_asked = self.has_algebra and (self.prove or not is_told)
        if is_asked and not proofs.second_in_first:
            proofs = self.comparer.proofs(*texts, self._within(PROOF_SECONDS))
            self.has_algebra = "no answer within" not in proofs.failure
        claim = _claim(
            preserved=proofs.first_in_second or rule in (Claim.EQUAL, Claim.WIDER),
            safe=proofs.second_in_first or rule in (Claim.EQUAL, Claim.NARROWER),
        )
        by_algebra = _claim(
            preserved=proofs.first_in_second, safe=proofs.second_in_first
        )
        step = Step(
            rewrite=candidate.name,
            sentence=candidate.sentence,
            claim=claim,
            evidence=_PROVEN if claim == by_algebra else "by its rule",
            pointers=tuple(pointer(tokens) for tokens in sites.keywords),
        )
        if claim is not Claim.UNKNOWN or not self._may_be_made(candidate, claim):
            return step
        if not self.prove or self.searches >= _MAX_SEARCHES:
            return replace(step, evidence="unknown, no values tried")
        self.searches += 1
        values = self.comparer.values(
            *texts,
            given=map(json.dumps, self._examples()),
            differences=proofs.differences,
            seconds=self._within(VALUE_SECONDS),
        )
        if values.only_second is None:
            tried = f"unknown, {counted(values.tried, 'value')} tried"
            return replace(step, evidence=tried)
        return replace(
            step,
            claim=Claim.DIFFERS if values.only_first else Claim.WIDER,
            evidence="shown by a value",
            value=values.only_second,
        )


#: The evidence of a proof by the algebra, or of a meaning that stays word for word.
_PROVEN: Final = "proven"
#: The names that 2020-12 allows for anchors.
_ANCHOR: Final = re.compile(r"[A-Za-z_][-A-Za-z0-9._]*")
#: Rewrites that take out the keywords of the findings.
_DROPPING: Final = frozenset({"implied-keyword-dropped", "dropped"})
#: Rewrites that ask for an object in place of another value inside.
_MAKING_OBJECTS: Final = frozenset({"members", "pairs"})
#: Searches for values after which a step is unknown without one.
_MAX_SEARCHES: Final = 4
#: How many times as long as the schema its canonical form may be.
_GROWTH: Final = 4


def _claim(*, preserved: bool, safe: bool) -> Claim:
    if preserved and safe:
        return Claim.EQUAL
    if preserved:
        return Claim.WIDER
    return Claim.NARROWER if safe else Claim.UNKNOWN

"""A row's choices put into the words of its voice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.core.fields import all_fields
from evaluation.suites.ifstruct.core.requirements import Fence, FenceWish
from evaluation.suites.ifstruct.core.row_spec import Choice, Presentation
from evaluation.suites.ifstruct.presentation.annotated import annotated
from evaluation.suites.ifstruct.presentation.bullets import bullets
from evaluation.suites.ifstruct.presentation.glossary import glossary
from evaluation.suites.ifstruct.presentation.prose import prose
from evaluation.suites.ifstruct.presentation.schema_text import schema_text
from evaluation.suites.ifstruct.presentation.table import table
from evaluation.suites.ifstruct.rewriter.escapes import escapes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from evaluation.suites.ifstruct.core.row_spec import Retraction, RowSpec
    from evaluation.suites.ifstruct.rewriter.voice import Voice

#: What is left where a request has no context.
_GAP: Final = re.compile(r" +([.,?])")


class Wording:
    """Words one row; every draw comes from one generator of random numbers."""

    def __init__(self, spec: RowSpec, voice: Voice, draw: Random) -> None:
        """Take a row's choices, and the voice that tells them."""
        self._spec = spec
        self._voice = voice
        self._draw = draw
        self._taken_back = {one.choice for one in spec.retractions}

    def prompt(self) -> str:
        """Return the whole request, in three paragraphs."""
        paragraphs = (
            _GAP.sub(r"\1", " ".join(self._request())),
            "\n".join(self._fields()),
            self._joined(self._shape()),
        )
        return "\n\n".join(paragraphs)

    def _one_of(self, texts: Sequence[str], **words: object) -> str:
        """Return one text with its names filled in."""
        return self._draw.choice(texts).format(**words)

    def _final(self, choice: Choice, texts: Sequence[str], **words: object) -> str:
        """Return the text of a choice, introduced as a correction if it is one."""
        voice = self._voice
        correction = ""
        if choice in self._taken_back:
            correction = self._draw.choice(voice.corrections)
        return _capital(self._one_of(texts, correction=correction, **words))

    def _request(self) -> Iterator[str]:
        spec, voice = self._spec, self._voice
        if voice.opening:
            yield self._one_of(voice.opening)
        yield from self._musings()
        yield self._final(
            Choice.COUNT, voice.request, count=self._count(), context=spec.context
        )
        if spec.manner:
            yield self._one_of(voice.manner, manner=spec.manner)
        for _, field in all_fields(spec.fields):
            for kind in field.stress:
                yield self._one_of(escapes()[kind].ask, field=field.name)

    def _musings(self) -> Iterator[str]:
        musings = self._voice.musings
        if musings is None:
            return
        for one in self._spec.retractions:
            texts: tuple[str, ...] = getattr(musings, one.choice)
            yield self._one_of(texts, wrong=one.wrong, field=one.field)

    def _count(self) -> str:
        spec = self._spec
        same = spec.least == spec.most
        noun = spec.label if spec.most == 1 else spec.plural
        texts = self._voice.exact if same else self._voice.range
        return self._one_of(texts, least=spec.least, most=spec.most, noun=noun)

    def _fields(self) -> Iterator[str]:
        spec, voice = self._spec, self._voice
        match spec.presentation:
            case Presentation.SCHEMA:
                yield voice.schema
                yield schema_text(spec)
            case Presentation.ANNOTATED:
                yield voice.annotated
                yield annotated(spec)
            case Presentation.GLOSSARY:
                yield voice.glossary
                yield glossary(spec)
            case Presentation.TABLE:
                yield voice.table.format(label=spec.label)
                yield table(spec)
            case Presentation.BULLETS:
                yield voice.fields.format(label=spec.label)
                yield bullets(spec)
            case Presentation.PROSE:
                yield voice.fields.format(label=spec.label)
                yield prose(spec, self._sentence)
        for one in spec.retractions:
            yield from self._late_correction(one)

    def _sentence(self, name: str, facts: str) -> str:
        return self._one_of(self._voice.prose, name=name, facts=facts)

    def _late_correction(self, one: Retraction) -> Iterator[str]:
        if one.choice is Choice.LIMIT:
            yield self._one_of(self._voice.limit, field=one.field, final=one.final)
        elif one.choice is Choice.FIELD:
            yield self._one_of(self._voice.dropped, wrong=one.wrong)

    def _shape(self) -> Iterator[str]:
        spec, voice = self._spec, self._voice
        spelled = spec.format.upper()
        yield self._final(Choice.FORMAT, voice.format, format=spelled)
        shape = voice.bare if spec.wrapper is None else voice.wrapped
        yield self._final(Choice.WRAPPER, shape, key=spec.wrapper)
        yield self._one_of(voice.no_extra)
        fence = Fence.parse(spec.fence)
        if fence.wish is FenceWish.FORBIDDEN:
            yield self._final(Choice.FENCE, voice.forbidden)
        elif fence.language:
            texts = voice.required_language
            yield self._final(Choice.FENCE, texts, language=fence.language)
        elif fence.wish is FenceWish.REQUIRED:
            yield self._final(Choice.FENCE, voice.required)
        comment = voice.allowed if spec.commentary else voice.banned
        yield self._one_of(comment, format=spelled)

    def _joined(self, sentences: Iterator[str]) -> str:
        return " ".join(sentence for sentence in sentences if sentence)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

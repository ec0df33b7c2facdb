"""Every kind of broken answer."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from evaluation.suites.ifstruct.rows import AnswerFormat, FenceWish
from evaluation.suites.ifstruct.settings import Failure, RuleReading
from tests.evaluation.suites.ifstruct.answers.reference import (
    json_text,
    reference_answer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from curation.core.json_types import UntypedJson
    from evaluation.suites.ifstruct.rows import IfstructRecord
    from tests.evaluation.suites.ifstruct.answers.reference import ReferenceAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenAnswer:
    """An answer with one fault."""

    text: str
    #: The failure that names it; None where no rule can see the fault.
    failure: Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedFault:
    """One kind of fault."""

    name: str
    #: Returns the broken answer, or None where the row leaves no room for the fault.
    apply: Callable[[ReferenceAnswer], BrokenAnswer | None]
    #: Whether only the recommended reading counts it, or only the published one.
    recommended_only: bool = False
    published_only: bool = False


def at_place(
    answer: ReferenceAnswer,
    fits: Callable[[FieldPlace], bool],
    change: Callable[[FieldPlace], None],
) -> str | None:
    """Return the answer changed at its first place that fits; None where none does."""
    items = deepcopy(answer.items)
    schema = answer.requirements.schema
    place = next((one for one in field_places(items, schema) if fits(one)), None)
    if place is None:
        return None
    change(place)
    return answer.with_items(items).text


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPlace:
    """One member of one object of an answer."""

    holder: dict[str, UntypedJson]
    name: str
    schema: Mapping[str, UntypedJson]
    required: bool
    #: 0 for the members of an item.
    depth: int

    @property
    def value(self) -> UntypedJson:
        """What stands there."""
        return self.holder[self.name]

    @property
    def kind(self) -> str:
        """The type that the schema asks for; `enum` where it lists values."""
        return "enum" if "enum" in self.schema else str(self.schema.get("type", ""))


def field_places(
    items: UntypedJson, schema: Mapping[str, UntypedJson], depth: int = 0
) -> Iterator[FieldPlace]:
    """Yield every place of a list of items, or of one object."""
    if isinstance(items, list):
        for item in items:
            yield from field_places(item, schema.get("items", {}), depth)
    elif isinstance(items, dict):
        required = schema.get("required", ())
        for name, member in schema.get("properties", {}).items():
            if name in items:
                yield FieldPlace(
                    holder=items,
                    name=name,
                    schema=member,
                    required=name in required,
                    depth=depth,
                )
                yield from field_places(items[name], member, depth + 1)


def _with_outer(
    answer: ReferenceAnswer, outer: UntypedJson, failure: Failure
) -> BrokenAnswer:
    return BrokenAnswer(text=replace(answer, outer=outer).text, failure=failure)


def _with_items(
    answer: ReferenceAnswer, items: list[UntypedJson], failure: Failure
) -> BrokenAnswer:
    return BrokenAnswer(text=answer.with_items(items).text, failure=failure)


def _too_many(answer: ReferenceAnswer) -> BrokenAnswer | None:
    most = answer.requirements.most
    if not answer.items:
        return None
    items = (answer.items * (most + 1))[: most + 1]
    return _with_items(answer, items, Failure.ITEM_COUNT)


def _too_few(answer: ReferenceAnswer) -> BrokenAnswer | None:
    least = answer.requirements.least
    if least < 2:
        return None
    return _with_items(answer, answer.items[: least - 1], Failure.ITEM_COUNT)


def _none(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if not answer.requirements.least:
        return None
    # In YAML an empty list can only be written in brackets, as JSON.
    as_json = not answer.is_json and answer.requirements.wrapper is None
    failure = Failure.WRONG_FORMAT if as_json else Failure.ITEM_COUNT
    return _with_items(answer, [], failure)


def _as_texts(answer: ReferenceAnswer) -> BrokenAnswer:
    texts = [json.dumps(item) for item in answer.items]
    return _with_items(answer, texts, Failure.WRONG_TYPE)


def _nested_list(answer: ReferenceAnswer) -> BrokenAnswer:
    return _with_items(answer, [[item] for item in answer.items], Failure.WRONG_TYPE)


def _no_wrapper(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.requirements.wrapper is None:
        return None
    return _with_outer(answer, answer.items, Failure.NOT_WRAPPED)


def _unwanted_wrapper(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.requirements.wrapper is not None:
        return None
    return _with_outer(answer, {"items": answer.items}, Failure.WRAPPED)


def _other_key(answer: ReferenceAnswer) -> BrokenAnswer | None:
    key = answer.requirements.wrapper
    if key is None:
        return None
    return _with_outer(answer, {f"{key}s": answer.items}, Failure.WRONG_WRAPPER_KEY)


def _sibling(answer: ReferenceAnswer) -> BrokenAnswer | None:
    key = answer.requirements.wrapper
    if key is None:
        return None
    outer = {key: answer.items, "total": len(answer.items)}
    return _with_outer(answer, outer, Failure.NOT_A_LIST)


def _two_wrappers(answer: ReferenceAnswer) -> BrokenAnswer | None:
    key = answer.requirements.wrapper
    if key is None:
        return None
    return _with_outer(answer, {key: {key: answer.items}}, Failure.NOT_A_LIST)


def _by_number(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if not answer.items:
        return None
    outer = {f"item_{number}": item for number, item in enumerate(answer.items)}
    return _with_outer(answer, outer, Failure.NOT_A_LIST)


SHAPE_MUTATIONS: Final = (
    PlantedFault(name="one item too many", apply=_too_many),
    PlantedFault(name="one item too few", apply=_too_few),
    PlantedFault(name="no items", apply=_none),
    PlantedFault(name="items as text", apply=_as_texts),
    PlantedFault(name="every item in a list", apply=_nested_list),
    PlantedFault(name="no wrapper", apply=_no_wrapper),
    PlantedFault(name="wrapper unasked", apply=_unwanted_wrapper),
    PlantedFault(name="wrapper of another key", apply=_other_key),
    PlantedFault(name="wrapper with a sibling", apply=_sibling),
    PlantedFault(name="two wrappers", apply=_two_wrappers),
    PlantedFault(name="object of items", apply=_by_number),
)

_COERCED: Final = (bool, int, float, type(None))


def _mutation(
    name: str,
    failure: Failure,
    fits: Callable[[FieldPlace], bool],
    change: Callable[[FieldPlace], None],
) -> PlantedFault:
    def apply(answer: ReferenceAnswer) -> BrokenAnswer | None:
        text = at_place(answer, fits, change)
        return None if text is None else BrokenAnswer(text=text, failure=failure)

    return PlantedFault(name=name, apply=apply)


def _put(name: str, kind: str, value: UntypedJson) -> PlantedFault:
    """Return the mutation that puts a value of another type where a kind stands."""

    def apply(answer: ReferenceAnswer) -> BrokenAnswer | None:
        text = at_place(answer, lambda place: place.kind == kind, _setter(value))
        if text is None:
            return None
        coerced = kind == "string" and isinstance(value, _COERCED)
        failure = Failure.WRONG_TYPE
        if coerced and not answer.is_json:
            failure = Failure.COERCED_SCALAR
        return BrokenAnswer(text=text, failure=failure)

    return PlantedFault(name=name, apply=apply)


def _setter(value: UntypedJson) -> Callable[[FieldPlace], None]:
    def change(place: FieldPlace) -> None:
        place.holder[place.name] = value

    return change


def _computed(
    make: Callable[[FieldPlace], UntypedJson],
) -> Callable[[FieldPlace], None]:
    def change(place: FieldPlace) -> None:
        place.holder[place.name] = make(place)

    return change


def _may_go(place: FieldPlace) -> bool:
    """Return whether a required field is not the only one of its object."""
    return place.required and len(place.holder) > 1


def _drop(place: FieldPlace) -> None:
    del place.holder[place.name]


def _add_beside(place: FieldPlace) -> None:
    place.holder["additional_remark"] = "not asked for"


def _camel_case(place: FieldPlace) -> None:
    first, *others = place.name.split("_")
    value = place.holder.pop(place.name)
    place.holder[first + "".join(word.title() for word in others)] = value


def _has(place: FieldPlace, keyword: str) -> bool:
    return keyword in place.schema and place.kind in ("integer", "number")


def _is_list(place: FieldPlace) -> bool:
    return place.kind == "array"


def _whole_float(place: FieldPlace) -> float:
    return float(place.value)


VALUE_MUTATIONS: Final = (
    _mutation(
        "missing field",
        Failure.MISSING_FIELD,
        lambda place: _may_go(place) and place.depth == 0,
        _drop,
    ),
    _mutation(
        "missing nested field",
        Failure.MISSING_FIELD,
        lambda place: _may_go(place) and place.depth > 0,
        _drop,
    ),
    _mutation(
        "field in camel case",
        Failure.MISSING_FIELD,
        lambda place: place.required and "_" in place.name,
        _camel_case,
    ),
    _mutation(
        "extra field",
        Failure.UNKNOWN_FIELD,
        lambda place: place.depth == 0,
        _add_beside,
    ),
    _mutation(
        "extra nested field",
        Failure.UNKNOWN_FIELD,
        lambda place: place.depth > 0,
        _add_beside,
    ),
    _put("number for text", "string", 7),
    _put("null for text", "string", None),
    _put("boolean for text", "string", value=False),
    _put("list for text", "string", ["a"]),
    _put("text for whole number", "integer", "seven"),
    _put("null for whole number", "integer", None),
    _put("boolean for whole number", "integer", value=True),
    _mutation(
        "fraction for whole number",
        Failure.WRONG_TYPE,
        lambda place: place.kind == "integer",
        _computed(_whole_float),
    ),
    _put("text for number", "number", "1.5"),
    _put("boolean for number", "number", value=True),
    _put("text for boolean", "boolean", "true"),
    _put("number for boolean", "boolean", 1),
    _mutation(
        "list for enum",
        Failure.WRONG_TYPE,
        lambda place: place.kind == "enum",
        _setter(["a"]),
    ),
    _mutation(
        "value outside enum",
        Failure.NOT_IN_ENUM,
        lambda place: place.kind == "enum",
        _setter("none of these"),
    ),
    _mutation(
        "enum in capitals",
        Failure.NOT_IN_ENUM,
        lambda place: place.kind == "enum" and place.value.upper() != place.value,
        _computed(lambda place: place.value.upper()),
    ),
    _mutation(
        "below minimum",
        Failure.BELOW_MINIMUM,
        lambda place: _has(place, "minimum"),
        _computed(lambda place: place.schema["minimum"] - 1),
    ),
    _mutation(
        "above maximum",
        Failure.ABOVE_MAXIMUM,
        lambda place: _has(place, "maximum"),
        _computed(lambda place: place.schema["maximum"] + 1),
    ),
    _mutation(
        "nested list too short",
        Failure.TOO_FEW_ITEMS,
        lambda place: _is_list(place) and place.schema.get("minItems", 0) > 0,
        _computed(lambda place: place.value[: place.schema["minItems"] - 1]),
    ),
    _mutation(
        "nested list too long",
        Failure.TOO_MANY_ITEMS,
        lambda place: (
            _is_list(place)
            and "maxItems" in place.schema
            and "uniqueItems" not in place.schema
            and bool(place.value)
        ),
        _computed(lambda place: place.value[:1] * (place.schema["maxItems"] + 1)),
    ),
    _mutation(
        "object for nested list",
        Failure.WRONG_TYPE,
        lambda place: _is_list(place) and bool(place.value),
        _computed(lambda place: {"first_one": place.value[0]}),
    ),
    _mutation(
        "list for nested object",
        Failure.WRONG_TYPE,
        lambda place: place.kind == "object",
        _computed(lambda place: [place.value]),
    ),
    _mutation(
        "nested value as text",
        Failure.WRONG_TYPE,
        lambda place: place.kind in ("array", "object"),
        _computed(lambda place: json.dumps(place.value)),
    ),
)

#: Stands in for a text until the answer is written, so that it is written bare.
_MARK: Final = "Placeholder0"
#: A comma before a member.
_COMMA: Final = re.compile(r',(?=\s+"\w+":)')


def _of_json(name: str, change: Callable[[str], str]) -> PlantedFault:
    """Return the mutation of the JSON text of an answer."""

    def apply(answer: ReferenceAnswer) -> BrokenAnswer | None:
        if not answer.is_json or not answer.items:
            return None
        content = change(answer.content)
        if content == answer.content:
            return None
        return BrokenAnswer(text=answer.around(content), failure=Failure.INVALID_JSON)

    return PlantedFault(name=name, apply=apply)


def _instead_of_text(
    name: str, raw: str, failure: Failure, *, in_json: bool
) -> PlantedFault:
    """Return the mutation that puts bare characters where a text should stand."""

    def apply(answer: ReferenceAnswer) -> BrokenAnswer | None:
        if answer.is_json != in_json:
            return None
        text = at_place(answer, _is_text, _mark)
        if text is None:
            return None
        return BrokenAnswer(text=text.replace(_MARK, raw, 1), failure=failure)

    return PlantedFault(name=name, apply=apply)


def _is_text(place: FieldPlace) -> bool:
    return place.kind == "string"


def _mark(place: FieldPlace) -> None:
    place.holder[place.name] = _MARK


def _other_format(answer: ReferenceAnswer) -> BrokenAnswer | None:
    is_json = answer.is_json
    other = AnswerFormat.YAML if is_json else AnswerFormat.JSON
    requirements = replace(answer.requirements, format=other)
    if not answer.items:
        return None
    content = replace(answer, requirements=requirements).content
    return BrokenAnswer(text=answer.around(content), failure=Failure.WRONG_FORMAT)


def _flow_items(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.is_json or not answer.items:
        return None
    lines = "".join(f"- {json_text(item, None)}\n" for item in answer.items)
    key = answer.requirements.wrapper
    content = lines if key is None else f"{key}:\n{lines}"
    return BrokenAnswer(text=answer.around(content), failure=Failure.WRONG_FORMAT)


def _two_documents(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.is_json:
        return None
    content = f"{answer.content}---\n{answer.content}"
    return BrokenAnswer(text=answer.around(content), failure=Failure.INVALID_YAML)


def _tab(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.is_json:
        return None
    key = answer.requirements.wrapper
    content = answer.content + ("\textra: 1\n" if key is None else "\t- extra\n")
    return BrokenAnswer(text=answer.around(content), failure=Failure.YAML_TAB)


def _recursive(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.is_json:
        return None
    anchored = f"&loop\n{answer.content}"
    extra = "- *loop\n" if answer.requirements.wrapper is None else "again: *loop\n"
    return BrokenAnswer(
        text=answer.around(anchored + extra), failure=Failure.YAML_ALIASES
    )


def _byte_order_mark(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if not answer.is_json or answer.fenced:
        return None
    return BrokenAnswer(text=f"\ufeff{answer.text}", failure=Failure.BYTE_ORDER_MARK)


def _two_thirds(text: str) -> str:
    return text[: len(text) * 2 // 3]


SYNTAX_MUTATIONS: Final = (
    _of_json("JSON cut", _two_thirds),
    _of_json("JSON without its last bracket", lambda text: text.rstrip()[:-1]),
    _of_json("comma before a bracket", lambda text: f"{text.rstrip()[:-1]},{text[-1]}"),
    _of_json("comment in JSON", lambda text: f"{text[0]} // items{text[1:]}"),
    _of_json("single quotes", lambda text: text.replace('"', "'", 2)),
    _of_json("name without quotes", lambda text: text.replace('"', "", 2)),
    _of_json("no comma", lambda text: _COMMA.sub("", text, count=1)),
    _instead_of_text(
        "quotation mark unescaped", 'a "b" c', Failure.INVALID_JSON, in_json=True
    ),
    _instead_of_text(
        "line break in a string", "a\nb", Failure.INVALID_JSON, in_json=True
    ),
    _instead_of_text(
        "backslash unescaped", "C:\\Users", Failure.INVALID_JSON, in_json=True
    ),
    PlantedFault(name="the other format", apply=_other_format),
    PlantedFault(name="JSON items in YAML", apply=_flow_items),
    PlantedFault(name="two documents", apply=_two_documents),
    PlantedFault(name="tab in YAML", apply=_tab),
    PlantedFault(name="alias inside itself", apply=_recursive),
    PlantedFault(name="byte order mark", apply=_byte_order_mark, published_only=True),
    _instead_of_text("bare no", "no", Failure.COERCED_SCALAR, in_json=False),
    _instead_of_text("bare 1.10", "1.10", Failure.COERCED_SCALAR, in_json=False),
    _instead_of_text("bare null", "~", Failure.COERCED_SCALAR, in_json=False),
    _instead_of_text("bare colon", "a: b", Failure.INVALID_YAML, in_json=False),
    _instead_of_text("quote unclosed", '"a', Failure.INVALID_YAML, in_json=False),
    _instead_of_text(
        "Python tag", "!!python/name:os.system", Failure.YAML_TAG, in_json=False
    ),
)

_TALK: Final = "Sure, here is what you asked for:"
_REFUSAL: Final = "I am sorry, but this is nothing that I can help with."


def _wish(answer: ReferenceAnswer) -> FenceWish:
    return answer.requirements.fence.wish


def _no_fence(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if _wish(answer) is not FenceWish.REQUIRED:
        return None
    return BrokenAnswer(text=answer.content, failure=Failure.MISSING_FENCE)


def _unclosed_fence(answer: ReferenceAnswer) -> BrokenAnswer:
    text = f"```{answer.language}\n{answer.content}"
    return BrokenAnswer(text=text, failure=Failure.UNCLOSED_FENCE)


def _forbidden_fence(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if _wish(answer) is not FenceWish.FORBIDDEN:
        return None
    text = replace(answer, fenced=True).text
    return BrokenAnswer(text=text, failure=Failure.FORBIDDEN_FENCE)


def _other_language(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if not answer.requirements.fence.language:
        return None
    text = replace(answer, fenced=True, language="text").text
    return BrokenAnswer(text=text, failure=Failure.WRONG_FENCE_LANGUAGE)


def _mismatching_language(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if _wish(answer) is FenceWish.FORBIDDEN or answer.requirements.fence.language:
        return None
    other = "yaml" if answer.requirements.format is AnswerFormat.JSON else "json"
    text = replace(answer, fenced=True, language=other).text
    return BrokenAnswer(text=text, failure=Failure.WRONG_FORMAT)


def _talk_before(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.requirements.commentary or not (answer.fenced or answer.is_json):
        return None
    text = f"{_TALK}\n{answer.text}"
    return BrokenAnswer(text=text, failure=Failure.COMMENTARY)


def _talk_after(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.requirements.commentary or not (answer.fenced or answer.is_json):
        return None
    text = f"{answer.text}\n\nLet me know if more is needed."
    return BrokenAnswer(text=text, failure=Failure.COMMENTARY)


def _second_block(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if answer.requirements.commentary or not answer.fenced:
        return None
    text = f"{answer.text}\n{answer.text}"
    return BrokenAnswer(text=text, failure=Failure.SEVERAL_FENCES)


def _empty(_answer: ReferenceAnswer) -> BrokenAnswer:
    return BrokenAnswer(text=" \n", failure=Failure.EMPTY)


def _thinking(answer: ReferenceAnswer) -> BrokenAnswer:
    text = f"<think>{answer.text}"
    return BrokenAnswer(text=text, failure=Failure.THINKING_UNCLOSED)


def _refusal(answer: ReferenceAnswer) -> BrokenAnswer:
    failure = Failure.INVALID_JSON if answer.is_json else Failure.NOT_A_LIST
    if _wish(answer) is FenceWish.REQUIRED:
        failure = Failure.MISSING_FENCE
    return BrokenAnswer(text=_REFUSAL, failure=failure)


def _too_large(answer: ReferenceAnswer) -> BrokenAnswer:
    return BrokenAnswer(text=answer.text + " " * 1_000_001, failure=Failure.TOO_LARGE)


TEXT_MUTATIONS: Final = (
    PlantedFault(name="code block missing", apply=_no_fence),
    PlantedFault(name="code block unclosed", apply=_unclosed_fence),
    PlantedFault(
        name="code block forbidden", apply=_forbidden_fence, recommended_only=True
    ),
    PlantedFault(
        name="code block of another language",
        apply=_other_language,
        recommended_only=True,
    ),
    PlantedFault(name="code block of the other format", apply=_mismatching_language),
    PlantedFault(name="commentary before", apply=_talk_before),
    PlantedFault(name="commentary after", apply=_talk_after),
    PlantedFault(name="second code block", apply=_second_block, recommended_only=True),
    PlantedFault(name="nothing", apply=_empty),
    PlantedFault(name="thinking unclosed", apply=_thinking),
    PlantedFault(name="refusal", apply=_refusal),
)
#: One that takes a megabyte: for a test, and not for every row.
LARGE_MUTATION: Final = PlantedFault(name="a million characters", apply=_too_large)

_NUMBER_MARK: Final = "1234567.25"


def _duplicate(answer: ReferenceAnswer) -> BrokenAnswer | None:
    """Write one member of the first item twice."""
    schema = answer.requirements.schema
    place = next(
        (one for one in field_places(answer.items, schema) if one.kind == "boolean"),
        None,
    )
    if place is None or not answer.content:
        return None
    content = answer.content
    if answer.is_json:
        member = f'"{place.name}": {str(place.value).lower()}'
        twice = f"{member}, {member}"
    else:
        member = f"{place.name}: {str(place.value).lower()}\n"
        line = next(
            line for line in content.splitlines(keepends=True) if member in line
        )
        indent = " " * line.index(place.name)
        twice = f"{member}{indent}{member}"
    text = answer.around(content.replace(member, twice, 1))
    return BrokenAnswer(text=text, failure=None)


def _not_a_number(answer: ReferenceAnswer) -> BrokenAnswer | None:
    """Write NaN for a number, which passes every bound of the published rule."""

    def change(place: FieldPlace) -> None:
        place.holder[place.name] = float(_NUMBER_MARK)

    text = at_place(answer, lambda place: place.kind == "number", change)
    if text is None:
        return None
    spelled = "NaN" if answer.is_json else ".nan"
    text = text.replace(_NUMBER_MARK, spelled, 1)
    return BrokenAnswer(text=text, failure=Failure.WRONG_TYPE)


def _empty_texts(answer: ReferenceAnswer) -> BrokenAnswer | None:
    def change(place: FieldPlace) -> None:
        place.holder[place.name] = ""

    def fits(place: FieldPlace) -> bool:
        limits = {"pattern", "format", "minLength"}
        return place.kind == "string" and not limits & set(place.schema)

    text = at_place(answer, fits, change)
    return None if text is None else BrokenAnswer(text=text, failure=None)


def _same_item(answer: ReferenceAnswer) -> BrokenAnswer | None:
    if len(answer.items) < 2:
        return None
    items = [answer.items[0]] * len(answer.items)
    return BrokenAnswer(text=answer.with_items(items).text, failure=None)


#: Faults that no rule is about.
UNSEEN_MUTATIONS: Final = (
    PlantedFault(name="name twice", apply=_duplicate),
    PlantedFault(name="NaN", apply=_not_a_number, recommended_only=True),
    PlantedFault(name="empty text", apply=_empty_texts),
    PlantedFault(name="the same item again", apply=_same_item),
)

#: Every kind of fault.
MUTATIONS: Final = (
    *VALUE_MUTATIONS,
    *SHAPE_MUTATIONS,
    *TEXT_MUTATIONS,
    *SYNTAX_MUTATIONS,
    *UNSEEN_MUTATIONS,
)
#: What the kind of a fault is called where no rule sees it.
UNSEEN: Final = "unseen: "


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """An answer, and the failure that it must get."""

    kind: str
    text: str
    #: None for an answer that passes: a right one, or one whose fault no rule sees.
    failure: Failure | None = None


def judged_answers(
    record: IfstructRecord, reading: RuleReading
) -> Iterator[JudgedAnswer]:
    """Yield a right answer to a row, and one for each fault that it leaves room for.

    A fault that the reading does not count is named as unseen: such an answer passes,
    and is listed as what it is.

    Args:
        record: The row.
        reading: The reading that decides.
    """
    answer = reference_answer(record)
    yield JudgedAnswer(kind="reference", text=answer.text)
    for mutation in MUTATIONS:
        broken = mutation.apply(answer)
        if broken is None:
            continue
        seen = broken.failure is not None and _is_seen(mutation, reading)
        yield JudgedAnswer(
            kind=mutation.name if seen else f"{UNSEEN}{mutation.name}",
            text=broken.text,
            failure=broken.failure if seen else None,
        )


def _is_seen(mutation: PlantedFault, reading: RuleReading) -> bool:
    if mutation.recommended_only and not reading & RuleReading.RECOMMENDED:
        return False
    return not mutation.published_only or bool(reading & RuleReading.PUBLISHED)

"""YAML answers, as PyYAML's safe loader reads YAML 1.1: `no` is false, `012` is ten.

Two things differ from the safe loader, as in the published verifier: a timestamp stays
the text that it is, and JSON is refused where YAML was asked for (a flow mapping
anywhere, or a list in brackets as the whole). Nothing is executed: a tag that stands
for no plain value is a failure. Nodes are put together here, one event after the other,
so that depth and aliases are bounded before any value is made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import yaml

from curation.system.escaping import shortened
from evaluation.suites.ifstruct.verifier.findings import Failure, StructureFinding
from evaluation.suites.ifstruct.verifier.reading import DEEPEST, AnswerValue

if TYPE_CHECKING:
    from collections.abc import Iterator

_TAG: Final = "tag:yaml.org,2002:"
_TIMESTAMP: Final = f"{_TAG}timestamp"
#: The tags of plain values; any other one written out is refused.
_PLAIN: Final = frozenset(
    f"{_TAG}{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map")
)
#: Values that aliases may amount to.
_MOST_VALUES: Final = 100_000


class _Loader(yaml.CSafeLoader):
    """The safe loader, without dates."""

    yaml_implicit_resolvers = {  # noqa: RUF012 (PyYAML's own attribute, never written)
        first: [(tag, form) for tag, form in forms if tag != _TIMESTAMP]
        for first, forms in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }


class _RefusedError(Exception):
    """What this reader does not accept although YAML allows it."""

    def __init__(self, failure: Failure, detail: str = "") -> None:
        super().__init__(failure, detail)
        self.finding = StructureFinding(failure, detail)


@dataclass(slots=True)
class _Open:
    """A collection whose end has not come yet."""

    node: yaml.CollectionNode
    #: The key of a mapping that waits for its value.
    key: yaml.Node | None = None
    #: How many values it amounts to, aliases followed.
    values: int = 1
    names: set[tuple[str, str]] = field(default_factory=set)


@dataclass(slots=True)
class _Composer:
    """Puts nodes together out of events; bounded, and without recursion."""

    loader: _Loader
    open: list[_Open] = field(default_factory=list)
    root: yaml.Node | None = None
    anchors: dict[str, yaml.Node] = field(default_factory=dict)
    values: dict[int, int] = field(default_factory=dict)
    duplicates: list[str] = field(default_factory=list)
    is_json: bool = False

    def compose(self) -> None:
        """Read all events of one document."""
        documents = 0
        for event in _events(self.loader):
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _RefusedError(Failure.INVALID_YAML, "several documents")
            elif isinstance(event, yaml.AliasEvent):
                self._alias(event.anchor or "")
            elif isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._start(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                closed = self.open.pop()
                self._add(closed.node, closed.values)

    def _alias(self, anchor: str) -> None:
        node = self.anchors.get(anchor)
        if node is None:
            raise _RefusedError(
                Failure.INVALID_YAML, f"no anchor {shortened(anchor, 40)}"
            )
        if id(node) not in self.values:
            raise _RefusedError(Failure.YAML_ALIASES, "an alias inside its own anchor")
        self._add(node, self.values[id(node)])

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        self._refuse_tag(event.tag)
        tag = event.tag
        if tag is None or tag == "!":
            tag = self.loader.resolve(  # type: ignore[no-untyped-call]  # PyYAML's stubs
                yaml.ScalarNode, event.value, event.implicit
            )
        node = yaml.ScalarNode(tag, event.value)
        self._anchor(event.anchor, node)
        self._add(node, 1)

    def _start(self, event: yaml.CollectionStartEvent) -> None:
        self._refuse_tag(event.tag)
        if len(self.open) >= DEEPEST:
            raise _RefusedError(Failure.TOO_DEEP, f"over {DEEPEST} levels")
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        if event.flow_style and (is_mapping or not self.open):
            self.is_json = True
        kind = yaml.MappingNode if is_mapping else yaml.SequenceNode
        tag = f"{_TAG}{'map' if is_mapping else 'seq'}"
        node = kind(tag, [])
        self._anchor(event.anchor, node)
        self.open.append(_Open(node))

    def _refuse_tag(self, tag: str | None) -> None:
        if tag is not None and tag != "!" and tag not in _PLAIN:
            raise _RefusedError(Failure.YAML_TAG, shortened(tag, 60))

    def _anchor(self, anchor: str | None, node: yaml.Node) -> None:
        if anchor is not None:
            self.anchors[anchor] = node

    def _add(self, node: yaml.Node, values: int) -> None:
        """Put a finished node where it belongs."""
        self.values[id(node)] = values
        if not self.open:
            self.root = node
            return
        outer = self.open[-1]
        outer.values += values
        if outer.values > _MOST_VALUES:
            raise _RefusedError(Failure.YAML_ALIASES, f"over {_MOST_VALUES:,} values")
        if isinstance(outer.node, yaml.SequenceNode):
            outer.node.value.append(node)
        elif outer.key is None:
            outer.key = node
            self._notice_name(outer, node)
        else:
            outer.node.value.append((outer.key, node))
            outer.key = None

    def _notice_name(self, outer: _Open, key: yaml.Node) -> None:
        if isinstance(key, yaml.ScalarNode):
            name = (key.tag, key.value)
            if name in outer.names:
                self.duplicates.append(key.value)
            outer.names.add(name)


def _events(loader: _Loader) -> Iterator[yaml.Event]:
    while (event := loader.get_event()) is not None:
        yield event


def read_as_yaml(text: str) -> AnswerValue | StructureFinding:
    """Return the YAML value of an answer, or why it holds none.

    Args:
        text: The content of the code block, or the whole answer.
    """
    try:
        loader = _Loader(text)
        try:
            return _read(loader)
        finally:
            loader.dispose()
    except _RefusedError as error:
        return error.finding
    except yaml.YAMLError as error:
        return _syntax_finding(text, error)
    except UnicodeEncodeError:
        return StructureFinding(Failure.INVALID_YAML, "half of a surrogate pair")
    except ValueError as error:
        if "4300" in str(error):
            return StructureFinding(Failure.NUMBER_TOO_LONG)
        return StructureFinding(Failure.INVALID_YAML, shortened(str(error)))


def _read(loader: _Loader) -> AnswerValue:
    composer = _Composer(loader)
    composer.compose()
    if composer.root is None:
        raise _RefusedError(Failure.INVALID_YAML, "no document in it")
    findings: tuple[StructureFinding, ...] = ()
    if composer.is_json:
        findings = (StructureFinding(Failure.WRONG_FORMAT, "JSON for YAML"),)
    return AnswerValue(
        value=loader.construct_document(composer.root),
        duplicates=tuple(composer.duplicates),
        findings=findings,
    )


def _syntax_finding(text: str, error: yaml.YAMLError) -> StructureFinding:
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return StructureFinding(Failure.INVALID_YAML, shortened(str(error)))
    mark: Any = error.problem_mark
    detail = f"{error.problem} (line {mark.line + 1}, column {mark.column + 1})"
    tab = (
        text[mark.index : mark.index + 1] == "\t" or "tab" in str(error.problem).split()
    )
    return StructureFinding(Failure.YAML_TAB if tab else Failure.INVALID_YAML, detail)

"""Formulas over what is left of patterns, and what one character leaves of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from curation.instances.regex import character_sets
from curation.instances.regex import syntax_tree as trees
from curation.instances.regex.character_sets import CharSet

_MOST = trees.MOST


class TextBefore(NamedTuple):
    """What is known of the text before a position."""

    #: 0 at the start, 2 behind a word character, else 1.
    previous: int
    #: Whether each look-behind holds.
    truths: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Cell:
    """A node to match and what follows it."""

    node: trees.PatternNode | None
    rest: Cell | None
    number: int
    low: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Term:
    """A formula; equal ones are the same object.

    `kind` is one of true, false, atom, and, or, not.
    """

    kind: str
    number: int
    #: No text shorter than this can meet it.
    low: int
    #: How many atoms it is made of.
    size: int = 1
    parts: tuple[Term, ...] = ()
    cell: Cell | None = None


# The head of a cell at a place: a formula over its next character. One of
# ("true",), ("false",), ("end",), ("word",): the next one is a word character,
# ("move", set, cell), ("and", *heads), ("or", *heads), ("not", head).
Head = tuple[Any, ...]
_TRUE: Final[Head] = ("true",)
_FALSE: Final[Head] = ("false",)
# Loops entered at this very position, by their bodies and what follows them.
_Marks = frozenset[tuple[int, int]]
_NO_MARKS: Final[_Marks] = frozenset()


class TermFactory:
    """Makes terms and cells, each only once."""

    def __init__(self, groups: dict[int, trees.PatternNode]) -> None:
        """Take the bodies of the groups that back-references mean."""
        self._groups = groups
        self._cells: dict[tuple[int, int], Cell] = {}
        self._terms: dict[tuple[object, ...], Term] = {}
        self._heads: dict[tuple[int, TextBefore, _Marks], Head] = {}
        self._repeats: dict[tuple[int, int, int | None], trees.PatternNode] = {}
        self.true = Term(kind="true", number=0, low=0)
        self.false = Term(kind="false", number=1, low=_MOST)
        self._all = Cell(node=None, rest=None, number=0, low=0)
        self._end = Cell(node=None, rest=None, number=1, low=0)
        #: Look-behinds in the patterns, inner ones first.
        self.behinds: list[trees.Look] = []
        #: Whether the character before matters, besides the start.
        self.minds_previous = False
        #: Whether the terms mean what the patterns do.
        self.exact = True
        self._anything = trees.repeat(_chars(character_sets.ANY), 0, None)

    @property
    def count(self) -> int:
        """How many terms and heads there are."""
        return len(self._terms) + len(self._heads) + len(self._cells)

    def search(self, node: trees.PatternNode) -> Term:
        """Return the term of all texts in which a pattern matches somewhere."""
        self._survey(node)
        return self._searched(node)

    def _searched(self, node: trees.PatternNode) -> Term:
        if isinstance(node, trees.Alternatives):
            return self.either([self._searched(option) for option in node.options])
        cell = self._cell(node, self._all)
        if not trees.anchored(node, "^"):
            cell = self._cell(self._anything, cell)
        return self.atom(cell)

    def behind(self, look: trees.Look) -> Term:
        """Return the term of all texts that end with what a look-behind wants."""
        return self.atom(self._cell(self._anything, self._cell(look.body, self._end)))

    def _survey(self, node: trees.PatternNode, *, behind: bool = False) -> None:
        if isinstance(node, trees.Sequence):
            for part in node.parts:
                self._survey(part, behind=behind)
        elif isinstance(node, trees.Alternatives):
            for option in node.options:
                self._survey(option, behind=behind)
        elif isinstance(node, trees.Repeat | trees.Group):
            self._survey(node.body, behind=behind)
        elif isinstance(node, trees.Look):
            self._survey(node.body, behind=behind or not node.ahead)
            # What looks ahead from behind asks for text that was not read yet.
            self.exact &= not (behind and node.ahead)
            if not node.ahead and all(node is not look for look in self.behinds):
                self.behinds.append(node)
        elif isinstance(node, trees.Anchor):
            self.minds_previous |= node.kind in "bB"
            self.exact &= not behind or node.kind == "^"
        elif isinstance(node, trees.BackReference):
            self.exact = False

    def _cell(self, node: trees.PatternNode, rest: Cell) -> Cell:
        key = (id(node), rest.number)
        found = self._cells.get(key)
        if found is None:
            found = Cell(
                node=node,
                rest=rest,
                number=len(self._cells) + 2,
                low=min(_MOST, node.low + rest.low),
            )
            self._cells[key] = found
        return found

    def _made(
        self, kind: str, low: int, parts: tuple[Term, ...], cell: Cell | None
    ) -> Term:
        key = (kind, cell and cell.number, *(part.number for part in parts))
        found = self._terms.get(key)
        if found is None:
            number = len(self._terms) + 2
            found = Term(
                kind=kind,
                number=number,
                low=low,
                size=sum(part.size for part in parts) or 1,
                parts=parts,
                cell=cell,
            )
            self._terms[key] = found
        return found

    def atom(self, cell: Cell) -> Term:
        """Return the term of what a cell matches up to the end of the text."""
        if cell is self._all:
            return self.true
        return self._made("atom", cell.low, (), cell)

    def negation(self, term: Term) -> Term:
        """Return the opposite."""
        if term is self.true:
            return self.false
        if term is self.false:
            return self.true
        return (
            term.parts[0] if term.kind == "not" else self._made("not", 0, (term,), None)
        )

    def both(self, terms: list[Term]) -> Term:
        """Return the conjunction."""
        return self._joined("and", terms, self.true, self.false)

    def either(self, terms: list[Term]) -> Term:
        """Return the disjunction."""
        return self._joined("or", terms, self.false, self.true)

    def _joined(self, kind: str, terms: list[Term], unit: Term, zero: Term) -> Term:
        parts: dict[int, Term] = {}
        for term in terms:
            for part in term.parts if term.kind == kind else (term,):
                if part is zero:
                    return zero
                if part is not unit:
                    parts[part.number] = part
        for part in parts.values():
            if part.kind == "not" and part.parts[0].number in parts:
                return zero
        if not parts:
            return unit
        if len(parts) == 1:
            return next(iter(parts.values()))
        ordered = tuple(parts[number] for number in sorted(parts))
        lows = [part.low for part in ordered]
        return self._made(
            kind, max(lows) if kind == "and" else min(lows), ordered, None
        )

    def at_end(self, term: Term, place: TextBefore) -> bool:
        """Return whether the text may end here."""
        return self._evaluated(term, None, place) is self.true

    def after(self, term: Term, code: int, place: TextBefore) -> Term:
        """Return what one more character leaves of a term."""
        return self._evaluated(term, code, place)

    def _evaluated(self, term: Term, code: int | None, place: TextBefore) -> Term:
        if term.kind in ("true", "false"):
            return term
        if term.cell is not None:
            return self._applied(self._head(term.cell, place), code)
        parts = [self._evaluated(part, code, place) for part in term.parts]
        if term.kind == "not":
            return self.negation(parts[0])
        return self.both(parts) if term.kind == "and" else self.either(parts)

    def _applied(self, head: Head, code: int | None) -> Term:
        kind = head[0]
        if kind == "move":
            chars, rest = head[1], head[2]
            if code is not None and isinstance(chars, CharSet) and code in chars:
                return self.atom(rest) if isinstance(rest, Cell) else self.false
            return self.false
        if kind in ("true", "false", "end", "word"):
            holds = (
                kind == "true"
                or (kind == "end" and code is None)
                or (
                    kind == "word" and code is not None and code in character_sets.WORDS
                )
            )
            return self.true if holds else self.false
        parts = [self._applied(each, code) for each in head[1:] if _is_head(each)]
        if kind == "not":
            return self.negation(parts[0])
        return self.both(parts) if kind == "and" else self.either(parts)

    def heads(self, term: Term, place: TextBefore) -> dict[CharSet, None]:
        """Return the sets that what comes next depends on, in order."""
        found: dict[CharSet, None] = {}
        pending: list[Term] = [term]
        while pending:
            each = pending.pop()
            pending.extend(each.parts)
            if each.cell is not None:
                _collect(self._head(each.cell, place), found)
        return found

    def _head(
        self, cell: Cell, place: TextBefore, visiting: _Marks = _NO_MARKS
    ) -> Head:
        key = (cell.number, place, visiting)
        found = self._heads.get(key)
        if found is None:
            found = self._head_of(cell, place, visiting)
            self._heads[key] = found
        return found

    def _head_of(self, cell: Cell, place: TextBefore, visiting: _Marks) -> Head:
        node, rest = cell.node, cell.rest
        if node is None or rest is None:
            return _TRUE if cell is self._all else ("end",)
        if isinstance(node, trees.Chars):
            return ("move", node.chars, rest)
        if isinstance(node, trees.Sequence):
            for part in reversed(node.parts):
                rest = self._cell(part, rest)
            return self._head(rest, place, visiting)
        if isinstance(node, trees.Alternatives):
            return _or(
                [
                    self._head(self._cell(option, rest), place, visiting)
                    for option in node.options
                ]
            )
        if isinstance(node, trees.Group):
            return self._head(self._cell(node.body, rest), place, visiting)
        if isinstance(node, trees.Repeat):
            return self._head_of_repeat(node, rest, place, visiting)
        return self._head_of_assertion(node, rest, place, visiting)

    def _head_of_repeat(
        self,
        node: trees.Repeat,
        rest: Cell,
        place: TextBefore,
        visiting: _Marks,
    ) -> Head:
        body, least, most = node.body, node.least, node.most
        if body.low == 0:
            least = min(least, 1)
        again: Head = _FALSE
        mark = (id(body), rest.number)
        if most != 0 and (least > 0 or mark not in visiting):
            fewer = None if most is None else most - 1
            left = self._cell(self._repeat(body, max(0, least - 1), fewer), rest)
            inner = visiting if least > 0 else visiting | {mark}
            again = self._head(self._cell(body, left), place, inner)
        if least > 0:
            return again
        return _or([again, self._head(rest, place, visiting)])

    def _repeat(
        self, body: trees.PatternNode, least: int, most: int | None
    ) -> trees.PatternNode:
        key = (id(body), least, most)
        found = self._repeats.get(key)
        if found is None:
            found = trees.repeat(body, least, most)
            self._repeats[key] = found
        return found

    def _head_of_assertion(
        self,
        node: trees.PatternNode,
        rest: Cell,
        place: TextBefore,
        visiting: _Marks,
    ) -> Head:
        follows = self._head(rest, place, visiting)
        if isinstance(node, trees.BackReference):
            again = [
                self._head(self._cell(self._groups[number], rest), place, visiting)
                for number in node.numbers
                if number in self._groups
            ]
            return _or([follows, *again])
        if isinstance(node, trees.Look) and node.ahead:
            inside = self._head(self._cell(node.body, self._all), place)
            return _and([_not(inside) if node.negative else inside, follows])
        return _and([self._here(node, place), follows])

    def _here(self, node: trees.PatternNode, place: TextBefore) -> Head:
        """Return what an assertion wants, given what came before."""
        if isinstance(node, trees.Look):
            index = next(i for i, look in enumerate(self.behinds) if look is node)
            return _TRUE if place.truths[index] != node.negative else _FALSE
        kind = node.kind if isinstance(node, trees.Anchor) else ""
        if kind == "^":
            return _FALSE if place.previous else _TRUE
        if kind == "$":
            return ("end",)
        follows: Head = ("word",)
        changes = _not(follows) if place.previous == 2 else follows  # noqa: PLR2004 - as TextBefore says
        return changes if kind == "b" else _not(changes)


def _chars(chars: CharSet) -> trees.PatternNode:
    return trees.Chars(chars=chars, low=1, high=1)


def _is_head(part: object) -> bool:
    return isinstance(part, tuple)


def _and(heads: list[Head]) -> Head:
    if _FALSE in heads:
        return _FALSE
    kept = [head for head in heads if head is not _TRUE]
    return kept[0] if len(kept) == 1 else ("and", *kept) if kept else _TRUE


def _or(heads: list[Head]) -> Head:
    if _TRUE in heads:
        return _TRUE
    parts: dict[Head, None] = {}
    for head in heads:
        inner = head[1:] if head[0] == "or" else (head,)
        parts.update((each, None) for each in inner if isinstance(each, tuple))
    parts.pop(_FALSE, None)
    kept = list(parts)
    return kept[0] if len(kept) == 1 else ("or", *kept) if kept else _FALSE


def _not(head: Head) -> Head:
    if head is _TRUE:
        return _FALSE
    return _TRUE if head is _FALSE else ("not", head)


def _collect(head: Head, found: dict[CharSet, None]) -> None:
    if head[0] == "word":
        found[character_sets.WORDS] = None
    for part in head[1:]:
        if isinstance(part, CharSet):
            found[part] = None
        elif isinstance(part, tuple):
            _collect(part, found)

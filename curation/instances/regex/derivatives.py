"""Regular languages by derivatives: the strings that several patterns allow at once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.instances.regex import character_sets
from curation.instances.regex import syntax_tree as trees

if TYPE_CHECKING:
    from curation.instances.regex.character_sets import CharSet
    from curation.instances.regex.syntax_tree import PatternNode


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Cell:
    """A node to match, and the cell that follows it: a pattern as a linked list."""

    node: PatternNode | None
    tail: Cell | None
    number: int
    low: int


class FormulaKind(StrEnum):
    """What a formula is, over the next character (heads) or the rest of a text."""

    TRUE = "true"
    FALSE = "false"
    END = "end"
    """There is no next character."""
    WORD = "word"
    """The next character is one of `\\w`."""
    MOVE = "move"
    """The next character is of a set, and a cell matches what follows it."""
    ATOM = "atom"
    """A cell matches up to the end of the text."""
    AND = "and"
    OR = "or"
    NOT = "not"


class Head(NamedTuple):
    """What a cell asks of the next character, and of what follows it."""

    kind: FormulaKind
    #: The set of a `move`, and the cell behind it; None of all others.
    chars: CharSet | None = None
    tail: Cell | None = None
    parts: tuple[Head, ...] = ()


#: The heads without parts; each is one object.
TRUE: Final = Head(FormulaKind.TRUE)
FALSE: Final = Head(FormulaKind.FALSE)
END: Final = Head(FormulaKind.END)
WORD: Final = Head(FormulaKind.WORD)


def holds(head: Head, code: int | None) -> bool:
    """Return whether a head without parts holds for a character, or for the end."""
    if head is END:
        return code is None
    if head is WORD:
        return code is not None and code in character_sets.WORDS
    return head is TRUE


def both(heads: list[Head]) -> Head:
    """Return the conjunction of heads."""
    if FALSE in heads:
        return FALSE
    conditions = tuple(head for head in heads if head is not TRUE)
    if len(conditions) == 1:
        return conditions[0]
    return Head(FormulaKind.AND, parts=conditions) if conditions else TRUE


def either(heads: list[Head]) -> Head:
    """Return the disjunction of heads, without those that say the same."""
    if TRUE in heads:
        return TRUE
    parts: dict[Head, None] = {}
    for head in heads:
        inner = head.parts if head.kind is FormulaKind.OR else (head,)
        parts.update(dict.fromkeys(inner))
    parts.pop(FALSE, None)
    alternatives = tuple(parts)
    if len(alternatives) == 1:
        return alternatives[0]
    return Head(FormulaKind.OR, parts=alternatives) if alternatives else FALSE


def negated(head: Head) -> Head:
    """Return the opposite of a head."""
    if head is TRUE:
        return FALSE
    return TRUE if head is FALSE else Head(FormulaKind.NOT, parts=(head,))


def collect_sets(head: Head, sets: dict[CharSet, None]) -> None:
    """Add the sets that a head asks about, in order."""
    if head is WORD:
        sets[character_sets.WORDS] = None
    elif head.chars is not None:
        sets[head.chars] = None
    for part in head.parts:
        collect_sets(part, sets)


_MOST = trees.MOST
_BORDERS: Final = (trees.AnchorKind.BOUNDARY, trees.AnchorKind.NO_BOUNDARY)


#: Values of `TextBefore.previous`: at the start, behind a character of `\w`, behind
#: any other.
AT_START: Final = 0
BEHIND_OTHER: Final = 1
BEHIND_WORD: Final = 2


class TextBefore(NamedTuple):
    """What is known of the text before a position."""

    #: `AT_START`, `BEHIND_OTHER` or `BEHIND_WORD`.
    previous: int
    #: Whether each look-behind holds.
    truths: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Term:
    """A formula over the rest of a text; equal ones are the same object."""

    kind: FormulaKind
    number: int
    #: No text shorter than this can meet it.
    low: int
    #: How many atoms it is made of.
    size: int = 1
    parts: tuple[Term, ...] = ()
    #: The cell of an atom; None of all others.
    cell: Cell | None = None


# Loops entered at this very position, by their bodies and what follows them.
_Marks = frozenset[tuple[int, int]]
_NO_MARKS: Final[_Marks] = frozenset()


class TermFactory:
    """Makes terms and cells; equal ones are the same object."""

    def __init__(self, groups: dict[int, trees.PatternNode]) -> None:
        """Take the bodies of the groups that back-references mean."""
        self._groups = groups
        self._cells: dict[tuple[int, int], Cell] = {}
        self._terms: dict[tuple[object, ...], Term] = {}
        self._heads: dict[tuple[int, TextBefore, _Marks], Head] = {}
        self._repeats: dict[tuple[int, int, int | None], trees.PatternNode] = {}
        self.true = Term(kind=FormulaKind.TRUE, number=0, low=0)
        self.false = Term(kind=FormulaKind.FALSE, number=1, low=_MOST)
        self._all = Cell(node=None, tail=None, number=0, low=0)
        self._end = Cell(node=None, tail=None, number=1, low=0)
        #: Look-behinds in the patterns, inner ones first.
        self.behinds: list[trees.Look] = []
        #: Whether the character before matters, besides the start.
        self.needs_previous = False
        #: Whether the terms accept exactly what the patterns match.
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
        if not trees.anchored(node, trees.AnchorKind.START):
            cell = self._cell(self._anything, cell)
        return self.atom(cell)

    def behind(self, look: trees.Look) -> Term:
        """Return the term of the texts that end with a match of a look-behind."""
        return self.atom(self._cell(self._anything, self._cell(look.body, self._end)))

    def _survey(self, node: trees.PatternNode, *, behind: bool = False) -> None:
        inside = behind or (isinstance(node, trees.Look) and not node.ahead)
        for part in trees.parts_of(node):
            self._survey(part, behind=inside)
        if isinstance(node, trees.Look):
            # What looks ahead from behind asks for text that was not read yet.
            self.exact &= not (behind and node.ahead)
            if not node.ahead and all(node is not look for look in self.behinds):
                self.behinds.append(node)
        elif isinstance(node, trees.Anchor):
            self.needs_previous |= node.kind in _BORDERS
            self.exact &= not behind or node.kind is trees.AnchorKind.START
        elif isinstance(node, trees.BackReference):
            self.exact = False

    def _cell(self, node: trees.PatternNode, tail: Cell) -> Cell:
        key = (id(node), tail.number)
        cell = self._cells.get(key)
        if cell is None:
            cell = Cell(
                node=node,
                tail=tail,
                number=len(self._cells) + 2,
                low=min(_MOST, node.low + tail.low),
            )
            self._cells[key] = cell
        return cell

    def _interned(
        self, kind: FormulaKind, low: int, parts: tuple[Term, ...], cell: Cell | None
    ) -> Term:
        key = (kind, cell and cell.number, *(part.number for part in parts))
        term = self._terms.get(key)
        if term is None:
            number = len(self._terms) + 2
            term = Term(
                kind=kind,
                number=number,
                low=low,
                size=sum(part.size for part in parts) or 1,
                parts=parts,
                cell=cell,
            )
            self._terms[key] = term
        return term

    def atom(self, cell: Cell) -> Term:
        """Return the term of what a cell matches up to the end of the text."""
        if cell is self._all:
            return self.true
        return self._interned(FormulaKind.ATOM, cell.low, (), cell)

    def negation(self, term: Term) -> Term:
        """Return the term of all other texts."""
        if term is self.true:
            return self.false
        if term is self.false:
            return self.true
        if term.kind is FormulaKind.NOT:
            return term.parts[0]
        return self._interned(FormulaKind.NOT, 0, (term,), None)

    def both(self, terms: list[Term]) -> Term:
        """Return the conjunction of terms."""
        return self._joined(FormulaKind.AND, terms, self.true, self.false)

    def either(self, terms: list[Term]) -> Term:
        """Return the disjunction of terms."""
        return self._joined(FormulaKind.OR, terms, self.false, self.true)

    def _joined(
        self, kind: FormulaKind, terms: list[Term], unit: Term, zero: Term
    ) -> Term:
        parts: dict[int, Term] = {}
        for term in terms:
            for part in term.parts if term.kind is kind else (term,):
                if part is zero:
                    return zero
                if part is not unit:
                    parts[part.number] = part
        for part in parts.values():
            if part.kind is FormulaKind.NOT and part.parts[0].number in parts:
                return zero
        if not parts:
            return unit
        if len(parts) == 1:
            return next(iter(parts.values()))
        ordered = tuple(parts[number] for number in sorted(parts))
        lows = [part.low for part in ordered]
        return self._interned(
            kind, max(lows) if kind is FormulaKind.AND else min(lows), ordered, None
        )

    def at_end(self, term: Term, before: TextBefore) -> bool:
        """Return whether the text may end here."""
        return self._evaluated(term, None, before) is self.true

    def after(self, term: Term, code: int, before: TextBefore) -> Term:
        """Return what one more character leaves of a term."""
        return self._evaluated(term, code, before)

    def _evaluated(self, term: Term, code: int | None, before: TextBefore) -> Term:
        if term.cell is not None:
            return self._applied(self._head(term.cell, before), code)
        if not term.parts:
            return term
        parts = [self._evaluated(part, code, before) for part in term.parts]
        return self._combined(term.kind, parts)

    def _combined(self, kind: FormulaKind, parts: list[Term]) -> Term:
        if kind is FormulaKind.OR:
            return self.either(parts)
        return self.both(parts) if kind is FormulaKind.AND else self.negation(parts[0])

    def _applied(self, head: Head, code: int | None) -> Term:
        """Return what a character leaves of a head; None stands for the end."""
        if head.chars is not None and head.tail is not None:
            moves = code is not None and code in head.chars
            return self.atom(head.tail) if moves else self.false
        if not head.parts:
            return self.true if holds(head, code) else self.false
        return self._combined(
            head.kind, [self._applied(part, code) for part in head.parts]
        )

    def next_sets(self, term: Term, before: TextBefore) -> dict[CharSet, None]:
        """Return the sets of characters that decide about the next one, in order."""
        sets: dict[CharSet, None] = {}
        pending: list[Term] = [term]
        while pending:
            part = pending.pop()
            pending.extend(part.parts)
            if part.cell is not None:
                collect_sets(self._head(part.cell, before), sets)
        return sets

    def _head(
        self, cell: Cell, before: TextBefore, visiting: _Marks = _NO_MARKS
    ) -> Head:
        key = (cell.number, before, visiting)
        head = self._heads.get(key)
        if head is None:
            head = self._head_of(cell, before, visiting)
            self._heads[key] = head
        return head

    def _head_of(self, cell: Cell, before: TextBefore, visiting: _Marks) -> Head:
        node, tail = cell.node, cell.tail
        if node is None or tail is None:
            return TRUE if cell is self._all else END
        if isinstance(node, trees.Chars):
            return Head(FormulaKind.MOVE, node.chars, tail)
        if isinstance(node, trees.Sequence):
            for part in reversed(node.parts):
                tail = self._cell(part, tail)
            return self._head(tail, before, visiting)
        if isinstance(node, trees.Alternatives):
            return either(
                [
                    self._head(self._cell(option, tail), before, visiting)
                    for option in node.options
                ]
            )
        if isinstance(node, trees.Group):
            return self._head(self._cell(node.body, tail), before, visiting)
        if isinstance(node, trees.Repeat):
            return self._head_of_repeat(node, tail, before, visiting)
        return self._head_of_assertion(node, tail, before, visiting)

    def _head_of_repeat(
        self, node: trees.Repeat, tail: Cell, before: TextBefore, visiting: _Marks
    ) -> Head:
        body, least, most = node.body, node.least, node.most
        if body.low == 0 and (body.plain or body.high == 0):
            least = min(least, 1)
        again: Head = FALSE
        mark = (id(body), tail.number)
        if most != 0 and (least > 0 or mark not in visiting):
            fewer = None if most is None else most - 1
            remaining = self._cell(self._repeat(body, max(0, least - 1), fewer), tail)
            inner = visiting if least > 0 else visiting | {mark}
            again = self._head(self._cell(body, remaining), before, inner)
        if least > 0:
            return again
        return either([again, self._head(tail, before, visiting - {mark})])

    def _repeat(
        self, body: trees.PatternNode, least: int, most: int | None
    ) -> trees.PatternNode:
        key = (id(body), least, most)
        repeat = self._repeats.get(key)
        if repeat is None:
            repeat = trees.repeat(body, least, most)
            self._repeats[key] = repeat
        return repeat

    def _head_of_assertion(
        self, node: trees.PatternNode, tail: Cell, before: TextBefore, visiting: _Marks
    ) -> Head:
        follows = self._head(tail, before, visiting)
        if isinstance(node, trees.BackReference):
            again = [
                self._head(self._cell(self._groups[number], tail), before, visiting)
                for number in node.numbers
                if number in self._groups
            ]
            return either([follows, *again])
        if isinstance(node, trees.Look) and node.ahead:
            inside = self._head(self._cell(node.body, self._all), before)
            return both([negated(inside) if node.negative else inside, follows])
        return both([self._here(node, before), follows])

    def _here(self, node: trees.PatternNode, before: TextBefore) -> Head:
        """Return what an assertion asks of the next character."""
        if isinstance(node, trees.Look):
            index = next(i for i, look in enumerate(self.behinds) if look is node)
            return TRUE if before.truths[index] != node.negative else FALSE
        kind = node.kind if isinstance(node, trees.Anchor) else None
        if kind is trees.AnchorKind.START:
            return FALSE if before.previous else TRUE
        if kind is trees.AnchorKind.END:
            return END
        is_word = before.previous == BEHIND_WORD
        changes = negated(WORD) if is_word else WORD
        if kind is trees.AnchorKind.BOUNDARY:
            return changes
        return negated(changes)


def _chars(chars: CharSet) -> trees.PatternNode:
    return trees.Chars(chars=chars, low=1, high=1)

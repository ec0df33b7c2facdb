r"""Several patterns at once, as one automaton that is built while it is walked.

A state is a Boolean formula over derivatives of the patterns (J. A. Brzozowski,
Derivatives of regular expressions, J. ACM 11(4), 1964) about the rest of the text;
refused patterns and lookahead are parts of it. Lookbehind is a second formula, over
the text so far. A back-reference is read as the pattern of its group, which accepts
too much: `exact` is false then, and a string has to be verified.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from curation.regex import character_sets
from curation.regex import parser as trees
from curation.regex.character_sets import CharSet, minterms

#: States kept in memory; beyond, all are dropped and rebuilt.
_MAX_STATES = 3_000
#: Patterns with more unbounded repetitions get no automaton: the derivatives grow
#: with the cube of their number.
_MAX_REPETITIONS = 200
#: Terms likewise.
_MAX_TERMS = 40_000
#: Weights of characters that no pattern names, and of those that one does.
_OPEN_WEIGHT = 2.0
_STOP = 0.3


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Cell:
    """A node to match, and the cell that follows it: a pattern as a linked list."""

    node: trees.PatternNode | None
    tail: Cell | None
    number: int
    low: int


class TermKind(StrEnum):
    """Formulas over the rest of a text."""

    TRUE = "true"
    FALSE = "false"
    ATOM = "atom"
    """A cell matches up to the end of the text."""
    AND = "and"
    OR = "or"
    NOT = "not"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Term:
    """A formula over the rest of a text; equal ones are the same object."""

    kind: TermKind
    number: int
    #: No text shorter than this can meet it.
    low: int
    #: How many atoms it is made of.
    size: int = 1
    parts: tuple[Term, ...] = ()
    #: The cell of an atom; None of all others.
    cell: Cell | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """The beginning of a cell's match."""

    #: The sets of characters that decide about the next one.
    sets: tuple[CharSet, ...]
    #: The term that a character leaves; None represents the end of the text.
    after: Callable[[int | None], Term]
    #: The heads that a disjunction is made of, none of them twice.
    options: tuple[Head, ...] = ()


#: Values of `TextBefore.previous`: at the start, after a character of `\w`, after
#: any other.
AT_START = 0
BEHIND_OTHER = 1
BEHIND_WORD = 2


class TextBefore(NamedTuple):
    """What is known of the text before a position."""

    #: `AT_START`, `BEHIND_OTHER` or `BEHIND_WORD`.
    previous: int
    #: Whether each lookbehind holds.
    truths: tuple[bool, ...] = ()


# Loops entered at this very position, by their bodies and what follows them.
_Marks = frozenset[tuple[int, int]]


class TermFactory:
    """Makes terms and cells; equal ones are the same object."""

    def __init__(self, groups: dict[int, trees.PatternNode]) -> None:
        """Take the bodies of the groups that back-references mean."""
        self._groups = groups
        self._cells: dict[tuple[int, int], Cell] = {}
        self._terms: dict[tuple[object, ...], Term] = {}
        self._heads: dict[tuple[int, TextBefore, _Marks], Head] = {}
        self._repeats: dict[tuple[int, int, int | None], trees.PatternNode] = {}
        self.true = Term(kind=TermKind.TRUE, number=0, low=0)
        self.false = Term(kind=TermKind.FALSE, number=1, low=trees.MAX_LENGTH)
        self._always = Head((), lambda _: self.true)
        self._never = Head((), lambda _: self.false)
        self._no_more = Head((), lambda code: self.true if code is None else self.false)
        self._all = Cell(node=None, tail=None, number=0, low=0)
        self._end = Cell(node=None, tail=None, number=1, low=0)
        #: Lookbehinds in the patterns, inner ones first.
        self.behinds: list[trees.Look] = []
        #: Whether the character before matters, besides the start.
        self.needs_previous = False
        #: Whether the terms accept exactly the matches of the patterns.
        self.exact = True
        anything = trees.Chars(chars=character_sets.ANY, low=1, high=1)
        self._anything = trees.repeat(anything, 0, None)

    @property
    def count(self) -> int:
        """How many terms and heads there are."""
        return len(self._terms) + len(self._heads) + len(self._cells)

    def search(self, node: trees.PatternNode) -> Term:
        """Return the term of all texts in which a pattern matches somewhere."""
        self._survey(node, behind=False)
        return self._searched(node)

    def _searched(self, node: trees.PatternNode) -> Term:
        if isinstance(node, trees.Alternatives):
            return self.either([self._searched(option) for option in node.parts])
        cell = self._cell(node, self._all)
        if not trees.anchored(node, trees.AnchorKind.START):
            cell = self._cell(self._anything, cell)
        return self.atom(cell)

    def behind(self, look: trees.Look) -> Term:
        """Return the term of the texts that end with a match of a lookbehind."""
        return self.atom(self._cell(self._anything, self._cell(look.body, self._end)))

    def _survey(self, node: trees.PatternNode, *, behind: bool) -> None:
        inside = behind or (isinstance(node, trees.Look) and not node.ahead)
        for part in node.parts:
            self._survey(part, behind=inside)
        if isinstance(node, trees.Look):
            # A lookahead in a lookbehind asks for text not read yet.
            self.exact &= not (behind and node.ahead)
            if not node.ahead and all(node is not look for look in self.behinds):
                self.behinds.append(node)
        elif isinstance(node, trees.Anchor):
            self.needs_previous |= node.kind in trees.BORDERS
            self.exact &= not behind or node.kind is trees.AnchorKind.START
        elif isinstance(node, trees.BackReference):
            self.exact = False

    def _cell(self, node: trees.PatternNode, tail: Cell) -> Cell:
        key = (id(node), tail.number)
        cell = self._cells.get(key)
        if cell is None:
            number, low = len(self._cells) + 2, node.low + tail.low
            cell = Cell(
                node=node, tail=tail, number=number, low=min(trees.MAX_LENGTH, low)
            )
            self._cells[key] = cell
        return cell

    def _term(
        self,
        kind: TermKind,
        low: int,
        parts: tuple[Term, ...] = (),
        cell: Cell | None = None,
    ) -> Term:
        key = (kind, cell and cell.number, *(part.number for part in parts))
        term = self._terms.get(key)
        if term is None:
            term = self._terms[key] = Term(
                kind=kind,
                number=len(self._terms) + 2,
                low=low,
                size=sum(part.size for part in parts) or 1,
                parts=parts,
                cell=cell,
            )
        return term

    def atom(self, cell: Cell) -> Term:
        """Return the term of a cell's matches up to the end of the text."""
        if cell is self._all:
            return self.true
        return self._term(TermKind.ATOM, cell.low, cell=cell)

    def negation(self, term: Term) -> Term:
        """Return the term of all other texts."""
        if term is self.true:
            return self.false
        if term is self.false:
            return self.true
        if term.kind is TermKind.NOT:
            return term.parts[0]
        return self._term(TermKind.NOT, 0, (term,))

    def both(self, terms: list[Term]) -> Term:
        """Return the conjunction of terms."""
        return self._joined(TermKind.AND, terms, self.true, self.false)

    def either(self, terms: list[Term]) -> Term:
        """Return the disjunction of terms."""
        return self._joined(TermKind.OR, terms, self.false, self.true)

    def _joined(
        self, kind: TermKind, terms: list[Term], unit: Term, zero: Term
    ) -> Term:
        parts: dict[int, Term] = {}
        for term in terms:
            for part in term.parts if term.kind is kind else (term,):
                if part is zero:
                    return zero
                if part is not unit:
                    parts[part.number] = part
        for part in parts.values():
            if part.kind is TermKind.NOT and part.parts[0].number in parts:
                return zero
        if not parts:
            return unit
        if len(parts) == 1:
            return next(iter(parts.values()))
        ordered = tuple(parts[number] for number in sorted(parts))
        bound = max if kind is TermKind.AND else min
        return self._term(kind, bound(part.low for part in ordered), ordered)

    def after(self, term: Term, code: int | None, before: TextBefore) -> Term:
        """Return what one more character, or the end of the text, leaves of a term."""
        if term.cell is not None:
            return self._head(term.cell, before).after(code)
        if not term.parts:
            return term
        parts = [self.after(part, code, before) for part in term.parts]
        if term.kind is TermKind.NOT:
            return self.negation(parts[0])
        return self.both(parts) if term.kind is TermKind.AND else self.either(parts)

    def next_sets(self, term: Term, before: TextBefore) -> set[CharSet]:
        """Return the sets of characters that decide about the next one."""
        if term.cell is not None:
            return {*self._head(term.cell, before).sets}
        return {chars for part in term.parts for chars in self.next_sets(part, before)}

    def _head(
        self, cell: Cell, before: TextBefore, visiting: _Marks = frozenset()
    ) -> Head:
        if isinstance(cell.node, trees.Chars):
            # The same term for every occurrence.
            before, visiting = TextBefore(AT_START), frozenset()
        key = (cell.number, before, visiting)
        head = self._heads.get(key)
        if head is None:
            head = self._heads[key] = self._find_head(cell, before, visiting)
        return head

    def _find_head(self, cell: Cell, before: TextBefore, visiting: _Marks) -> Head:
        node, tail = cell.node, cell.tail
        if node is None or tail is None:
            return self._always if cell is self._all else self._no_more
        if isinstance(node, trees.Chars):
            chars, true, false = node.chars, self.atom(tail), self.false
            return Head(
                (chars,),
                lambda code: true if code is not None and code in chars else false,
            )
        if isinstance(node, trees.Sequence):
            for part in reversed(node.parts):
                tail = self._cell(part, tail)
            return self._head(tail, before, visiting)
        if isinstance(node, trees.Alternatives):
            cells = [self._cell(option, tail) for option in node.parts]
            return self._either([self._head(cell, before, visiting) for cell in cells])
        if isinstance(node, trees.Group):
            return self._head(self._cell(node.body, tail), before, visiting)
        if isinstance(node, trees.Repeat):
            return self._head_of_repeat(node, tail, before, visiting)
        return self._head_of_assertion(node, tail, before, visiting)

    def _either(self, heads: list[Head]) -> Head:
        if self._always in heads:
            return self._always
        options = tuple(
            dict.fromkeys(
                option
                for head in heads
                if head is not self._never
                for option in head.options or (head,)
            )
        )
        if len(options) < 2:  # noqa: PLR2004 - nothing to join
            return options[0] if options else self._never
        return Head(
            tuple(dict.fromkeys(chars for head in options for chars in head.sets)),
            lambda code: self.either([head.after(code) for head in options]),
            options,
        )

    def _both(self, condition: Head, follows: Head) -> Head:
        if self._never in (condition, follows):
            return self._never
        if condition is self._always:
            return follows
        if follows is self._always:
            return condition
        return Head(
            (*condition.sets, *follows.sets),
            lambda code: self.both([condition.after(code), follows.after(code)]),
        )

    def _not(self, head: Head) -> Head:
        if head is self._always:
            return self._never
        if head is self._never:
            return self._always
        return Head(head.sets, lambda code: self.negation(head.after(code)))

    def _head_of_repeat(
        self, node: trees.Repeat, tail: Cell, before: TextBefore, visiting: _Marks
    ) -> Head:
        body, minimum, maximum = node.body, node.minimum, node.maximum
        if body.low == 0 and (body.plain or body.high == 0):
            minimum = min(minimum, 1)
        heads: list[Head] = []
        mark = (id(body), tail.number)
        if maximum != 0 and (minimum > 0 or mark not in visiting):
            key = (
                id(body),
                max(0, minimum - 1),
                None if maximum is None else maximum - 1,
            )
            if key not in self._repeats:
                self._repeats[key] = trees.repeat(body, *key[1:])
            again = self._cell(body, self._cell(self._repeats[key], tail))
            inner = visiting if minimum > 0 else visiting | {mark}
            heads.append(self._head(again, before, inner))
        if minimum > 0:
            return heads[0] if heads else self._never
        return self._either([*heads, self._head(tail, before, visiting - {mark})])

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
            return self._either([follows, *again])
        return self._both(self._condition(node, before), follows)

    def _condition(self, node: trees.PatternNode, before: TextBefore) -> Head:
        """Return the term of an assertion about the text from here."""
        if isinstance(node, trees.Look):
            if node.ahead:
                inside = self._head(self._cell(node.body, self._all), before)
                return self._not(inside) if node.negative else inside
            index = next(i for i, look in enumerate(self.behinds) if look is node)
            holds = before.truths[index] != node.negative
            return self._always if holds else self._never
        kind = node.kind if isinstance(node, trees.Anchor) else None
        if kind is trees.AnchorKind.START:
            return self._always if before.previous == AT_START else self._never
        if kind is trees.AnchorKind.END:
            return self._no_more
        words, true, false = character_sets.WORDS, self.true, self.false
        word = Head(
            (words,), lambda code: true if code is not None and code in words else false
        )
        was_word = before.previous == BEHIND_WORD
        is_border = kind is trees.AnchorKind.BOUNDARY
        return word if was_word != is_border else self._not(word)


@dataclass(slots=True, eq=False, kw_only=True)
class AutomatonState:
    """What the rest of the text must meet."""

    term: Term
    before: TextBefore
    monitors: tuple[Term, ...]
    accepting: bool
    #: Classes of characters, each with the state that it leads to; None if not known.
    successors: list[tuple[CharSet, AutomatonState]] | None = None
    characters: dict[str, AutomatonState] = field(default_factory=dict)


class Automaton:
    """All texts that every one of `patterns` and none of `refused` matches."""

    def __init__(
        self, patterns: tuple[trees.Pattern, ...], refused: tuple[trees.Pattern, ...]
    ) -> None:
        """Take parsed patterns; states are built when they are reached."""
        self._patterns = patterns
        self._refused = refused
        self._reset()

    def _reset(self) -> None:
        patterns = (*self._patterns, *self._refused)
        groups = dict(enumerate(patterns[0].groups, 1)) if len(patterns) == 1 else {}
        self._terms = terms = TermFactory(groups)
        self._states: dict[tuple[int, TextBefore, tuple[int, ...]], AutomatonState] = {}
        searches = [terms.search(pattern.root) for pattern in self._patterns]
        unwanted = [
            terms.negation(terms.search(pattern.root)) for pattern in self._refused
        ]
        self.exact = terms.exact
        monitors = tuple(map(terms.behind, terms.behinds))
        self._start = self._state(
            terms.both([*searches, *unwanted]), AT_START, monitors
        )

    def _state(
        self, term: Term, previous: int, monitors: tuple[Term, ...]
    ) -> AutomatonState:
        terms = self._terms
        if not terms.needs_previous and previous:
            previous = BEHIND_OTHER
        before = TextBefore(previous)
        for monitor in monitors:
            holds = terms.after(monitor, None, before) is terms.true
            before = TextBefore(previous, (*before.truths, holds))
        key = (term.number, before, tuple(monitor.number for monitor in monitors))
        state = self._states.get(key)
        if state is None:
            accepting = terms.after(term, None, before) is terms.true
            state = self._states[key] = AutomatonState(
                term=term, before=before, monitors=monitors, accepting=accepting
            )
        return state

    def _formulas(self, state: AutomatonState) -> list[tuple[Term, TextBefore]]:
        """Return the terms of a state: each lookbehind's, then the rest's."""
        previous, truths = state.before
        return [
            *(
                (monitor, TextBefore(previous, truths[:index]))
                for index, monitor in enumerate(state.monitors)
            ),
            (state.term, state.before),
        ]

    def _next(self, state: AutomatonState, code: int) -> AutomatonState:
        *monitors, term = (
            self._terms.after(term, code, before)
            for term, before in self._formulas(state)
        )
        is_word = code in character_sets.WORDS
        previous = BEHIND_WORD if is_word else BEHIND_OTHER
        return self._state(term, previous, tuple(monitors))

    def _successors(
        self, state: AutomatonState
    ) -> list[tuple[CharSet, AutomatonState]]:
        if state.successors is None:
            sets = {character_sets.WORDS} if self._terms.needs_previous else set()
            for term, before in self._formulas(state):
                sets |= self._terms.next_sets(term, before)
            nexts = [
                (chars, self._next(state, chars.ranges[0][0]))
                for chars in minterms(list(sets))
            ]
            state.successors = [
                (chars, successor)
                for chars, successor in nexts
                if successor.term is not self._terms.false
            ]
        return state.successors

    def _tidy(self) -> None:
        """Forget all states when there are many; they are built again when needed."""
        if len(self._states) > _MAX_STATES or self._terms.count > _MAX_TERMS:
            self._reset()

    def accepts(self, text: str) -> bool:
        """Return whether a text meets all patterns."""
        self._tidy()
        state = self._start
        for character in text:
            successor = state.characters.get(character)
            if successor is None:
                successor = self._next(state, ord(character))
                state.characters[character] = successor
                if len(self._states) > 2 * _MAX_STATES:
                    return self._accepts_slowly(text)
            state = successor
            if state.term is self._terms.false:
                return False
        return state.accepting

    def _accepts_slowly(self, text: str) -> bool:
        """Walk through a text without keeping the states."""
        self._reset()
        state = self._start
        for character in text:
            state = self._next(state, ord(character))
            if len(self._states) > _MAX_STATES:
                self._states.clear()
        return state.accepting

    def is_empty(self) -> bool:
        """Return whether no such text is proven to exist.

        False also if `_MAX_STATES` states are not enough, or back-references make the
        automaton inexact.
        """
        self._tidy()
        pending, visited = [self._start], {id(self._start)}
        while pending and self.exact and len(visited) < _MAX_STATES:
            state = pending.pop()
            if state.accepting:
                return False
            nearest_last = sorted(
                (successor for _, successor in self._successors(state)),
                key=lambda successor: -successor.term.low,
            )
            pending += [
                candidate for candidate in nearest_last if id(candidate) not in visited
            ]
            visited.update(map(id, nearest_last))
        return not pending and self.exact

    def draw(
        self, rng: random.Random, minimum: int, maximum: int | None, steps: int
    ) -> str | None:
        """Return one of those texts, found depth first, or None.

        Args:
            rng: Random source.
            minimum: Characters that it must have.
            maximum: Characters that it may have; None for about as many.
            steps: What the search may cost.
        """
        self._tidy()
        limit = minimum + 4_000 if maximum is None else maximum
        length_goal = min(limit, minimum + int(rng.random() * 8))

        def ordered(
            state: AutomatonState, length: int
        ) -> list[tuple[CharSet, AutomatonState]]:
            ranked: list[tuple[tuple[int, float], CharSet, AutomatonState]] = []
            for chars, successor in self._successors(state):
                low = length + successor.term.low
                if low + 1 > limit:
                    continue
                weight = _OPEN_WEIGHT if chars.open else min(len(chars.palette), 40)
                chance = rng.random() ** (1 / weight)
                rank = 0 if low < length_goal else -successor.term.low
                ranked.append(((rank, chance), chars, successor))
            ranked.sort(key=lambda entry: entry[0])
            return [(chars, successor) for _, chars, successor in ranked]

        text: list[str] = []
        path = [(self._start, ordered(self._start, 0))]
        failed: set[tuple[int, int]] = set()
        while path:
            state, successors = path[-1]
            if (
                state.accepting
                and len(text) >= minimum
                and (not successors or len(text) >= length_goal or rng.random() < _STOP)
            ):
                return "".join(text)
            if not successors:
                path.pop()
                failed.add((id(state), len(text)))
                if text:
                    text.pop()
                continue
            chars, successor = successors.pop()
            if (id(successor), len(text) + 1) in failed:
                continue
            text.append(chars.draw(rng, 1))
            path.append((successor, ordered(successor, len(text))))
            # What is large takes longer; caches must not decide how far one comes.
            steps -= 1 + successor.term.size // 2
            if steps < 0:
                return None
        return None


@lru_cache(maxsize=512)
def single(pattern: str) -> Automaton | None:
    """Return the automaton of one pattern, or None if it cannot be read."""
    return _build((pattern,), ())


@lru_cache(maxsize=4096)
def matches_nothing(pattern: str) -> bool:
    """Return whether it is proven that no text matches a pattern.

    Example:
        >>> matches_nothing("/^[a-z]+$/")  # nothing can precede `^`
        True
    """
    tree = trees.parse(pattern)
    if tree is None or tree.sure:
        return False
    machine = single(pattern)
    return machine is not None and machine.is_empty()


@lru_cache(maxsize=96)
def automaton(patterns: tuple[str, ...], refused: tuple[str, ...]) -> Automaton | None:
    """Return the automaton of patterns, or None if one of them cannot be read."""
    return _build(patterns, refused)


def _build(patterns: tuple[str, ...], refused: tuple[str, ...]) -> Automaton | None:
    parsed = [trees.parse(text) for text in (*patterns, *refused)]
    read = tuple(tree for tree in parsed if tree is not None)
    repetitions = sum(tree.repetitions for tree in read)
    if len(read) < len(parsed) or repetitions > _MAX_REPETITIONS:
        return None
    try:
        return Automaton(read[: len(patterns)], read[len(patterns) :])
    except RecursionError:
        return None

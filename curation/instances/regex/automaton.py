r"""Several patterns at once, as one automaton that is built while it is walked.

A state is a Boolean formula over derivatives of the patterns (J. A. Brzozowski,
Derivatives of regular expressions, J. ACM 11(4), 1964) about the rest of the text;
refused patterns and look-ahead are parts of it. Look-behind is a second formula, over
the text so far. A back-reference is read as the pattern of its group, which accepts
too much: `exact` is false then, and a string has to be verified.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from curation.instances.regex import character_sets, parser
from curation.instances.regex import syntax_tree as trees
from curation.instances.regex.character_sets import CharSet, minterms
from curation.instances.regex.derivatives import (
    AT_START,
    BEHIND_OTHER,
    BEHIND_WORD,
    Term,
    TermFactory,
    TextBefore,
)

#: States kept in memory; then all are forgotten and made anew.
_MOST_STATES: Final = 3_000
#: Patterns with more unbounded repetitions get no automaton: the derivatives grow
#: with the cube of their number.
_MOST_REPETITIONS: Final = 200
#: Terms likewise.
_MOST_TERMS: Final = 40_000
#: Weights of characters that no pattern names, and of those that one does.
_OPEN_WEIGHT = 2.0
_STOP = 0.3


@dataclass(slots=True, eq=False, kw_only=True)
class AutomatonState:
    """What the rest of the text must meet."""

    term: Term
    before: TextBefore
    monitors: tuple[Term, ...]
    accepting: bool
    #: Classes of characters that lead somewhere, or None if not looked at.
    classes: list[CharSet] | None = None
    after: dict[int, AutomatonState] = field(default_factory=dict)
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
        groups = {
            number: body
            for pattern in (*self._patterns, *self._refused)
            for number, body in enumerate(pattern.groups, 1)
        }
        single = len(self._patterns) + len(self._refused) == 1
        self._terms = terms = TermFactory(groups if single else {})
        self._states: dict[tuple[int, TextBefore, tuple[int, ...]], AutomatonState] = {}
        searches = [terms.search(pattern.root) for pattern in self._patterns]
        unwanted = [
            terms.negation(terms.search(pattern.root)) for pattern in self._refused
        ]
        self.exact = terms.exact
        monitors = tuple(terms.behind(look) for look in terms.behinds)
        self._start = self._state(
            terms.both([*searches, *unwanted]), AT_START, monitors
        )

    def _state(
        self, term: Term, previous: int, monitors: tuple[Term, ...]
    ) -> AutomatonState:
        terms = self._terms
        if not terms.needs_previous and previous:
            previous = BEHIND_OTHER
        truths: tuple[bool, ...] = ()
        for monitor in monitors:
            truths = (*truths, terms.at_end(monitor, TextBefore(previous, truths)))
        before = TextBefore(previous, truths)
        key = (term.number, before, tuple(monitor.number for monitor in monitors))
        state = self._states.get(key)
        if state is None:
            accepting = terms.at_end(term, before)
            state = AutomatonState(
                term=term, before=before, monitors=monitors, accepting=accepting
            )
            self._states[key] = state
        return state

    def _next(self, state: AutomatonState, code: int) -> AutomatonState:
        terms = self._terms
        monitors = tuple(
            terms.after(
                monitor,
                code,
                TextBefore(state.before.previous, state.before.truths[:i]),
            )
            for i, monitor in enumerate(state.monitors)
        )
        is_word = code in character_sets.WORDS
        previous = BEHIND_WORD if is_word else BEHIND_OTHER
        return self._state(
            terms.after(state.term, code, state.before), previous, monitors
        )

    def _classes(self, state: AutomatonState) -> list[CharSet]:
        if state.classes is None:
            heads = self._terms.next_sets(state.term, state.before)
            for index, monitor in enumerate(state.monitors):
                truths = state.before.truths[:index]
                heads |= self._terms.next_sets(
                    monitor, TextBefore(state.before.previous, truths)
                )
            if self._terms.needs_previous:
                heads[character_sets.WORDS] = None
            state.classes = minterms(list(heads))
        return state.classes

    def _successors(
        self, state: AutomatonState
    ) -> list[tuple[CharSet, AutomatonState]]:
        successors = []
        for chars in self._classes(state):
            code = chars.ranges[0][0]
            if code not in state.after:
                state.after[code] = self._next(state, code)
            successor = state.after[code]
            if successor.term is not self._terms.false:
                successors.append((chars, successor))
        return successors

    def _tidy(self) -> None:
        """Forget all states when there are many; they are built again when needed."""
        if len(self._states) > _MOST_STATES or self._terms.count > _MOST_TERMS:
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
                if len(self._states) > 2 * _MOST_STATES:
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
            if len(self._states) > _MOST_STATES:
                self._states.clear()
        return state.accepting

    def draw(
        self, rng: random.Random, least: int, most: int | None, steps: int
    ) -> str | None:
        """Return one of those texts with that many characters, or None."""
        self._tidy()
        return _TextSearch(self, rng, least, most, steps).result()


class _TextSearch:
    """A search, depth first, for one text."""

    def __init__(
        self,
        automaton: Automaton,
        rng: random.Random,
        least: int,
        most: int | None,
        steps: int,
    ) -> None:
        self._automaton = automaton
        self._rng = rng
        self._least = least
        self._most = most if most is not None else least + 4_000
        self._steps = steps
        self._wanted = min(self._most, least + int(rng.random() * 8))

    def result(self) -> str | None:
        automaton, text = self._automaton, list[str]()
        state = automaton._start  # noqa: SLF001 - one thing in two classes
        path = [(state, self._ordered(state, 0))]
        failed: set[tuple[int, int]] = set()
        while path:
            state, successors = path[-1]
            if self._may_stop(state, len(text), stuck=not successors):
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
            text.append(chars.draw(self._rng, 1))
            path.append((successor, self._ordered(successor, len(text))))
            # What is large takes longer; caches must not decide how far one comes.
            self._steps -= 1 + successor.term.size // 2
            if self._steps < 0:
                return None
        return None

    def _may_stop(self, state: AutomatonState, length: int, *, stuck: bool) -> bool:
        if not state.accepting or length < self._least:
            return False
        return stuck or length >= self._wanted or self._rng.random() < _STOP

    def _ordered(
        self, state: AutomatonState, length: int
    ) -> list[tuple[CharSet, AutomatonState]]:
        successors = [
            (self._rank(chars, successor, length), index, chars, successor)
            for index, (chars, successor) in enumerate(
                self._automaton._successors(state)  # noqa: SLF001 - as above
            )
            if length + 1 + successor.term.low <= self._most
        ]
        successors.sort(key=lambda entry: entry[:2])
        return [(chars, successor) for _, _, chars, successor in successors]

    def _rank(
        self, chars: CharSet, successor: AutomatonState, length: int
    ) -> tuple[int, float]:
        weight = _OPEN_WEIGHT if chars.open else min(len(chars.palette), 40)
        chance = self._rng.random() ** (1 / weight)
        if length + successor.term.low < self._wanted:
            return 0, chance
        return -successor.term.low, chance


@lru_cache(maxsize=512)
def single(pattern: str) -> Automaton | None:
    """Return the automaton of one pattern, or None if it cannot be read."""
    return _build((pattern,), ())


@lru_cache(maxsize=96)
def automaton(patterns: tuple[str, ...], refused: tuple[str, ...]) -> Automaton | None:
    """Return the automaton of patterns, or None if one of them cannot be read."""
    return _build(patterns, refused)


def _build(patterns: tuple[str, ...], refused: tuple[str, ...]) -> Automaton | None:
    trees_read = [parser.parse(text) for text in (*patterns, *refused)]
    read = tuple(tree for tree in trees_read if tree is not None)
    repetitions = sum(tree.repetitions for tree in read)
    if len(read) < len(trees_read) or repetitions > _MOST_REPETITIONS:
        return None
    try:
        return Automaton(read[: len(patterns)], read[len(patterns) :])
    except RecursionError:
        return None

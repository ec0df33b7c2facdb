"""Parameters of requests, dropped or renamed where a server refuses them."""

from __future__ import annotations

import re
from copy import deepcopy
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json, UntypedJson
    from evaluation.servers.provider import ParameterRule
    from evaluation.servers.refusals import Refusal


class Parameters:
    """What one model accepts of the parameters of a request, in whatever way.

    Example:
        >>> parameters = Parameters({"seed": ParameterRule(source="")})
        >>> parameters.learn({"seed": 1, "max_tokens": 9}, read_refusal(400, "no seed"))
        'seed is dropped'
        >>> parameters.apply({"seed": 1, "max_tokens": 9})
        {'max_tokens': 9}
    """

    def __init__(self, rules: Mapping[str, ParameterRule]) -> None:
        """Prepare; nothing is refused yet.

        Args:
            rules: By a parameter, with dots for members of members.
        """
        self._rules = rules
        self._lock = Lock()
        #: A refused parameter to the name it is sent under; empty: it is dropped.
        self.changes: dict[str, str] = {}

    def apply(self, body: Mapping[str, Json]) -> dict[str, Json]:
        """Return a request without the refused parameters, the renamed under theirs."""
        new: dict[str, UntypedJson] = deepcopy(dict(body))
        for name, other in [*self.changes.items()]:
            holder, last = _place(new, name)
            if last in holder:
                value = holder.pop(last)
                if other:
                    holder[other] = value
                outer = name.rpartition(".")[0]
                if outer and not holder:
                    new.pop(outer, None)
        return new

    def learn(self, sent: Mapping[str, Json], refusal: Refusal) -> str | None:
        """Note which parameter is refused; return the remedy.

        None if it is not a dispensable parameter. Empty if another request has
        learnt it in the meantime.

        Args:
            sent: The refused request.
            refusal: The server's message.
        """
        about = refusal.parameter or refusal.message
        for name, rule in self._rules.items():
            holder, last = _place(dict(sent), name)
            words = rule.words or rf"\b{last}\b"
            if last not in holder or not re.search(words, about, re.IGNORECASE):
                continue
            with self._lock:
                if name in self.changes:
                    return ""
                self.changes[name] = rule.name
                self.changes |= dict.fromkeys(rule.with_, "")
            named = " and ".join((name, *rule.with_))
            done = f"sent as {rule.name}" if rule.name else "dropped"
            return f"{named} {'are' if rule.with_ else 'is'} {done}"
        return None


def _place(
    body: dict[str, UntypedJson], name: str
) -> tuple[dict[str, UntypedJson], str]:
    *path, last = name.split(".")
    for part in path:
        body = body.get(part) or {}
    return body, last

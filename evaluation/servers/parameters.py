"""Parameters of requests, dropped or renamed where a server refuses them."""

from __future__ import annotations

import re
from copy import deepcopy
from threading import Lock
from typing import TYPE_CHECKING

from evaluation.servers.responses import RefusalCause, RefusalWords

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json, UntypedJson


class Parameters:
    """What one model takes of the parameters of a request.

    Example:
        >>> parameters = Parameters({"max_tokens": "max_completion_tokens", "seed": ""})
        >>> words = RefusalWords(message="not supported", parameter="seed")
        >>> parameters.learn({"seed": 1, "max_tokens": 9}, words)
        'seed is dropped'
        >>> parameters.apply({"seed": 1, "max_tokens": 9})
        {'max_tokens': 9}
    """

    def __init__(self, alternatives: Mapping[str, str]) -> None:
        """Prepare; nothing is refused yet.

        Args:
            alternatives: A parameter, with dots for members of members, to its other
                name; to an empty name where the server's own value may do.
        """
        self._alternatives = alternatives
        self._lock = Lock()
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
        return new

    def learn(self, sent: Mapping[str, Json], words: RefusalWords) -> str | None:
        """Note which parameter is refused; return what is done about it.

        None if it is no parameter that can be spared. Empty if another request has
        learnt it in the meantime.

        Args:
            sent: The request that is refused.
            words: What the server says.
        """
        if words.cause not in (RefusalCause.OTHER, RefusalCause.UNKNOWN):
            return None
        about = words.parameter or words.message
        for name, other in self._alternatives.items():
            holder, last = _place(dict(sent), name)
            if last not in holder or not re.search(rf"\b{last}\b", about):
                continue
            with self._lock:
                if name in self.changes:
                    return ""
                self.changes[name] = other
            return f"{name} is {f'sent as {other}' if other else 'dropped'}"
        return None


def _place(
    body: dict[str, UntypedJson], name: str
) -> tuple[dict[str, UntypedJson], str]:
    *path, last = name.split(".")
    for part in path:
        body = body.get(part) or {}
    return body, last

"""Whether what a model computed for a token is something to choose from."""

from __future__ import annotations

import math
from typing import Final

#: No logit of a token that may come next is as low: some models put tokens that are
#: none there, and masks put tokens that are forbidden lower still.
_LOWEST: Final = -1.5e38


class LogitsError(ArithmeticError):
    """What a model computes are no numbers; there is nothing to choose from."""


def is_choice(best: float) -> bool:
    """Return whether the best logit is that of a token which may come next.

    Raises:
        LogitsError: it is no number, or infinite.
    """
    if math.isnan(best) or best == math.inf:
        message = f"the model's best logit is {best}"
        raise LogitsError(message)
    return best > _LOWEST

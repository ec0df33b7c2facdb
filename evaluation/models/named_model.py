"""What a model with a name of its own is: how it is made and loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.download.acquire import FetchSettings
    from evaluation.models.base import LanguageModel
    from evaluation.models.loading import LoadOptions


class LoadModel(Protocol):
    """Loads one model; what is heavy is imported when it is called."""

    def __call__(
        self,
        loading: LoadOptions,
        settings: FetchSettings,
        say: Callable[[str], None],
    ) -> LanguageModel:
        """Return the model, loaded.

        Args:
            loading: Device, dtype and threads.
            settings: How what is missing is fetched, and where it is kept.
            say: Tells people of what takes time.

        Raises:
            CsbdataError: it cannot be fetched, or the cache cannot be written.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedModel:
    """A model that `--model` knows by a name.

    Example:
        >>> def load(loading, settings, say):
        ...     from evaluation.models.loading import load_model
        ...
        ...     return load_model("/models/ours", loading, name="ours")
        >>> MODEL = NamedModel(name="ours", summary="the one on our disk", load=load)
    """

    #: What `--model` calls it.
    name: str
    #: One line for a list of all of them.
    summary: str
    load: LoadModel

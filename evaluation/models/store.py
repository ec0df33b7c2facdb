"""Find a model by its name: a known one, a folder, or one of the Hub.

Known models are the files of `known` with a `MODEL`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curation.system.errors import Unavailable, install_extra
from curation.system.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from curation.download.cache import FetchSettings
    from evaluation.models.loading import LoadOptions
    from evaluation.models.transformers import TransformersModel


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedModel:
    """A model that `--model` knows by a name.

    Example:
        >>> def load(loading, settings, say):
        ...     from evaluation.models.loading import load_model
        ...
        ...     return load_model("/models/ours", loading, name="ours")
        >>> MODEL = NamedModel(name="ours", load=load)
    """

    #: What `--model` calls it.
    name: str
    #: Returns the loaded model; heavy imports happen in the call. Its
    #: arguments: device, dtype and threads; how what is missing is fetched, and where
    #: it is kept; and a function that reports slow steps.
    load: Callable[
        [LoadOptions, FetchSettings, Callable[[str], None]], TransformersModel
    ]


#: The model that writes by default.
DEFAULT: Final = "smollm2"
#: The command that installs a model's libraries.
INSTALL: Final = install_extra("models")


_REGISTRY = Registry[NamedModel](
    noun="model",
    classes=(NamedModel,),
    attribute="MODEL",
    package="evaluation.models.known",
)


def get_model(
    name: str,
    loading: LoadOptions,
    settings: FetchSettings,
    log: Callable[[str], None] = lambda _message: None,
) -> TransformersModel:
    """Return a model, loaded: a known one, a folder, or `owner/name` on the Hub.

    Raises:
        NoInput: no such model.
        CsbdataError: it cannot be fetched, or the cache cannot be written.
    """
    named = None if Path(name).exists() else _REGISTRY.by_name().get(name)
    if named is not None:
        return named.load(loading, settings, log)
    from evaluation.models.loading import load_model  # noqa: PLC0415 - heavy

    return load_model(name, loading)


def missing_libraries() -> list[str]:
    """Return the libraries that running a model needs and that are not installed."""
    libraries = ("torch", "transformers")
    return [library for library in libraries if find_spec(library) is None]


def check_installed() -> None:
    """Check that the libraries that run models are installed.

    Raises:
        Unavailable: one is not; the message has the command to install it (exit 69).
    """
    absent = missing_libraries()
    if absent:
        message = f"generating needs {' and '.join(absent)}, which are not installed"
        raise Unavailable(message, hint=INSTALL)

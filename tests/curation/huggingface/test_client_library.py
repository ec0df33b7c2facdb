"""Our client is of the library that huggingface_hub itself calls."""

from __future__ import annotations

import huggingface_hub
import pytest

from curation.huggingface.client_library import _library_name, httpx


def test_the_session_of_huggingface_hub_is_one_of_its_clients() -> None:
    """Whichever version is installed."""
    assert type(huggingface_hub.get_session()).__module__.split(".")[0] == (
        httpx.__name__
    )
    assert isinstance(huggingface_hub.get_session(), httpx.Client)


@pytest.mark.parametrize(
    ("version", "library"),
    [("1.31.0", "httpx"), ("2.4.0", "httpx2"), ("10.0.0rc1", "httpx2")],
)
def test_the_version_says_which_library_it_calls(version: str, library: str) -> None:
    """Both may be installed, so looking for one says nothing."""
    assert _library_name(version) == library

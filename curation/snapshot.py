"""A dataset on the Hub, as a local folder of its parquet files.

`huggingface_hub` reads its own environment: `HF_TOKEN`, `HF_HOME`,
`HF_HUB_OFFLINE` and the rest mean here what they mean there.
"""

from __future__ import annotations

from pathlib import Path

import huggingface_hub
from huggingface_hub import errors

from curation.faults import NoInput, NotPermitted, Unavailable

_PATTERNS = ["*.parquet", "README.md"]


def hub_snapshot(name: str, revision: str | None) -> Path:
    """Return the folder that holds a Hub dataset's tables at a revision.

    Raises:
        NoInput: the Hub has no such dataset or revision.
        NotPermitted: it is gated, or private to others.
        Unavailable: the Hub cannot be reached, and the cache does not hold it.
    """
    where = f"{name}@{revision}" if revision else name
    try:
        folder = huggingface_hub.snapshot_download(
            name, repo_type="dataset", revision=revision, allow_patterns=_PATTERNS
        )
    except errors.GatedRepoError as error:
        raise NotPermitted(
            "the dataset is gated", where, "ask for access, then: hf auth login"
        ) from error
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
        raise NoInput("the Hub has no such dataset or revision", where) from error
    except errors.HFValidationError as error:
        raise NoInput("not a name that the Hub could have", where) from error
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled) as error:
        raise Unavailable(
            "the Hub cannot be reached and the cache does not hold it", where
        ) from error
    except (errors.HfHubHTTPError, OSError) as error:
        raise Unavailable(f"the Hub answered {error}", where, "try later") from error
    return Path(folder)

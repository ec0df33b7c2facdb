"""Keys of minisign that are made for a test run and forgotten with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import minisign

from curation.packaging.derived_files import sign_folder
from curation.packaging.signature import SigningKey

if TYPE_CHECKING:
    from pathlib import Path

PASSWORD = "a password"
_PAIR = minisign.KeyPair.generate()
#: Its text, 56 characters.
PUBLIC_KEY = _PAIR.public_key.to_base64().decode()
#: The text of a key of somebody else.
OTHERS_KEY = minisign.KeyPair.generate().public_key.to_base64().decode()


def write_key(path: Path, *, with_password: bool = False) -> SigningKey:
    """Write the secret key into a file; return it with its password."""
    secret = minisign.SecretKey.from_bytes(bytes(_PAIR.secret_key))
    if with_password:
        # minisign's own limits cost a gigabyte and seconds.
        secret.encrypt(PASSWORD, opslimit=32_768, memlimit=16_777_216)
    path.write_bytes(bytes(secret) + b"\n")
    return SigningKey(path=path, password=lambda: PASSWORD)


def sign(folder: Path) -> None:
    """Sign a dataset folder with the key of the test run."""
    key = write_key(folder.with_suffix(".key"))
    sign_folder(folder, key)

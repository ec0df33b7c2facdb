"""Sign `SHA256SUMS` and verify `SHA256SUMS.minisig`, in minisign's format.

`SHA256SUMS` has the digest of every other file. The signature is Ed25519 over the
BLAKE2b-512 of the list, as of `minisign -Sm` (https://jedisct1.github.io/minisign/).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Protocol

from curation.system.checksums import FILE as SUMS
from curation.system.errors import BadData, NoInput, Unavailable
from curation.system.extras import install_extra

#: The file's name in a dataset folder: no list of files has it.
FILE = f"{SUMS}.minisig"
#: Bytes of the largest key or signature that is read; both have some hundred.
_MOST = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """A secret key of minisign, with a prompt for its password."""

    path: Path
    #: Is asked once, where the key has a password.
    password: Callable[[], str]


class _PublicKey(Protocol):
    """The library's public key."""

    def verify(self, data: bytes, signature: object) -> None:
        """Raise if the signature is another's, or of other data."""


def signed_sums(folder: Path, key: SigningKey, version: str) -> bytes:
    """Return the signature over a folder's `SHA256SUMS`.

    The same list, key and version give the same bytes.

    Raises:
        NoInput: there is no such list or key.
        BadData: the key is none, its password another, or it lies in the folder, where
            it would be published.
        Unavailable: the library is not installed (exit 69).
    """
    if key.path.resolve().is_relative_to(folder.resolve()):
        raise BadData("a secret key among the files of a dataset", str(key.path))
    minisign = _library()
    try:
        secret = minisign.SecretKey.from_bytes(_content(key.path))
        if secret.is_encrypted():
            secret.decrypt(key.password())
        with secret:
            signature = secret.sign(
                _content(folder / SUMS, most=None),
                untrusted_comment="signature of a dataset; see its card",
                trusted_comment=f"file:{SUMS}\tversion:{version}\tprehashed",
            )
    except minisign.Error as error:
        raise BadData(f"cannot sign ({error})", str(key.path)) from error
    return bytes(signature) + b"\n"


def signature_fault(folder: Path, public_key: str) -> str:
    """Return the fault of a folder's signature; empty if it is the key's.

    Args:
        folder: The dataset folder.
        public_key: The text of a public key, 56 characters, or the path of its file.

    Raises:
        NoInput: there is no such key.
        BadData: it is no public key.
        Unavailable: the library is not installed (exit 69).
    """
    minisign = _library()
    key = _public_key(public_key)
    if not (folder / FILE).is_file():
        return "missing: the folder is not signed"
    try:
        signature = minisign.Signature.from_bytes(_content(folder / FILE))
        if not signature.is_prehashed():
            return "made in minisign's former way, without BLAKE2b"
        key.verify(_content(folder / SUMS, most=None), signature)
    except minisign.VerifyError as error:
        return f"not the key's signature of this {SUMS} ({error})"
    except (minisign.Error, BadData, NoInput) as error:
        return f"no signature ({error})"
    return ""


def require_public_key(text: str) -> None:
    """Refuse a text that is no public key.

    Raises:
        NoInput: it is neither a file nor a key.
        BadData: the file is no public key.
        Unavailable: the library is not installed (exit 69).
    """
    _public_key(text)


def _public_key(text: str) -> _PublicKey:
    minisign = _library()
    path = Path(text)
    try:
        key: _PublicKey = (
            minisign.PublicKey.from_bytes(_content(path))
            if path.is_file()
            else minisign.PublicKey.from_base64(text)
        )
    except minisign.Error as error:
        then = "56 characters that begin with RW, or the path of minisign.pub"
        kind = BadData if path.is_file() else NoInput
        raise kind(f"no public key of minisign ({error})", text, then) from error
    return key


def _content(path: Path, *, most: int | None = _MOST) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise NoInput(error.strerror or "cannot be read", str(path)) from error
    if most is not None and len(content) > most:
        raise BadData(f"over {most:,} bytes", str(path))
    return content


def _library() -> ModuleType:
    try:
        import minisign  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise Unavailable(
            "signatures need py-minisign", "", install_extra("sign")
        ) from error
    library: ModuleType = minisign
    return library

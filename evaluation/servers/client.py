"""Ask a server for one text, and retry where that may help.

429, 5xx, cut streams and lost connections are retried. All requests to a server share
one backoff: a request that meets trouble makes all of them wait; `Retry-After` is
honoured, and the time without a single answer is bounded. The key is taken from the
environment, sent to the server it belongs to, and never printed or recorded.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any, Final, NoReturn

import msgspec
import requests
from requests.adapters import HTTPAdapter
from requests.auth import HTTPBasicAuth
from urllib3.exceptions import HTTPError, ReadTimeoutError

from curation.core.json_types import Json
from curation.system.credentials import SplitUrl, hide_secrets, redacted
from curation.system.errors import BadConfiguration, NoInput, NotPermitted, Unavailable
from curation.system.retry import retry_after
from curation.system.threads import within
from curation.system.words import shortened
from evaluation.servers.answers import (
    BrokenStream,
    ErrorEvent,
    ServerAnswer,
    TooLate,
    read_some,
    read_stream,
    response_lines,
    response_pieces,
)
from evaluation.servers.pacing import Account, SharedBackoff, Spending
from evaluation.servers.parameters import Parameters
from evaluation.servers.provider import Provider, providers
from evaluation.servers.refusals import Refusal, RefusalClass, read_refusal

_CONNECT_SECONDS: Final = 10.0
#: What may happen where a whole answer was to be read.
_LOST: Final = (requests.RequestException, HTTPError, BrokenStream, ValueError)
_GOES_ON: Final = "the same command goes on"
_LOOK: Final = "look at the address; it ends in /v1 as a rule"
_SUCCESS: Final = 200
#: Maximum connections kept between requests.
_CONNECTIONS: Final = 256


class RequestRefused(Exception):  # noqa: N818 (named by its meaning)
    """The server does not take the request."""

    def __init__(self, refusal: Refusal, meaning: RefusalClass) -> None:
        """Take the server's message, and its meaning."""
        super().__init__(_sentence(refusal))
        self.refusal, self.meaning = refusal, meaning


class RetriesExhausted(Exception):  # noqa: N818 (named by its meaning)
    """No whole answer came within the budget of tries and minutes."""


class DeadlinePassed(Exception):  # noqa: N818 (named by its meaning)
    """The answer was late; `answer` is its part that came."""

    def __init__(self, answer: ServerAnswer) -> None:
        """Take what came."""
        self.answer = answer


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """How long one text may take, and how often it is asked for."""

    #: Seconds for one text; one that takes longer is not asked for again.
    seconds: float = 40.0
    #: Minutes for which the server may be in trouble without any answer: then a text
    #: that meets trouble is given up at once.
    patience: float = 10.0
    #: Tries of one failing text; a request to wait (429, 503) does not count.
    tries: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConnection:
    """Which model of which server is asked; the same for every text."""

    #: Ends in `/v1` or the like, without a slash; without secrets.
    base: str
    model: str
    provider: Provider = field(default_factory=lambda: providers()[""])
    limits: RequestLimits = field(default_factory=RequestLimits)
    #: The address as the user gave it: its secrets go to the server and nowhere else.
    address: SplitUrl = field(default=SplitUrl(clean=""), repr=False)

    def key(self) -> str:
        """Return the key; empty without one: a local server needs none."""
        keys = self.provider.keys
        return next((os.environ[name] for name in keys if os.getenv(name)), "")


class ServerClient:
    """A connection to one server, for all ways to ask its model."""

    def __init__(
        self,
        connection: ServerConnection,
        backoff: SharedBackoff | None = None,
        account: Account | None = None,
    ) -> None:
        """Prepare; nothing is sent yet.

        Args:
            connection: Server and model.
            backoff: When requests may be sent; None: by the connection's limits.
            account: Pays for answers.
        """
        self._connection = connection
        self.account = account or Account(Spending())
        #: What the model accepts, learnt once for all ways to ask it.
        self.parameters = Parameters(connection.provider.parameters)
        self._backoff = backoff or SharedBackoff(connection.limits.patience)
        self._session = requests.Session()
        # One connection is kept for each concurrent text.
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(pool_maxsize=_CONNECTIONS))
        # Neither a proxy nor a .netrc may see or add what we do not mean.
        self._session.trust_env = False
        key = connection.key()
        if key:
            headers = connection.provider.headers
            self._session.headers.update(
                {name: value.replace("{key}", key) for name, value in headers.items()}
            )
        address = connection.address
        if address.user or address.password:
            self._session.auth = HTTPBasicAuth(
                address.user.encode(), address.password.encode()
            )
        self._session.params = dict(address.query)
        self._secrets = (key, *address.secrets)

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def description(self) -> tuple[Sequence[str], Mapping[str, Json]]:
        """Return the ids of the server's models, and its other answers by path.

        What it does not answer is left out.

        Raises:
            Unavailable: it does not answer, or refuses (exit 69).
            BadConfiguration: no such address (exit 78).
            CsbdataError: see `ask`.
        """
        connection = self._connection
        models = self._object(connection.base + connection.provider.models)
        base = connection.base
        has_path = base.count("/") > len("//")
        root = base.rpartition("/")[0] if has_path else base
        answers: dict[str, Json] = {}
        for path in connection.provider.described_at:
            with suppress(Unavailable, BadConfiguration, NotPermitted, NoInput):
                answers[path] = self._object(f"{root}{path}")
        return _model_ids(models), answers

    def _object(self, url: str) -> dict[str, Json]:
        hint = _GOES_ON
        try:
            with self._session.get(
                url,
                timeout=_CONNECT_SECONDS,
                allow_redirects=False,
                stream=True,
            ) as response:
                self._check_status(response)
                limit = time.monotonic() + _CONNECT_SECONDS
                whole = self._hide(b"".join(response_pieces(response, limit)).decode())
        except (RequestRefused, _TryAgain) as error:
            raise Unavailable(str(error), url, hint) from None
        except _LOST as error:
            message = "no whole answer"
            if isinstance(error, requests.ConnectionError):
                message, hint = (
                    "no server answers",
                    f"start one, or name another; {hint}",
                )
            raise Unavailable(
                f"{message} ({type(error).__name__})", url, hint
            ) from None
        try:
            return msgspec.json.decode(whole, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError):
            message = f"no answer of such a server: {shortened(whole)!r}"
            raise Unavailable(message, url, _LOOK) from None

    def ask(self, body: Mapping[str, Json], budget: int = 0) -> ServerAnswer:
        """Ask for one text; retry while the server is in trouble.

        Args:
            body: The request.
            budget: Most tokens of the text.

        Raises:
            RequestRefused: the server does not take the request.
            RetriesExhausted: no whole answer came.
            DeadlinePassed: it did not come in time.
            NotPermitted: the key is missing or wrong (exit 77).
            NoInput: the server has no such model (exit 66).
            Unavailable: the account is exhausted (exit 69).
            SpendingLimit: the run may not ask for more.
        """
        begun = time.monotonic()
        tries = 0
        while True:
            sent = self._backoff.wait()
            try:
                answer = self._ask_once(body, budget)
            except _TryAgain as trouble:
                tries += not trouble.told_to_wait
                seconds = time.monotonic() - begun
                limits = self._connection.limits
                if (
                    self._backoff.again_after(sent, trouble.wait)
                    and tries < limits.tries
                    and seconds < limits.patience * 60
                ):
                    continue
                message = f"{trouble}; given up after {seconds:,.0f} s"
                raise RetriesExhausted(message) from None
            except (RequestRefused, DeadlinePassed):
                self._backoff.answered()
                raise
            self._backoff.answered()
            return answer

    def _ask_once(self, body: Mapping[str, Json], budget: int) -> ServerAnswer:
        connection = self._connection
        provider, seconds = connection.provider, connection.limits.seconds
        limit = time.monotonic() + seconds
        answer = ServerAnswer(asked_ns=perf_counter_ns())
        # Whether there is something to pay: a text has begun, or may have.
        owed = False
        self.account.spending.send()
        try:
            path = provider.path.format(model=connection.model)
            with self._posted(connection.base + path, body, seconds) as response:
                owed = response.ok
                self._check_status(response)
                lines = response_lines(response, limit)
                read_stream(lines, answer, provider.answer, provider.prefix.encode())
                # What is left of it, so that the connection can be used again.
                read_some(response, seconds=0.5)
        except BrokenStream as error:
            raise _TryAgain(redacted(self._hide(str(error)))) from None
        except ErrorEvent as event:
            owed = answer.begun
            self._refuse(read_refusal(_SUCCESS, redacted(self._hide(event.body))))
        except requests.ConnectTimeout:
            raise _TryAgain("no connection in time") from None
        except (requests.Timeout, ReadTimeoutError):
            owed = True
            raise DeadlinePassed(answer) from None
        except (requests.RequestException, HTTPError) as error:
            # Its text may repeat the address; its kind suffices.
            raise _TryAgain(f"connection lost ({type(error).__name__})") from None
        finally:
            if "tools" in body:
                answer.take_call()
            if owed:
                sent = len(json.dumps(body))
                told = answer.prompt_tokens, answer.output_tokens
                self.account.pay(*told, sent=sent, budget=budget)
            for part in ("text", "reasoning", "refusal", "finish"):
                setattr(answer, part, self._hide(getattr(answer, part)))
        return answer

    def _posted(
        self, url: str, body: Mapping[str, Json], seconds: float
    ) -> requests.Response:
        """Return the response as soon as its headers have come.

        Raises:
            TooLate: they are not there in time; dripping, each byte would be.
        """
        try:
            return within(
                seconds,
                lambda: self._session.post(
                    url,
                    json=dict(body),
                    stream=True,
                    timeout=(_CONNECT_SECONDS, seconds),
                    allow_redirects=False,
                ),
            )
        except TimeoutError:
            raise TooLate from None

    def _check_status(self, response: requests.Response) -> None:
        """Raise the fault that an error status means."""
        if response.status_code // 100 != 2:  # noqa: PLR2004 (success)
            body = redacted(self._hide(read_some(response).decode("utf-8", "replace")))
            refusal = read_refusal(response.status_code, body, response.headers)
            self._refuse(refusal)

    def _refuse(self, refusal: Refusal) -> NoReturn:
        """Raise the fault that a refusal means, by the provider's table."""
        base, provider = self._connection.base, self._connection.provider
        meaning, answer = provider.refusal_class(refusal), _sentence(refusal)
        match meaning:
            case RefusalClass.KEY:
                keys = " or ".join(provider.keys)
                hint = f"set {keys} to a key of this server"
                raise NotPermitted(f"the server answers {answer}", base, hint)
            case RefusalClass.EXHAUSTED:
                message = f"the account is exhausted: {answer}"
                raise Unavailable(message, base, _GOES_ON)
            case RefusalClass.MODEL:
                message = f"no model {self._connection.model!r}: {answer}"
                hint = f"name one that {base}{provider.models} lists"
                raise NoInput(message, base, hint)
            case RefusalClass.ADDRESS:
                raise BadConfiguration(f"the server answers {answer}", base, _LOOK)
            case RefusalClass.WAIT | RefusalClass.FAULT:
                wait = max(retry_after(refusal.headers) or 0.0, refusal.delay)
                is_told = meaning is RefusalClass.WAIT
                raise _TryAgain(answer, wait, told_to_wait=is_told)
            case _:
                raise RequestRefused(refusal, meaning)

    def _hide(self, text: str) -> str:
        """Return a server's text without the secrets that it was sent."""
        return hide_secrets(text, self._secrets)


class _TryAgain(Exception):  # noqa: N818 (named by its meaning)
    """A trouble that may pass."""

    def __init__(
        self, why: str, wait: float = 0.0, *, told_to_wait: bool = False
    ) -> None:
        """Take the seconds that the server asks for, and whether it does no more."""
        super().__init__(why)
        self.wait = wait
        self.told_to_wait = told_to_wait


def _sentence(refusal: Refusal) -> str:
    if refusal.status == _SUCCESS:
        return f"the server says: {refusal}"
    return f"HTTP {refusal.status}: {refusal}".removesuffix(": ")


def _model_ids(models: Mapping[str, Json]) -> tuple[str, ...]:
    entries = models.get("data") or models.get("models")
    return tuple(
        str(model.get("id") or model.get("name")).removeprefix("models/")
        for model in (entries if isinstance(entries, list) else ())
        if isinstance(model, dict)
    )

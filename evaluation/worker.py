"""The process that an engine lives in; answers `evaluation.driver`.

Run by its path with the interpreter of the engine's own environment, which may know
nothing of csbdata: only the standard library is imported, and the protocol and the
engine's file are loaded by their paths.

    worker.py PATH-OF-worker_protocol.py FILE-FOR-WHAT-IS-PRINTED

Three questions are answered, of which a unit needs the latter two:

    {"about": true}                      -> {"version": "1.9.1"}
    {"compile": "<schema>"}              -> {"compile_ns": 1, ...} or {"refusal": "why"}
    {"walks": [[tokens], ...], "seconds": 40.0}
                                         -> {"walks": [...], "first_mask_ns": 1, ...}

Whatever an engine prints, by whichever layer, goes to the file and comes back as
`printed` with the answer to the question during which it was written.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib.util
import os
import sys
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    Json = Any

#: Bytes of what is printed that come back with one answer.
_MOST_PRINTED = 8 * 1024
_MOST_WARNINGS = 50
_ACCEPTED, _BLOCKED, _UNFINISHED, _LIED, _NOT_RUN = (
    "accepted",
    "blocked",
    "unfinished",
    "lied",
    "not_run",
)


class Vocabulary:
    """What an engine's `load` is given, see `evaluation.protocol.Tokenizer`."""

    def __init__(self, given: dict[str, Json]) -> None:
        """Read the tokens' file: base64 by id, or null."""
        import json  # noqa: PLC0415 - once a process
        from binascii import a2b_base64  # noqa: PLC0415 - once a process

        with open(given["tokens"], "rb") as file:  # noqa: PTH123 - pathlib is slow to import
            listed = json.load(file)
        self.token_bytes = [
            None if each is None else a2b_base64(each) for each in listed
        ]
        self.vocab_size: int = given["vocab_size"]
        self.eos_id: int = given["eos_id"]
        self.special_ids: list[int] = given["special_ids"]
        self.kind: str = given["kind"]
        self.tokenizer_json: str = given["tokenizer_json"]


class Printed:
    """The file that standard output and standard error lead to."""

    def __init__(self, path: str) -> None:
        """Turn both there, for Python and for native code alike."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        for each in (1, 2):
            os.dup2(descriptor, each)
        self._file = descriptor
        self._flush = _flusher()

    def take(self) -> str:
        """Return what was printed since the last call, its end where it is long."""
        self._flush()
        size = os.fstat(self._file).st_size
        if not size:
            return ""
        content = os.pread(self._file, _MOST_PRINTED, max(0, size - _MOST_PRINTED))
        os.ftruncate(self._file, 0)
        return content.decode("utf-8", "replace")


def _flusher() -> Callable[[], None]:
    """Return what writes out the buffers of Python and of the C library."""
    with contextlib.suppress(ImportError, OSError, AttributeError, TypeError):
        import ctypes  # noqa: PLC0415 - not on every platform

        flush_all = ctypes.CDLL(None).fflush

        def flush() -> None:
            _flush_python()
            flush_all(None)

        return flush
    return _flush_python


def _flush_python() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()


class Bench:
    """One engine, and the grammar that it compiled last."""

    def __init__(self, engine: Any, setup: dict[str, Json], printed: Printed) -> None:  # noqa: ANN401 (typed by shape)
        """Take the engine that `load` returned."""
        self._engine = engine
        self._printed = printed
        self._mask_bytes = (setup["tokenizer"]["vocab_size"] + 7) // 8
        #: Whether a token outside the mask may be offered to `commit`.
        self._checks_commit: bool = setup["checks_commit"]
        self._grammar: Any = None
        self._compiled = False

    def warm_up(self) -> None:
        """Have what is done once per process done before anything is timed.

        Whatever comes of it is of no interest, and no unit's fault.
        """
        with contextlib.suppress(Exception):
            grammar = self._engine.compile('{"type": "boolean"}')
            self._engine.start(grammar).mask()
        self._printed.take()

    def answer(self, question: dict[str, Json]) -> Json:
        """Answer one question; adds what was printed, memory and quiet."""
        before = _switches()
        if "compile" in question:
            found = self._compile(question["compile"])
        elif "walks" in question:
            found = self._walk_all(question)
        else:
            found = {"version": str(getattr(self._engine, "version", ""))}
        after = _switches()
        found["quiet"] = None if before is None else before == after
        found["printed"] = self._printed.take()
        found["rss_bytes"] = _resident()
        return found

    def _compile(self, schema: str) -> dict[str, Json]:
        self._grammar, self._compiled = None, False
        gc.collect()
        start = perf_counter_ns()
        try:
            self._grammar = self._engine.compile(schema)
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # noqa: BLE001 - a panic of native code is none of Exception
            return {"refusal": told(error)}
        end = perf_counter_ns()
        self._compiled = True
        return {"compile_ns": end - start, "warnings": self._warnings()}

    def _warnings(self) -> list[str]:
        ask = getattr(self._engine, "warnings", None)
        if ask is None:
            return []
        return [str(each)[:1000] for each in ask(self._grammar)][:_MOST_WARNINGS]

    def _walk_all(self, question: dict[str, Json]) -> dict[str, Json]:
        if not self._compiled:
            return {"walks": []}
        seconds = question["seconds"]
        deadline = perf_counter_ns() + int(seconds * 1e9)
        found: list[Json] = []
        first, raised, late = None, "", False
        for tokens in question["walks"]:
            if late:
                break
            if tokens is None:
                why = "no tokens of this vocabulary spell it"
                found.append([_NOT_RUN, None, [], [], None, why])
                continue
            walk = _Walk(tokens, self._mask_bytes, deadline, self._checks_commit)
            try:
                walk.run(self._engine, self._grammar)
            except (KeyboardInterrupt, MemoryError):
                raise
            except BaseException as error:  # noqa: BLE001 - as above
                walk.verdict, walk.detail = _NOT_RUN, told(error)
                raised = raised or walk.detail
            first = walk.first_ns if first is None else first
            late = walk.late
            found.append(walk.told())
        return {
            "walks": found,
            "first_mask_ns": first,
            "raised": raised,
            "late": f"not through within {seconds:g} s" if late else "",
        }


class _Walk:
    """One text on its way through the masks."""

    def __init__(
        self,
        tokens: Sequence[int],
        mask_bytes: int,
        deadline: int,
        checks: bool,  # noqa: FBT001 (made in one place)
    ) -> None:
        self.tokens = tokens
        self.mask_bytes = mask_bytes
        self.deadline = deadline
        self.checks = checks
        self.verdict, self.detail = _ACCEPTED, ""
        self.at: int | None = None
        self.mask_ns: list[int] = []
        self.commit_ns: list[int] = []
        self.forced: int | None = 0
        self.first_ns: int | None = None
        self.late = False

    def told(self) -> Json:
        return [
            self.verdict,
            self.at,
            self.mask_ns,
            self.commit_ns,
            self.forced,
            self.detail,
        ]

    def run(self, engine: Any, grammar: Any) -> None:  # noqa: ANN401 (typed by shape)
        start = perf_counter_ns()
        matcher = engine.start(grammar)
        made = perf_counter_ns() - start
        mask_of, commit = matcher.mask, matcher.commit
        forced_of = getattr(matcher, "forced", None)
        ahead: list[int] = []
        clock = perf_counter_ns
        for index, token in enumerate(self.tokens):
            start = clock()
            mask = mask_of()
            end = clock()
            self.mask_ns.append(end - start)
            if not index:
                self.first_ns = made + end - start
            if end > self.deadline:
                self._stop(_NOT_RUN, index, "no time left", late=True)
                return
            allowed = self._allowed(mask, token, index)
            if allowed is None:
                return
            if forced_of is not None:
                ahead = self._count_forced(ahead or forced_of(), token)
            if not allowed:
                self._refused(matcher, index)
                return
            start = clock()
            taken = truth(commit, token)
            self.commit_ns.append(clock() - start)
            if not taken:
                what = f"token {token} is in the mask, and commit refuses it"
                self._stop(_LIED, index, what + reason(matcher))
                return
        if forced_of is None:
            self.forced = None
        if not matcher.may_end():
            self.verdict = _UNFINISHED

    def _allowed(self, mask: Any, token: int, index: int) -> bool | None:  # noqa: ANN401 (any buffer)
        """Tell whether the token is in the mask; None if the mask is too small."""
        view = memoryview(mask)
        if view.itemsize != 1:
            view = view.cast("B")
        if len(view) < self.mask_bytes:
            what = f"a mask of {len(view)} bytes where {self.mask_bytes} are needed"
            self._stop(_LIED, index, what)
            return None
        return bool(view[token >> 3] >> (token & 7) & 1)

    def _count_forced(self, ahead: Sequence[int] | None, token: int) -> list[int]:
        """Count the token if it is the only way on; return what is forced after it."""
        if ahead is None or self.forced is None:
            self.forced = None
            return []
        if not ahead or ahead[0] != token:
            return []
        self.forced += 1
        return list(ahead[1:])

    def _refused(self, matcher: Any, index: int) -> None:  # noqa: ANN401 (typed by shape)
        """Book a token that is not in its mask; see whether commit thinks otherwise.

        An engine may offer one way of cutting a forced text into tokens in its mask
        and take others; it lies only if it takes the whole text by commits alone.
        """
        self._stop(_BLOCKED, index, "")
        if not self.checks:
            return
        for place in range(index, len(self.tokens)):
            if not truth(matcher.commit, self.tokens[place]):
                if place > index:
                    self.detail = f"commit refuses only token {place}"
                return
        what = f"token {self.tokens[index]} is not in the mask, and commit takes it"
        if matcher.may_end():
            self._stop(_LIED, index, f"{what} and all behind it")

    def _stop(self, verdict: str, index: int, what: str, *, late: bool = False) -> None:
        self.verdict, self.at, self.detail, self.late = verdict, index, what, late


def truth(commit: Callable[[int], bool], token: int) -> bool:
    """Commit a token; an exception is a refusal."""
    try:
        return bool(commit(token))
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException:  # noqa: BLE001 - as above
        return False


def reason(matcher: Any) -> str:  # noqa: ANN401 (typed by shape)
    """Return why the last commit was refused, if the engine says so: one line."""
    ask = getattr(matcher, "reason", None)
    if ask is None:
        return ""
    try:
        text = str(ask() or "").partition("\n")[0].strip()[:500]
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - as above
        text = told(error)
    return f": {text}" if text else ""


def told(error: BaseException) -> str:
    """Return an error's type and message, in characters that JSON can hold."""
    text = f"{type(error).__name__}: {str(error)[:2000]}"
    return text.encode("utf-8", "backslashreplace").decode()


def _switches() -> int | None:
    """Return how often this process was interrupted; None where nobody counts."""
    try:
        import resource  # noqa: PLC0415 - POSIX only
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def _resident() -> int | None:
    """Return the resident bytes of this process; None where Linux is not."""
    with contextlib.suppress(OSError), open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - pathlib is slow to import
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return None


def _pin(core: int | None) -> None:
    """Stay on one core, where that can be asked for."""
    if core is not None and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {core})


def _module(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Serve until the driver closes its end."""
    protocol = _module("csbdata_worker_protocol", sys.argv[1])
    printed = Printed(sys.argv[2])
    faulthandler.enable(2)

    def start(setup: dict[str, Json]) -> Callable[[Json], Json]:
        _pin(setup["core"])
        module = _module("csbdata_engine", setup["engine"])
        engine = module.load(Vocabulary(setup["tokenizer"]), setup["options"])
        bench = Bench(engine, setup, printed)
        bench.warm_up()
        gc.disable()
        return bench.answer

    protocol.serve(start)


if __name__ == "__main__":
    main()

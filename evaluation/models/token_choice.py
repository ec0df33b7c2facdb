"""Choose tokens on the model's device: masks applied, draws, greedy choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from evaluation.models.hardware import DeviceClock, TimedWork, to_device


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLogits:
    """The logits of one text, where its model is."""

    #: Those of all texts of the pass: float32, shape (texts, vocabulary).
    of: torch.Tensor
    #: Which of them is meant.
    row: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMask:
    """The token mask of one text, where its engine has written it."""

    #: Those of all texts of the engine: `uint8`, shape (texts, bytes), a bit for each
    #: token, the lowest of a byte first; a token beyond them may not come next.
    of: np.ndarray
    #: Which of them is meant.
    row: int = 0


def mask_bytes(size: int) -> int:
    """Return the bytes of a packed mask over so many tokens: whole 32-bit words."""
    return -(-size // 32) * 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenQuestion:
    """From what the next token of one text is chosen."""

    logits: RowLogits
    #: None allows all; of a batch that is all or none.
    allowed: RowMask | None = None
    #: 0 takes the likeliest token; above, one is drawn.
    temperature: float = 0.0
    #: From 0 to 1: which one.
    draw: float = 0.0
    look_for_ties: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenToken:
    """What was chosen for one text."""

    token: int
    #: The best logit of those that are allowed: minus infinity where none is.
    best: float
    #: Whether another token is so close that sums in another order might choose it;
    #: False if not requested.
    tied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenTokens:
    """What was chosen for the texts of a batch; the device has done all till then."""

    tokens: Sequence[ChosenToken]
    #: Transfer of the masks to the device, and applying them; None without masks.
    transfer: TimedWork | None
    apply: TimedWork | None
    #: Choosing, or drawing.
    sampling: TimedWork


class TokenChooser:
    """Chooses tokens on one device; greedy unless a question's temperature is above 0.

    Example:
        >>> chooser = TokenChooser(device, DeviceClock(device), tie=0.0)
        >>> chooser.choose([TokenQuestion(logits=RowLogits(of=logits, row=0))])
    """

    def __init__(self, device: torch.device, clock: DeviceClock, tie: float) -> None:
        """Prepare the table by which masks are unpacked.

        Args:
            device: Where the logits are.
            clock: Takes the times.
            tie: Share of the best logit within which another one is tied with it.
        """
        self._device = device
        #: Takes the times of the device.
        self.clock = clock
        self._tie = tie
        bits = np.unpackbits(
            np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little"
        )
        #: For each byte of a mask the addends of the logits of its eight tokens.
        self._penalties = to_device(
            torch.from_numpy(np.where(bits == 1, 0.0, -np.inf).astype(np.float32)),
            device,
        )
        #: Where masked logits are put: new memory for each costs as much as they do.
        self._scratch = self._penalties.new_empty(0, 8)

    @torch.inference_mode()
    def choose(self, questions: Sequence[TokenQuestion]) -> ChosenTokens:
        """Choose the next token of each text.

        Args:
            questions: The input of each choice; all logits have one length.
        """
        transfer = apply = None
        logits = _together([question.logits for question in questions])
        masks = [
            question.allowed for question in questions if question.allowed is not None
        ]
        if masks:
            logits, transfer, apply = self.masked(masks, logits)
        begun = self.clock.moment()
        best, tokens = _best(logits)
        _draw(questions, logits, best, tokens)
        columns = [tokens.double(), best.double()]
        if any(question.look_for_ties for question in questions):
            # How many tokens sums in another order might choose.
            bound = best - self._tie * best.abs()
            columns.append((logits >= bound[:, None]).sum(dim=1).double())
        table = torch.stack(columns)
        took = self.clock.since(begun)
        # The only wait for the device.
        tokens_read = _read(questions, table.cpu().numpy())
        return ChosenTokens(
            tokens=tokens_read, transfer=transfer, apply=apply, sampling=took
        )

    def masked(
        self, masks: Sequence[RowMask], logits: torch.Tensor
    ) -> tuple[torch.Tensor, TimedWork, TimedWork]:
        """Return the logits, minus infinity where a token may not come next.

        All masks lie in one memory, and are as wide as the logits or wider.
        A sum keeps NaN at its index, allowed or not. The
        result is overwritten by the next call.

        Returns:
            The masked logits, the transfer of the masks, and applying them.
        """
        begun = self.clock.moment()
        texts, size = logits.shape
        packed = self._on_device(masks, mask_bytes(size))
        transfer, begun = self.clock.since(begun), self.clock.moment()
        if self._scratch.shape[0] != packed.numel():
            self._scratch = self._penalties.new_empty(packed.numel(), 8)
        index = packed.reshape(-1).int()
        torch.index_select(self._penalties, 0, index, out=self._scratch)
        allowed = self._scratch.view(texts, -1)[:, :size].add_(logits)
        return allowed, transfer, self.clock.since(begun)

    def _on_device(self, masks: Sequence[RowMask], width: int) -> torch.Tensor:
        """Return so many bytes of each mask, where the logits are."""
        of, rows = masks[0].of, [mask.row for mask in masks]
        first = rows[0]
        is_run = rows == [*range(first, first + len(rows))]
        chosen = of[first : first + len(rows)] if is_run else of[rows]
        return to_device(torch.from_numpy(chosen[:, :width]), self._device)


def _draw(
    questions: Sequence[TokenQuestion],
    logits: torch.Tensor,
    best: torch.Tensor,
    tokens: torch.Tensor,
) -> None:
    """Put drawn tokens in the place of the likeliest where a temperature is above 0."""
    for row, question in enumerate(questions):
        if question.temperature:
            distance = logits[row].double() - best[row]
            bounds = (distance / question.temperature).exp().cumsum(dim=0)
            place = question.draw * bounds[-1]
            tokens[row] = torch.searchsorted(bounds, place, right=True)


def _together(rows: Sequence[RowLogits]) -> torch.Tensor:
    """Return the logits of all texts, as they are where they lie together."""
    one = rows[0].of
    if any(row.of is not one for row in rows):
        return torch.stack([row.of[row.row] for row in rows])
    places = [row.row for row in rows]
    if places == list(range(len(one))):
        return one
    return one[places[0] : places[0] + 1] if len(places) == 1 else one[places]


def _best(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the best logit of each row and its token; NaN beats all.

    On a CPU numpy reads the same memory: torch takes 20 times as long.
    """
    if logits.device.type != "cpu":
        best = logits.max(dim=1)
        return best.values, best.indices
    array = logits.numpy()
    tokens = array.argmax(axis=1)
    best_here = array[np.arange(len(array)), tokens]
    return torch.from_numpy(best_here), torch.from_numpy(tokens)


def _read(questions: Sequence[TokenQuestion], table: np.ndarray) -> list[ChosenToken]:
    """Return the choices, from a column a text: token, best logit, tokens near."""
    near = table[2] if len(table) > 2 else [1.0] * len(questions)  # noqa: PLR2004 - the third line
    return [
        ChosenToken(
            token=int(token),
            best=float(best),
            tied=bool(one.look_for_ties and count > 1),
        )
        for one, token, best, count in zip(questions, *table[:2], near, strict=True)
    ]

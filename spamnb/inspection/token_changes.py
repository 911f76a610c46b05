"""Tokens that a model has gained lately, and telling ones that have not been seen for as long."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spamnb.arrays import Array
from spamnb.clock import today
from spamnb.inspection.model_summary import TellingToken, TopTokens, token_leads
from spamnb.model import Model
from spamnb.tables.vocabulary import Block, Vocabulary

LOST_WITHIN = 3  # times the days asked for: what was not seen for longer was lost before


class TokenChanges(NamedTuple):
    """The most telling tokens gained and lost, a list for each label."""

    gained: list[list[TellingToken]]
    lost: list[list[TellingToken]]


def token_changes(model: Model, days: int, top: int) -> TokenChanges:
    """Find tokens first seen within some days, and those last seen before that, but not long before."""
    vocabulary, now = Vocabulary(model.stored), today()
    gained, lost = ([TopTokens(top) for _ in model.labels] for _ in range(2))
    for block in vocabulary.blocks() if model.view.event != "gaussian" else ():
        last = block.last_days.astype(int)
        for found, chosen in (
            (gained, block.first_days > now - days),
            (lost, (last <= now - days) & (last > now - LOST_WITHIN * days)),
        ):
            add_chosen(model, found, block, np.flatnonzero(chosen))
    return TokenChanges(
        [tokens.telling_tokens(vocabulary) for tokens in gained],
        [tokens.telling_tokens(vocabulary) for tokens in lost],
    )


def add_chosen(model: Model, found: list[TopTokens], block: Block, chosen: Array) -> None:
    """Rank some tokens of a block, for each label."""
    leads = np.zeros((len(model.labels), len(block.fingerprints)))
    counts = block.message_counts[:, chosen], block.occurrence_counts[:, chosen]
    leads[:, chosen] = token_leads(model.classifier, *counts)
    for label_index, tokens in enumerate(found):
        tokens.add(block, leads[label_index], label_index)

"""An explanation as plain values, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spamnb.inspection.unread import headers_unread, hidden_words, parts_unread

if TYPE_CHECKING:
    from spamnb.inspection.explanation import Explanation
    from spamnb.inspection.reason import Reason
    from spamnb.store.counts import Row


def described(why: Explanation, path: str) -> dict[str, Any]:
    return {
        "path": path,
        **why.verdict.as_map(),
        "cutoffs": [why.cutoffs.ham, why.cutoffs.spam] if why.cutoffs else None,
        "toward": why.sides[1],
        "against": why.sides[0],
        "lead": why.lead,
        "sum": {
            "prior": why.prior,
            "absent": why.absent,
            "parts": [share._asdict() for share in why.shares],
        },
        "evidence": [reason(why, one) for one in why.reasons],
        "ignored": {
            "unknown": why.unknown,
            "weak": [{"token": one.token, **counts(why, one.row), "weight": one.weight} for one in why.weak],
            "pairs": why.silent_pairs,
            "hidden": hidden_words(why.features),
            "headers": headers_unread(why.message, why.model.settings.headers),
            "parts": parts_unread(why.message),
        },
        "flips": [flip._asdict() for flip in why.flips],
    }


def reason(why: Explanation, one: Reason) -> dict[str, Any]:
    labels = why.model.labels
    return {
        "token": one.token,
        "where": one.where,
        **counts(why, one.row),
        "times": one.evidence.times,
        "weights": dict(zip(labels, one.evidence.weights, strict=True)),
        "weight": one.weight,
        "adds": one.adds,
    }


def counts(why: Explanation, row: Row) -> dict[str, Any]:
    labels = why.model.labels
    return {
        "messages": dict(zip(labels, row[: len(labels)], strict=True)),
        "occurrences": dict(zip(labels, row[len(labels) :], strict=False)),
    }

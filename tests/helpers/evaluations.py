"""Made-up evaluations for tests of pages: usual ones, and ones of mail that attacks the page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helpers.pages import ATTACKS
from spamnb.evaluation.metrics import measure
from spamnb.evaluation.results import CurvePoint, Evaluation, JudgedMessages, Mistake
from spamnb.mailboxes.skipped import Unreadable


def judged(messages=400, labels=("ham", "spam"), **changes):
    random = np.random.default_rng(1)
    truth = np.arange(messages) % len(labels)
    score = random.normal(4 * truth - 2, 1.5)
    probability = random.dirichlet(np.full(len(labels), 0.4), messages)
    verdict = np.where(random.random(messages) < 0.05, -1, probability.argmax(axis=1))
    if len(labels) == 2:
        verdict = np.where(score > 0.5, 1, np.where(score < -0.5, 0, -1))
        spam = 1 / (1 + np.exp(-2 * score))
        probability = np.stack([1 - spam, spam], axis=1)
    names: list[tuple[str, int | None]] = [(f"mail/{place}", None) for place in range(messages)]
    cutoffs = (-0.5, 0.5) if len(labels) == 2 else None
    usual = JudgedMessages(tuple(labels), truth, verdict, score, probability, names, [], cutoffs)
    return replace(usual, **changes)


def evaluation(found=None, **changes):
    found = found or judged()
    figures = (found.labels, found.truth, found.verdict, found.score, found.probability)
    metrics = measure(*figures) | {"folds": 10}
    whole = Evaluation("in 10 folds", found, metrics, [mistake()], 3, [])
    return replace(whole, **changes)


def mistake(**changes):
    usual = Mistake("ham/1.eml", None, "Lunch?", "ham", "spam", 3.25, [("lunch", -2.5), ("free", 4.0)])
    return replace(usual, **changes)


def curve(points=1000):
    return [CurvePoint(n, 5 / n if n > 2 else None, 0.0, 50 / n, 100 / n) for n in range(1, points + 1)]


def hostile_evaluation():
    texts = [*ATTACKS, "\ud800"]
    found = judged(unreadable=[Unreadable(text, text) for text in texts])
    return evaluation(
        found,
        how=ATTACKS[0],
        mistakes=[mistake(path=text, subject=text, evidence=[(text, 1.0)] * 20, index=7) for text in texts],
        curve=curve(),
    )

"""`spamnb history`."""

from __future__ import annotations

import os
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from spamnb.bayes.verdict import score_text
from spamnb.cli.render.terminal import cut_text, print_json, print_json_lines, show, table
from spamnb.cli.shared.help import Number
from spamnb.cli.shared.options import Command, history_folder_option, json_option, refuse_without_effect
from spamnb.cli.shared.progress import progress
from spamnb.errors import NoInput, UsageError
from spamnb.history.log import DAY
from spamnb.labels import SPAM, UNSURE, plain_label

if TYPE_CHECKING:
    from spamnb.history.queries import History
    from spamnb.history.schema import Entry

EXAMPLES = """
spamnb classify -p --history < message
spamnb history
spamnb history --verdict unsure --since 7d
spamnb history invoice example.org
spamnb history --json --top 1000
spamnb history --summary ann
"""
UNITS = {"h": DAY / 24, "d": DAY, "w": 7 * DAY}  # seconds
WEEK = "7d"
EMPTY = "no verdicts yet; run `spamnb classify` or `spamnb serve` with --history"


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--verdict", metavar="LABEL", help="Only this verdict: ham, spam, unsure …")
@click.option(
    "--since", metavar="TIME", help="Only since this time: 12h, 7d or 2w ago, or a date such as 2026-11-16."
)
@click.option(
    "--summary", is_flag=True, help="Only print totals: judged, caught, unsure, corrected. Default: 7 days."
)
@click.option("--top", type=Number(1), default=50, show_default=True, metavar="N", help="Show at most N.")
@history_folder_option
@json_option
def history(
    words: tuple[str, ...],
    verdict: str | None,
    since: str | None,
    summary: bool,
    top: int,
    history_folder: str | None,
    as_json: bool,
) -> None:
    """Show recent verdicts, latest first; with WORDs, only mail with all of them in sender, subject or user.

    In a pipe, each line has time, verdict ("ham" for "not spam"), score, sender and subject, separated by
    tabs. The history is kept by `spamnb classify` and `spamnb serve` with --history.
    """
    from spamnb.history.queries import History

    if summary:
        refuse_without_effect("with --summary", "top")
    since = since or (WEEK if summary else None)
    asked: dict[str, Any] = {
        "text": " ".join(words),
        "verdict": verdict,
        "since": parse_since(since) if since else None,
    }
    if history_folder and not os.path.isdir(history_folder):
        raise NoInput(f"{history_folder}: no such folder; check --history-folder")
    with History.open(history_folder) as opened:
        gather(opened)
        if summary:
            print_summary(asked["since"], opened.counts(**asked), as_json)
            return
        found = opened.entries("time", limit=top, **asked)
    if as_json:
        print_json_lines(entry.as_map() for entry in found)
    elif not sys.stdout.isatty():
        for entry in found:
            click.echo("\t".join(cells(entry, "%Y-%m-%dT%H:%M:%S%z")))
    elif found:
        columns = ("time", "verdict", "score", "sender", "subject")
        rows = []
        for entry in found:
            judged, label, score, *texts = cells(entry, "%Y-%m-%d %H:%M")
            label = plain_label(label) + (
                f", now {plain_label(entry.correction)}" if entry.correction else ""
            )
            rows.append((judged, label, score, *map(cut_text, texts)))
        show(table(None, columns, rows, ("verdict", "sender", "subject")))
    else:
        show("nothing found" if words or verdict or since else EMPTY)


def gather(history: History) -> None:
    """Copy new verdicts from the log into the history, and show progress: 5,000 take half a minute."""
    left = total = history.bytes_left()
    with progress("reading new verdicts", lambda: total) as step:
        while count := history.gather(seconds=0):
            before, left = left, history.bytes_left()
            step(before - left, count)


SUMMARY = {  # the text of each figure
    "judged": "messages judged",
    "spam_caught": "judged spam, and not corrected",
    "unsure": "unsure",
    "corrected": "corrected by a person",
    "ham_lost": "judged spam, but is not spam",
    "spam_missed": "judged not spam, but is spam",
}


def print_summary(start: float, counts: dict[tuple[str, str | None], int], as_json: bool) -> None:
    """Print totals of the mail judged since `start`; `counts`: messages by (verdict, correction or None)."""
    figures = dict.fromkeys(SUMMARY, 0)
    for (verdict, label), times in counts.items():
        is_spam = verdict == SPAM
        applies = {
            "judged": True,
            "spam_caught": is_spam and label in (None, SPAM),
            "unsure": verdict == UNSURE,
            "corrected": label not in (None, verdict),
            "ham_lost": is_spam and label not in (None, SPAM),
            "spam_missed": verdict not in (SPAM, UNSURE) and label == SPAM,
        }
        for name in SUMMARY:
            figures[name] += times * applies[name]
    if as_json:
        print_json({"since": start, **figures})
        return
    show(f"since {datetime.fromtimestamp(start).astimezone():%Y-%m-%d %H:%M}")
    for name, number in figures.items():
        share = (
            f", {100 * number / figures['judged']:.1f} % of all mail" if name != "judged" and number else ""
        )
        show(f"{SUMMARY[name]}: {number:,}{share}")


def cells(entry: Entry, time_format: str) -> list[str]:
    judged = datetime.fromtimestamp(entry.time).astimezone().strftime(time_format)
    return [judged, entry.verdict, score_text(entry.score), entry.sender, entry.subject]


def parse_since(text: str) -> float:
    """Convert an age such as `7d`, or a date such as `2026-11-16`, to a time in seconds since 1970."""
    number, unit = text[:-1], text[-1:]
    if unit in UNITS and number.isascii() and number.isdecimal() and len(number) < 6:
        return time.time() - int(number) * UNITS[unit]
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise UsageError(f"--since takes 12h, 7d, 2w or a date such as 2026-11-16, not {text!r}") from None

"""What `spamnb imap` prints about accounts and messages."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from spamnb.bayes.verdict import score_text
from spamnb.cli.render.terminal import cut_text, print_json_lines, show, table
from spamnb.cli.shared.progress import said
from spamnb.files import complain, counted, printable
from spamnb.labels import HAM, SPAM, UNSURE, plain_label
from spamnb.reading.envelope import sender_name

if TYPE_CHECKING:
    from spamnb.imap.mailbox import Event
    from spamnb.imap.setup import Learned
    from spamnb.reading.envelope import Envelope
    from spamnb.training.known_messages import Summary

WIDEST = 60  # characters of a subject
MAX_SHOWN = 10  # messages listed


class EventPrinter:
    """Prints a line about each message, with tabs between its fields, and a summary of each visit.

    With `private`, senders and subjects are left out; with `is_brief`, only errors and summaries are printed.
    """

    def __init__(self, as_json: bool, private: bool, is_brief: bool = False) -> None:
        self.as_json = as_json
        self.private = private
        self.is_brief = is_brief
        self.met: set[str] = set()  # accounts that were visited before
        self.judged: dict[str, Counter[str]] = {}  # account → outcome → messages
        self.learned: Counter[str] = Counter()
        # Account → (Junk, folder to which mail was moved back from Junk, or "") → messages.
        self.rescued: dict[str, Counter[tuple[str, str]]] = {}
        self.late: dict[str, list[Event]] = {}  # account → mail moved later than judged

    def __call__(self, event: Event) -> None:
        said()
        if self.as_json:
            facts = event.as_map()
            if self.private:
                facts = {name: value for name, value in facts.items() if name not in ("sender", "subject")}
            print_json_lines([facts])
            return
        place = f"{event.account}/{event.folder}" + (f"/{event.uid}" if event.uid else "")
        if event.failed:
            complain(f"{place}: {event.what}")
            return
        if event.is_rescued:
            target = "" if event.planned else event.target
            self.rescued.setdefault(event.account, Counter())[event.folder, target] += 1
        elif event.since:
            self.late.setdefault(event.account, []).append(event)
        elif event.learned:
            self.learned[event.account] += 1
        else:
            self.judged.setdefault(event.account, Counter())[outcome_of(event)] += 1
        if self.is_brief:
            return
        found = plain_label(event.learned or event.verdict)
        score = "" if event.score is None else score_text(event.score)
        texts = [] if self.private else [event.sender[:WIDEST], event.subject[:WIDEST]]
        print("\t".join(printable(text) for text in (found, score, place, event.what, *texts)), flush=True)

    def end_visit(self, account: str, always: bool = True) -> None:
        """Print the summary of a visit; without `always`, only if there is news or it is the first visit."""
        judged, learned = self.judged.pop(account, Counter()), self.learned.pop(account, 0)
        late, rescued = self.late.pop(account, []), self.rescued.pop(account, Counter())
        is_first = account not in self.met
        self.met.add(account)
        if self.as_json or not (judged or learned or late or rescued or always or is_first):
            return
        outcomes = ", ".join(f"{n} {what}" for what, n in judged.most_common())
        output = f"{judged.total()} judged: {outcomes}" if judged else "nothing new"
        output += f"; {counted(learned, 'correction')} learned" if learned else ""
        for (junk, target), count in rescued.items():
            verb = "looks" if count == 1 else "look"
            back = f", moved back to {target}" if target else ""
            output += f"; {counted(count, 'message')} in {junk} {verb} like mail you keep{back}"
        if late:
            oldest = datetime.fromtimestamp(min(event.since or 0.0 for event in late))
            output += (
                f"; {len(late):,} moved now that could not be moved before, since {oldest:%Y-%m-%d %H:%M}"
            )
        print(f"{account}: {printable(output)}", flush=True)


def outcome_of(event: Event) -> str:
    """Return a few words on what is done with a judged message."""
    if event.target:
        return f"would go to {event.target}" if event.planned else f"to {event.target}"
    if event.flag:
        return "would be flagged" if event.planned else "flagged"
    return "unsure" if event.verdict == UNSURE else "stay"


def show_accounts(found: Iterable[dict[str, Any]]) -> None:
    """Print for each account what the server can do, the purpose of each folder, and what would be done."""
    from spamnb.imap.setup import USEFUL

    for facts in found:
        print(f"{facts['account']}: {facts['server']}, TLS {facts['tls']}")
        for name, there in facts["can"].items():
            print(f"  has {name}" if there else f"  lacks {name}: {USEFUL[name]}")
        for folder in facts["folders"]:
            messages = counted(folder["messages"], "message") if "messages" in folder else folder["why"]
            print(f"  {plain_label(folder['is'])}: {printable(folder['folder'])}, {printable(messages)}")
        print(f"  action {facts['action']}: {printable(facts['would'])}")
        missing = "" if os.path.exists(facts["model"]) else " (not there yet)"
        print(f"  model: {printable(facts['model'])}{missing}")


def show_learned(found: Iterable[Learned], wrong: Iterable[str]) -> None:
    """Print the folders that training will use, how many messages it will learn from each, and warnings."""
    print("to learn from:")
    for one in found:
        some = f"{one.messages:,} of " if one.messages != one.of else ""
        note = f" ({one.note})" if one.note else ""
        about = f"{some}{counted(one.of, 'message')}{note}"
        print(f"  {plain_label(one.label):<8}  {printable(one.folder)}: {about}")
    for why in wrong:
        print(f"warning: {printable(why)}")


def show_training(summary: Summary, labels: Iterable[str], model: str) -> None:
    """Print what was learned, and how good verdicts are if each message is judged without its own counts."""
    from spamnb.cli.render.training import show_outcomes
    from spamnb.inspection.assessment import verdicts_left_out
    from spamnb.store.stored_model import StoredModel

    show_outcomes(summary, dict.fromkeys(labels, ()), plain_label)
    print(f"model: {printable(model)}")
    if not (shares := verdicts_left_out(StoredModel.open(model))):
        print("too little mail was learned to find the cutoffs, so all mail is unsure")
        return
    print("verdicts on this mail, each message judged as if it had not been learned:")
    for label, other, words in ((SPAM, HAM, ("caught", "missed")), (HAM, SPAM, ("kept", "taken for spam"))):
        right, unsure, wrong = (f"{100 * shares[label][name]:.1f} %" for name in (label, UNSURE, other))
        print(f"  {plain_label(label)}: {right} {words[0]}, {unsure} unsure, {wrong} {words[1]}")


def show_doubted(found: Sequence[Envelope], junk: str) -> None:
    """Print the messages in Junk that look like mail to keep, and so were not learned as spam."""
    if found:
        verb, count = "looks" if len(found) == 1 else "look", counted(len(found), "message")
        print(f"{count} in {printable(junk)}, not learned as spam, {verb} like mail you keep:")
        show_messages(None, [(one.sender, one.subject) for one in found])
        print("If one is not spam, move it to the inbox; `spamnb imap digest` lists these messages, too.")


def show_messages(title: str | None, found: Sequence[tuple[str, str]], of_the_rest: str = "") -> None:
    """Print sender and subject of the first MAX_SHOWN messages, and how many more there are."""
    if rows := [(sender_name(sender), subject) for sender, subject in found[:MAX_SHOWN]]:
        columns = ("sender", "subject")
        show(table(title, columns, [tuple(map(cut_text, row)) for row in rows], columns))
    if len(found) > MAX_SHOWN:
        print(f"  and {len(found) - MAX_SHOWN:,} more{of_the_rest}")


def show_trial(found: Sequence[Event]) -> None:
    """Print how the inbox was judged, and the mail judged spam, the least certain first."""
    if not found:
        print("Nothing was judged: the inbox has no mail except learned messages.")
        return
    verdicts = Counter(event.verdict for event in found)
    others = [label for label in verdicts if label not in (SPAM, HAM, UNSURE)]
    output = ", ".join(f"{verdicts[label]:,} {plain_label(label)}" for label in (SPAM, HAM, *others, UNSURE))
    print(f"Verdicts on {counted(len(found), 'message')} of your inbox: {output}.")
    spam = sorted(
        (event.score or 0.0, event.sender, event.subject) for event in found if event.verdict == SPAM
    )
    show_messages("judged spam, the least certain first", [one[1:] for one in spam], ", more certainly spam")

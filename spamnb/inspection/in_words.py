"""The reasons for a verdict in plain words: a sentence, and a phrase for each of the strongest reasons.

Only visible words of letters and names of hosts are quoted, if short and in several learned messages. So no
address, number, code, password, link path or hidden text is quoted.
"""

from __future__ import annotations

from spamnb.core.native import BODY, HEAD, fingerprints_of
from spamnb.inspection.comparison import compared_labels, difference, divisors_of, evidence_between
from spamnb.labels import HAM, MAIL_KEPT, SPAM, UNSURE, plain_label
from spamnb.reading.envelope import envelope_of

TYPE_CHECKING = False  # a delivery loads no typing
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spamnb.bayes.verdict import Evidence, Score, Verdict
    from spamnb.core.native import FeatureSet, Message
    from spamnb.model import Model

MAX_REASONS = 4
MAX_IN_HEADER = 3  # reasons in X-Spamnb-Reason
MAX_READ = 60  # pieces of evidence, the strongest ones
MAX_QUOTED = 2  # words or hosts in a phrase
MAX_WORD, MIN_WORD = 24, 4  # characters of a quoted word; the minimum is for ASCII
MIN_MESSAGES = 3  # learned messages with a quoted word: a word in fewer of them may be a secret
CLEAR = 0.5  # nats by which text or headers must speak for a label, to be called like its mail

# The topic of a token, by its tag. Other headers are technical.
SUBJECT, WORDS, LINKS, SENDER, REPLY, ROUTE = "subject", "words", "links", "sender", "reply", "route"
TOPICS = {
    **dict.fromkeys(("from", "sender", "errors-to"), SENDER),
    **dict.fromkeys(("received", "x-originating-ip", "message-id"), ROUTE),
    **dict.fromkeys(("to", "cc"), "address"),
    **dict.fromkeys(("x-mailer", "user-agent", "x-mimeole", "x-library"), "program"),
    **dict.fromkeys(("type", "charset", "file"), "parts"),
    **{tag: tag for tag in ("subject", "auth", "html", "hidden", "date")},
    **{"url": LINKS, "reply-to": REPLY},
}
TECHNICAL = "technical"
# Phrases for a topic of which nothing can be quoted; "as in spam" or the like follows them.
PHRASES = {
    SUBJECT: "subject",
    WORDS: "words",
    LINKS: "links",
    SENDER: "sender",
    REPLY: "address for replies",
    ROUTE: "way it was sent",
    "address": "way it is addressed",
    "program": "mail program",
    "parts": "kinds of its parts",
    "auth": "proof of the sender",
    "html": "formatting",
    "hidden": "text hidden from view",
    "date": "time zone",
    "list": "mailing list",
    "thread": "conversation",
    TECHNICAL: "technical headers",
    "numbers": "length and look",
}
QUOTING = {
    SUBJECT: "subject says",
    WORDS: "says",
    LINKS: "links to",
    ROUTE: "sent through",
    SENDER: "sent from",
}
# Phrases for single tokens.
SAYING = {
    "from:reply-to=other": "replies go to another domain",
    "date:none": "date without a time zone",
    "to:undisclosed": "recipients are not named",
    "header:in-reply-to": "answers an earlier message",
    "header:references": "part of a conversation",
    "header:list-id": "comes by a mailing list",
}
REPEATED = "many of its phrases are known from spam"
MIN_REPEAT_GAIN = 1.0  # nats from which on this is a reason: a phrase or two may be the same by chance
# Sentences by the first word of a verdict's reason.
BY_SENDER = {
    "allowed": "its sender is on your list of allowed senders",
    "blocked": "its sender is on your list of blocked senders",
    "known": "it is like spam, but you know its sender",
}


class ReasonInWords:
    """A reason in words: a phrase, how many learned messages have this, and for which label it speaks."""

    __slots__ = ("counts", "label", "strength", "text")

    def __init__(self, text: str, counts: str, label: str, strength: float) -> None:
        self.text = text  # "links to example.top"
        self.counts = counts  # "in 41 spam and no other mail"; may be empty
        self.label = label
        self.strength = strength  # nats

    def __str__(self) -> str:
        return f"{self.text}, {self.counts}" if self.counts else self.text


def why_in_words(
    model: Model, message: Message, features: FeatureSet, score: Score, verdict: Verdict
) -> tuple[str, list[ReasonInWords]]:
    """Return a sentence on the verdict, and the strongest reasons: on both sides if the verdict is unsure."""
    label = plain_label(verdict.label)
    sentence = f"{label[:1].upper()}{label[1:]}: {reason(model, score, verdict)}."
    return sentence, reasons_in_words(model, message, features, score, verdict)


def short_reasons(
    model: Model, message: Message, features: FeatureSet, score: Score, verdict: Verdict
) -> list[str]:
    """Return at most two reasons, short enough for one line of a list."""
    found = reasons_in_words(model, message, features, score, verdict)
    if verdict.label != UNSURE and not verdict.reason:
        return [reason.text for reason in found[:2]]
    if verdict.is_spam is False:  # of several labels
        likes = [mail_name(score.labels, k).removeprefix("mail in ") for k in compared_labels(score, UNSURE)]
        return [f"{likes[1]} or {likes[0]}?"]
    why = reason(model, score, verdict)
    for word in ("the ", "reads ", "are "):  # what is left fits two lines of a phone
        why = why.replace(word, "")
    return [why, *(reason.text for reason in found[:1])]


def header_reasons(
    model: Model, message: Message, features: FeatureSet, score: Score, verdict: Verdict
) -> list[str]:
    """Return the strongest reasons, for the header X-Spamnb-Reason."""
    found = [reason(model, score, verdict)] if verdict.reason else []
    reasons = reasons_in_words(model, message, features, score, verdict)
    return [*found, *map(str, reasons)][:MAX_IN_HEADER]


def reason(model: Model, score: Score, verdict: Verdict) -> str:
    """Return the reason for a verdict, as the end of a sentence that begins with the verdict: "Spam: …"."""
    if verdict.reason:
        return BY_SENDER.get(verdict.reason.partition("=")[0], "by its sender")
    if not model.can_judge or (model.cutoffs and model.cutoffs.spam == float("inf")):
        return "too little mail was learned to judge by"
    toward, against = labels_in_question(score, verdict)
    likes = [mail_name(score.labels, k, toward, against) for k in (against, toward)]
    if verdict.label == UNSURE and verdict.is_spam is False:
        return f"not spam, but as much like {likes[0]} as like {likes[1]}"
    leads = [difference(part, toward, against) for part in score.parts] or [0.0, 0.0]
    text, head = ((abs(lead) >= CLEAR) * (1 if lead > 0 else -1) for lead in (leads[BODY], leads[HEAD]))
    somewhat = " somewhat" if verdict.label == UNSURE else ""
    if not text and not head:
        lead = difference(score.joint, toward, against)
        if verdict.label == UNSURE or score.labels[toward if lead > 0 else against] != verdict.label:
            return f"little in it speaks for {likes[1]} or for {likes[0]}"
        return f"it is written like {likes[lead > 0]}"
    if text == head:
        return f"text and headers are{somewhat} like {likes[text > 0]}"
    if not head:
        return f"the text reads{somewhat} like {likes[text > 0]}, the headers say little"
    if not text:
        return f"the headers are{somewhat} like {likes[head > 0]}, the text says little"
    if verdict.label in (score.labels[toward if text > 0 else against], UNSURE):
        though = "" if verdict.label == UNSURE else "though "
        return f"the text reads like {likes[text > 0]}, {though}the headers like {likes[head > 0]}"
    return f"the headers are like {likes[head > 0]}, though the text reads like {likes[text > 0]}"


def mail_name(labels: Sequence[str], label: int, *compared: int) -> str:
    """Return a name for the mail of a label: MAIL_KEPT for ham, and for any label compared with spam."""
    name = labels[label]
    if name == SPAM:
        return "spam"
    is_about_spam = SPAM in [labels[k] for k in compared]
    return MAIL_KEPT if is_about_spam or name == HAM else f"mail in {name}"


def labels_in_question(score: Score, verdict: Verdict) -> tuple[int, int]:
    """Return the indices of two labels to compare; one is spam if it is unsure whether this is spam."""
    is_about_spam = verdict.is_spam is None and SPAM in score.labels
    return compared_labels(score, SPAM if is_about_spam else verdict.label)


def reasons_in_words(
    model: Model, message: Message, features: FeatureSet, score: Score, verdict: Verdict
) -> list[ReasonInWords]:
    """Return the strongest reasons for a verdict; for an unsure verdict, those for both labels compared."""
    toward, against = labels_in_question(score, verdict)
    label = verdict.label
    sign = {score.labels[against]: -1, score.labels[toward]: 1}.get(label, 0)
    topics: dict[tuple[str, bool], list[tuple[float, str, Evidence]]] = {}
    for adds, item in strongest(model, score, toward, against):
        if adds and sign * adds >= 0:
            token = features.text_of(item.feature)
            topics.setdefault((topic_of(token, item), adds > 0), []).append((adds, token, item))
    found = []
    for (topic, is_toward), items in topics.items():
        k = toward if is_toward else against
        others = mail_name(score.labels, k, toward, against)
        text, named = phrase(topic, others, items)
        shown = counts_text(named, score.labels, k, others) if named else ""
        if "”, “" in text:
            shown = f"the first {shown}"
        found.append(ReasonInWords(text, shown, score.labels[k], abs(sum([adds for adds, _, _ in items]))))
    if score.repeat_gain >= MIN_REPEAT_GAIN and label in (SPAM, UNSURE):
        found.append(ReasonInWords(REPEATED, "", SPAM, score.repeat_gain / 3))  # words say more
    found.sort(key=lambda reason: -reason.strength)
    if SPAM in (label, score.labels[toward] if not sign else "") and is_unknown_sender(
        model, message, features
    ):
        found = [one for one in found if not one.text.startswith(f"{PHRASES[SENDER]} ")]  # a name, at most
        found.insert(min(1, len(found)), ReasonInWords("unknown sender", "", SPAM, 0.0))
    return found[:MAX_REASONS]


def strongest(model: Model, score: Score, toward: int, against: int) -> Iterator[tuple[float, Evidence]]:
    """Yield the strongest evidence as (adds, evidence): what each adds to the lead of label `toward`."""
    evidence = evidence_between(score, toward, against)
    divisors = divisors_of(model.view, [item for item in evidence if item.row])
    added = [
        (
            difference(item.weights, toward, against) * (item.times or 1.0) / divisors.get(item.part, 1.0),
            item,
        )
        for item in evidence
    ]
    added.sort(key=lambda one: -abs(one[0]))
    yield from added[:MAX_READ]


def topic_of(token: str, item: Evidence) -> str:
    """Return the topic, such as `subject`, of a token, a pair of words or a number."""
    tag, colon, rest = token.partition(":")
    if isinstance(item.feature, str):
        return "numbers"
    if not colon:
        return WORDS
    if token.startswith("from:reply-to="):
        return REPLY
    name = rest if tag == "header" else tag
    if name in ("in-reply-to", "references"):
        return "thread"
    return (
        "list" if name.startswith("list-") else TECHNICAL if tag == "header" else TOPICS.get(tag, TECHNICAL)
    )


def phrase(topic: str, others: str, items: list[tuple[float, str, Evidence]]) -> tuple[str, Evidence | None]:
    """Return a phrase for evidence of one topic, and the evidence whose counts to show after it, or None."""
    for _, token, item in items:
        if token in SAYING:
            return SAYING[token], item
    items.sort(key=lambda one: (-abs(one[0]), " " in one[1], -len(one[1])))  # of equals the longest word
    quoted: list[str] = []
    first = None
    for _, token, item in items:
        text = quotable(topic, token) if topic in QUOTING and messages_of(item) >= MIN_MESSAGES else ""
        if text and not any(text in other or other in text for other in quoted):
            quoted.append(text)
            first = first or item
            if len(quoted) == MAX_QUOTED or topic not in (SUBJECT, WORDS):
                break
    if quoted:
        marks = "“{}”" if topic in (SUBJECT, WORDS) else "{}"
        return f"{QUOTING[topic]} {', '.join(map(marks.format, quoted))}", first
    return f"{PHRASES[topic]} as in {others}", None


def messages_of(item: Evidence) -> int:
    """Return how many learned messages had a piece of evidence."""
    return sum(item.row[: len(item.weights)])


def quotable(topic: str, token: str) -> str:
    """Return what may be quoted of a token: words of letters only, or the name of a host; otherwise ""."""
    if topic in (SUBJECT, WORDS):
        tag = "subject:" if topic == SUBJECT else ""
        words = token.split(" ")
        if not all(word.startswith(tag) and is_plain_word(word.removeprefix(tag)) for word in words):
            return ""
        return " ".join([word.removeprefix(tag) for word in words])
    host = token.partition(":")[2].lstrip("@.")
    parts = host.split(".")
    is_host = (
        len(parts) > 1 and all(part.replace("-", "").isalnum() for part in parts) and parts[-1].isalpha()
    )
    return host if is_host and len(host) <= 2 * MAX_WORD else ""


def is_plain_word(word: str) -> bool:
    """Return whether a word has only letters (and - or '), of any alphabet, and is not too short or long."""
    fewest = MIN_WORD if word.isascii() else 2
    letters = word.replace("'", "").replace("-", "")
    return (
        fewest <= len(word) <= MAX_WORD
        and word.isprintable()
        and (letters.isalpha() or (not letters.isascii() and not any(map(is_no_letter, letters))))
    )


def is_no_letter(char: str) -> bool:
    """Return whether a character is a digit, space or ASCII sign; vowel signs of Hindi and Thai are not."""
    return char.isnumeric() or char.isspace() or (char.isascii() and not char.isalpha())


def counts_text(item: Evidence, labels: Sequence[str], k: int, others: str) -> str:
    """Say how many learned messages had some evidence, such as "in 41 spam and no other mail" (`k`: spam)."""
    messages = item.row[: len(labels)]
    own, rest = messages[k], sum(messages) - messages[k]
    if labels[k] == SPAM:
        return f"in {own:,} spam and {number(rest)} other mail"
    if others == MAIL_KEPT:
        rest = messages[labels.index(SPAM)] if SPAM in labels else rest
        return f"in {number(sum(messages) - rest)} messages you keep and {number(rest)} spam"
    return f"in {own:,} messages in {labels[k]} and {number(rest)} others"


def number(messages: int) -> str:
    return f"{messages:,}" if messages else "no"


def is_unknown_sender(model: Model, message: Message, features: FeatureSet) -> bool:
    """Return whether no learned message came from the sender address of this message."""
    address = envelope_of(message).address
    (fingerprint,) = fingerprints_of([f"from:{address}"])
    has_token = bool(address) and any(token[0] == fingerprint for token in features.tokens)
    return has_token and not model.counts.lookup([fingerprint])

"""What the model knows of a word: its counts, its days, where else it stands, and its mail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from spamnb.files import counted
from spamnb.inspection.model_summary import telling_in_model
from spamnb.inspection.token_lookup import OtherToken, TokenFacts, by_label, fingerprint_of, look_up
from spamnb.model import Model
from spamnb.pages.elements import Markup, element, untrusted
from spamnb.pages.formats import count, signed
from spamnb.pages.parts import TOKEN, card, row, section, table, titled, token_text
from spamnb.reading.message import read
from spamnb.review.context import PageContext, heading
from spamnb.review.inbox import listed_messages

LONGEST_WORD = 200  # characters of what is looked up
TELLING = 15  # words of each label
SEARCHED, MAIL_SHOWN = 500, 20  # messages


def words_page(context: PageContext) -> str:
    asked = context.query.get("word", "").strip()[:LONGEST_WORD]
    intro = (
        "A word as it stands in a message, two neighbours, or one of a certain place, "
        "such as subject:free or url:example.org."
    )
    search = element(
        "form",
        element("label", "Word ", element("input", type="search", name="word", value=asked, id="search")),
        context.model_field(),
        element("button", "look up"),
        action="/words",
        class_="search",
    )
    sections = facts_sections(context, look_up(context.model, asked)) if asked else [telling(context)]
    return context.page(asked or "Words", heading("Words", intro), search, *sections)


def telling(context: PageContext) -> Markup:
    """List what tells most, before anything is asked."""
    model = context.model
    listed = [
        others(
            context,
            f"For {label}",
            [OtherToken(each.token, by_label(model, each.messages)) for each in found],
        )
        for label, found in telling_in_model(model, TELLING).items()
    ]
    return section(
        "Most telling", "In how many messages of each label.", element("div", listed, class_="telling")
    )


def facts_sections(context: PageContext, facts: TokenFacts) -> list[Markup | None]:
    elsewhere = others(context, "Elsewhere in a message", facts.elsewhere)
    title = untrusted(facts.token, TOKEN)
    return [section(title, summary(facts), cards(facts), elsewhere), mail(context, facts)]


def summary(facts: TokenFacts) -> str:
    if not facts.known:
        return "No message that was learned has it."
    days = f" First seen on {facts.first_seen}, last on {facts.last_seen}." if facts.first_seen else ""
    counts = "It counts as evidence." if facts.counts else "It tells the labels too little apart to count."
    return counts + days


def cards(facts: TokenFacts) -> Markup | None:
    if not facts.known:
        return None
    weights = facts.weights or {}
    meaning = {name: f"messages, weight {signed(weight)}" for name, weight in weights.items()}
    shown = [
        card(f"In {name}", count(messages), meaning.get(name, "messages"))
        for name, messages in facts.messages.items()
    ]
    return element("dl", shown, class_="cards")


def others(context: PageContext, title: str, tokens: Sequence[OtherToken]) -> Markup | None:
    if not tokens:
        return None
    names = list(tokens[0].messages)
    rows = [
        row(
            element("a", token_text(other.token), href=context.url("/words", word=other.token)),
            *(count(other.messages[name]) for name in names),
        )
        for other in tokens
    ]
    return titled(title, table(("token", *(f"in {name}" for name in names)), rows))


def mail(context: PageContext, facts: TokenFacts) -> Markup:
    """List messages that have the word, of the newest whose text is kept."""
    is_in = finder(context.model, facts)
    newest = context.history.entries("time", model=context.model_path, limit=SEARCHED)
    found = [entry for entry in newest if (raw := context.history.message(entry.id)) and is_in(raw)]
    times = Counter(entry.verdict for entry in found)
    verdicts = ", ".join(f"{count(n)} {verdict}" for verdict, n in times.most_common())
    intro = f"In {count(len(found))} of the newest {counted(len(newest), 'message')}"
    listed = listed_messages(context, found[:MAIL_SHOWN], context.model.labels) if found else None
    return section("Its mail", f"{intro}: {verdicts}." if found else f"{intro}.", listed)


def finder(model: Model, facts: TokenFacts) -> Callable[[bytes], bool]:
    """Make a function that tells whether a message has a token, or a pair of neighbours."""
    words = tuple(facts.token.split(" ")) if facts.is_pair else (facts.token,)
    fingerprint = fingerprint_of(words)

    def is_in(raw: bytes) -> bool:
        features = model.features(read(raw))
        return any(
            found[0] == fingerprint for found in (features.pairs if facts.is_pair else features.tokens)
        )

    return is_in

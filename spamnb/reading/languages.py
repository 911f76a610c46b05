"""Stemmers and stop words of languages, from the packages of the extra `languages`."""

from __future__ import annotations

from spamnb.errors import UsageError, needs_extra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def stemmer(language: str) -> Callable[[str], str]:
    """Return the Snowball stemmer of a language: a function that returns the stem of a word."""
    try:
        import Stemmer
    except ImportError:
        raise needs_extra("stemming", "languages") from None
    if language not in Stemmer.algorithms():
        raise UsageError(f"no stemmer for {language!r}; use one of: {', '.join(Stemmer.algorithms())}")
    stem: Callable[[str], str] = Stemmer.Stemmer(language).stemWord
    if language == "turkish":  # needs ı, which is i in all tokens
        return lambda word: stem(word).replace("ı", "i")
    return stem


def stop_words_of(language: str) -> Sequence[str]:
    """Return the stop words (most frequent words) of a language."""
    try:
        import stop_words
    except ImportError:
        raise needs_extra("a list of stop words", "languages") from None
    if language not in stop_words.AVAILABLE_LANGUAGES:
        known = ", ".join(sorted(stop_words.LANGUAGE_MAPPING.values()))
        raise UsageError(f"no stop words for {language!r}; use one of: {known}")
    listed: Sequence[str] = stop_words.get_stop_words(language)
    return listed

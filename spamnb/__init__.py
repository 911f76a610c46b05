"""A naive-Bayes spam filter for people who run their own mail.

import spamnb

spamnb.train("model.msgpack", {"ham": ["ham/"], "spam": ["spam/"]})
verdict = spamnb.Model.open("model.msgpack").classify(raw_message)
print(verdict.label, verdict.score, verdict.probability)
spamnb.learn("model.msgpack", raw_message, "spam")
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.bayes.verdict import Verdict as Verdict
    from spamnb.bayes.view import View as View
    from spamnb.errors import SpamnbError as SpamnbError
    from spamnb.library import Model as Model
    from spamnb.library import evaluate as evaluate
    from spamnb.library import forget as forget
    from spamnb.library import learn as learn
    from spamnb.library import train as train
    from spamnb.reading.settings import Settings as Settings

__version__ = "1.0.0"
_HOMES = {
    "Model": "spamnb.library",
    "Settings": "spamnb.reading.settings",
    "SpamnbError": "spamnb.errors",
    "Verdict": "spamnb.bayes.verdict",
    "View": "spamnb.bayes.view",
    "evaluate": "spamnb.library",
    "forget": "spamnb.library",
    "learn": "spamnb.library",
    "train": "spamnb.library",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that the program starts fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'spamnb' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)  # by its name: `_HOMES` is the list


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

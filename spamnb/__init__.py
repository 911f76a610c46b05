"""A naive-Bayes spam filter for people who run their own mail.

import spamnb

spamnb.train("model.msgpack", {"ham": ["ham/"], "spam": ["spam/"]})
verdict = spamnb.Model.open("model.msgpack").classify(raw_message)
print(verdict.label, verdict.score, verdict.probability)
spamnb.learn("model.msgpack", raw_message, "spam")
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.bayes import Classifier, View
    from spamnb.bulk.training import train
    from spamnb.counts.table import CountTable
    from spamnb.errors import SpamnbError
    from spamnb.learning import learn
    from spamnb.model import Model
    from spamnb.tokens.settings import Settings
    from spamnb.verdict import Verdict

__version__ = "0.1.0"
__all__ = [
    "Classifier",
    "CountTable",
    "Model",
    "Settings",
    "SpamnbError",
    "Verdict",
    "View",
    "learn",
    "train",
]

_HOMES = {
    "Classifier": "spamnb.bayes",
    "CountTable": "spamnb.counts.table",
    "Model": "spamnb.model",
    "Settings": "spamnb.tokens.settings",
    "SpamnbError": "spamnb.errors",
    "Verdict": "spamnb.verdict",
    "View": "spamnb.bayes",
    "learn": "spamnb.learning",
    "train": "spamnb.bulk.training",
}


def __getattr__(name: str) -> object:
    """Each name is loaded when first used: a delivery pays for none it does not need."""
    if name not in _HOMES:
        raise AttributeError(f"module 'spamnb' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


__all__ = ["Classifier", "CountTable", "Model", "Settings", "SpamnbError", "Verdict", "View"]
__all__ += ["learn", "train"]

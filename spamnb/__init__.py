"""A naive-Bayes spam filter for people who run their own mail.

import spamnb

spamnb.train("model.msgpack", {"ham": ["ham/"], "spam": ["spam/"]})
verdict = spamnb.Model.open("model.msgpack").classify(raw_message)
print(verdict.label, verdict.score, verdict.probability)
spamnb.learn("model.msgpack", raw_message, "spam")
"""

import os
import sys
from _frozen_importlib import ModuleSpec  # importlib's own, which is loaded
from _frozen_importlib_external import ExtensionFileLoader
from _imp import extension_suffixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.bayes.classifier import Classifier as Classifier
    from spamnb.bayes.verdict import Verdict as Verdict
    from spamnb.bayes.view import View as View
    from spamnb.errors import SpamnbError as SpamnbError
    from spamnb.library import learn as learn
    from spamnb.library import train as train
    from spamnb.model import Model as Model
    from spamnb.reading.settings import Settings as Settings
    from spamnb.tables.count_table import CountTable as CountTable

__version__ = "0.1.0"
_HOMES = {
    "Classifier": "spamnb.bayes.classifier",
    "CountTable": "spamnb.tables.count_table",
    "Model": "spamnb.model",
    "Settings": "spamnb.reading.settings",
    "SpamnbError": "spamnb.errors",
    "Verdict": "spamnb.bayes.verdict",
    "View": "spamnb.bayes.view",
    "learn": "spamnb.library",
    "train": "spamnb.library",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    """Each name is loaded when first used: a delivery pays for none it does not need."""
    if name not in _HOMES:
        raise AttributeError(f"module 'spamnb' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)  # by its name: `_HOMES` is the list


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class CoreFinder:
    """Finds the modules that have a .pxd beside them: hatch_build.py makes one library of them all.

    A library for each would take a delivery twice as long to load.
    """

    library = f"{__path__[0]}/core{extension_suffixes()[0]}"

    @classmethod
    def find_spec(cls, name: str, *_: object) -> ModuleSpec | None:
        if not name.startswith("spamnb.") or not os.path.exists(
            f"{__path__[0]}/{name[7:].replace('.', '/')}.pxd"
        ):
            return None
        spec = ModuleSpec(name, ExtensionFileLoader(name, cls.library), origin=cls.library)
        spec.has_location = True
        return spec


sys.meta_path.insert(0, CoreFinder)

"""A naive-Bayes spam filter for people who run their own mail.

import spamnb

spamnb.train("model.msgpack", {"ham": ["ham/"], "spam": ["spam/"]})
verdict = spamnb.Model.open("model.msgpack").classify(raw_message)
print(verdict.label, verdict.score, verdict.probability)
spamnb.learn("model.msgpack", raw_message, "spam")
"""

import os
import sys
from _frozen_importlib_external import ExtensionFileLoader, spec_from_file_location  # importlib's own
from _imp import extension_suffixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

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


class CompiledModules:
    """Finds the modules with a .pxd beside them in one library, which hatch_build.py makes of them.

    A library each would take twice as long to load. Where there is none, Python finds their sources. The
    packages around them have nothing to load, if they are empty: Python's own way takes 0.1 ms for each.
    """

    library = f"{__path__[0]}/core{extension_suffixes()[0]}"

    @classmethod
    def find_spec(cls, name: str, *_: object) -> "ModuleSpec | None":
        if not name.startswith("spamnb."):
            return None
        path = f"{__path__[0]}/{name[7:].replace('.', '/')}"
        if os.path.exists(f"{path}.pxd"):
            return spec_from_file_location(name, cls.library, loader=ExtensionFileLoader(name, cls.library))
        start = f"{path}/__init__.py"
        if os.path.exists(start) and not os.path.getsize(start):
            loader: Any = EmptyPackage
            return spec_from_file_location(name, start, loader=loader, submodule_search_locations=[path])
        return None


class EmptyPackage:
    """Loads nothing."""

    @staticmethod
    def create_module(_spec: "ModuleSpec") -> None: ...

    @staticmethod
    def exec_module(_module: "ModuleType") -> None: ...


if os.path.exists(CompiledModules.library):
    sys.meta_path.insert(0, CompiledModules)

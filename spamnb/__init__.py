"""A naive-Bayes spam filter for people who run their own mail.

import spamnb

spamnb.train("model.msgpack", {"ham": ["ham/"], "spam": ["spam/"]})
verdict = spamnb.Model.open("model.msgpack").classify(raw_message)
print(verdict.label, verdict.score, verdict.probability)
spamnb.learn("model.msgpack", raw_message, "spam")
"""

import os
import sys
from _frozen_importlib import ModuleSpec  # importlib's own
from _imp import create_dynamic, exec_dynamic, extension_suffixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
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
    """Finds and loads the modules with a .pxd beside them: hatch_build.py makes one library of them.

    A library each would take twice as long to load. Where there is none, Python finds their sources. The
    packages around them have nothing to load, if they are empty. Python's own way takes 0.1 ms more for each.
    """

    library = f"{__path__[0]}/core{extension_suffixes()[0]}"
    create_module, exec_module = create_dynamic, exec_dynamic

    @classmethod
    def find_spec(cls, name: str, *_: object) -> ModuleSpec | None:
        if not name.startswith("spamnb."):
            return None
        path = f"{__path__[0]}/{name[7:].replace('.', '/')}"
        loader: Any = cls
        if os.path.exists(f"{path}.pxd"):
            spec = ModuleSpec(name, loader, origin=cls.library)
        elif os.path.exists(start := f"{path}/__init__.py") and not os.path.getsize(start):
            loader = EmptyPackage
            spec = ModuleSpec(name, loader, origin=start)
            spec.submodule_search_locations = [path]
        else:
            return None
        spec.has_location = True
        return spec

    @classmethod
    def load(cls, names: "Sequence[str]") -> None:
        """Load modules, given none before what it needs: `import` takes 0.1 ms more for each.

        Where they are not compiled, nothing is loaded.
        """
        loader: Any = cls
        for name in [f"spamnb.{name}" for name in names] if cls in sys.meta_path else ():
            if name not in sys.modules:
                around, _, own = name.rpartition(".")
                if around not in sys.modules:
                    __import__(around)  # a package, which has nothing to load
                spec = ModuleSpec(name, loader, origin=cls.library)
                sys.modules[name] = module = create_dynamic(spec)
                module.__spec__ = spec
                setattr(sys.modules[around], own, module)
                exec_dynamic(module)


class EmptyPackage:
    """Loads nothing."""

    @staticmethod
    def create_module(_spec: ModuleSpec) -> None: ...

    @staticmethod
    def exec_module(_module: "ModuleType") -> None: ...


if os.path.exists(CompiledModules.library):
    sys.meta_path.insert(0, CompiledModules)

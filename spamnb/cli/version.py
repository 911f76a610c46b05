"""`spamnb --version`: which release this is, and whether its core is compiled."""

import os
from importlib.util import find_spec

import spamnb


def form_of_core() -> str:
    """Tell what Python imports for the modules that have a .pxd, which are those to be compiled."""
    compiled = [spec.origin == spamnb.CompiledModules.library for spec in map(find_spec, core()) if spec]
    if any(compiled) and not all(compiled):
        return f"{sum(compiled)} of {len(compiled)} modules compiled"
    return "compiled" if any(compiled) else "interpreted"


def core() -> list[str]:
    """List the names of modules with a .pxd beside them."""
    top = os.path.dirname(spamnb.__path__[0])
    return [
        os.path.relpath(os.path.join(folder, name[:-4]), top).replace(os.sep, ".")
        for folder, _, names in os.walk(spamnb.__path__[0])
        for name in sorted(names)
        if name.endswith(".pxd") and f"{name[:-4]}.py" in names
    ]

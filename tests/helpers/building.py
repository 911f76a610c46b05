"""Import hatch_build.py, which compiles the core, as the module `hatch_build`."""

from importlib.util import module_from_spec, spec_from_file_location

from helpers.paths import ROOT

_spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
assert _spec
assert _spec.loader
hatch_build = module_from_spec(_spec)
_spec.loader.exec_module(hatch_build)

"""The configuration in force: `spamnb.toml` of the system and of the user, and the senders they list.

TOML takes 20 ms to read, and a list may have 100,000 senders. So what the files say is compiled into a cache,
and compiled anew when one of them changes.
"""

import os

from spamnb.configuration.cache import (
    HEADER_STYLES,
    Configuration,
    cache_path,
    read_cache,
    stamp_of,
    usual_sources,
)
from spamnb.errors import SpamnbError
from spamnb.files import default_model

__all__ = ["HEADER_STYLES", "Configuration", "load", "model_path"]


def load() -> Configuration:
    """Return the configuration in force: that of the cache, compiled anew if need be."""
    sources = {path: stamp_of(path) for path in usual_sources()}
    if not any(sources.values()):
        return Configuration()
    path = cache_path()
    found = None if path is None else read_cache(path, sources)
    if found is None:
        return compiled_anew()
    found.compile_anew = compiled_anew
    return found


def compiled_anew() -> Configuration:
    from spamnb.configuration.compiling import compile_files

    try:
        return compile_files()
    except SpamnbError as error:  # a mistake in a file is no reason to give up on mail: try again
        raise SpamnbError(str(error)) from error


def model_path(configuration: Configuration | None = None) -> str:
    """Path of the model: $SPAMNB_MODEL, else as configured, else in the XDG data folder."""
    named: str = os.environ.get("SPAMNB_MODEL") or (configuration or load())["model"]
    return named or default_model()

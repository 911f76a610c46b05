"""C types of the core: each name in a .pxd stands in the .py beside it, else its type is lost in silence."""

import ast
import re

import pytest
from helpers.paths import ROOT

TYPED = sorted(path for path in (ROOT / "spamnb").rglob("*.pxd") if path.with_suffix(".py").exists())
ARRAY = re.compile(r"\[[^\]]*\]|\([^)]*\) (?=\w+\()")  # of a type: uint64_t[::1], (int, int)


def declared(text):
    """Each name that types are given to: local variables, functions, attributes and globals."""
    text = re.sub(r"\(\n\s*|,\n\s*", lambda found: found[0].split("\n")[0] + " ", text)
    for found in re.findall(r"@cython\.locals\((.*)\)$", text, re.MULTILINE):
        yield from re.findall(r"(\w+)=", found)
    for found in re.findall(r"^ *(?:cdef|cpdef) (.+)$", text, re.MULTILINE):
        line = ARRAY.sub("", found)
        if "(" in line:
            yield re.findall(r"(\w+)\(", line)[0]
        else:
            first, *others = line.rstrip(":").split(",")
            yield from (first.split()[-1], *map(str.strip, others))


@pytest.mark.parametrize("types", TYPED, ids=lambda path: path.stem)
def test_every_name_with_a_type_is_used(types):
    words = {*re.findall(r"\w+", types.with_suffix(".py").read_text()), "__dict__"}
    assert set(declared(types.read_text())) - words == set()


@pytest.mark.parametrize("types", TYPED, ids=lambda path: path.stem)
def test_large_numbers_have_names(types):
    """Cython takes a literal beyond 31 bits for an object: one in a loop made training 1.5 times as long."""
    tree = ast.parse(types.with_suffix(".py").read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = [node for function in functions for node in ast.walk(function) if isinstance(node, ast.Constant)]
    large = [node.value for node in inside if type(node.value) is int and node.value >= 1 << 31]
    assert large == []

"""C types of the core: each name in a .pxd stands in the .py beside it, else its type is lost in silence."""

import ast
import re

import pytest
from helpers.paths import ROOT

TYPED = sorted(path for path in (ROOT / "spamnb").rglob("*.pxd") if path.with_suffix(".py").exists())
LINE = re.compile(r"^(?P<indent> *)(?:cdef|cpdef) (?P<rest>.+)$")
ARRAY = re.compile(r"\[[^\]]*\]|\([^)]*\) (?=\w+\()")  # of a type: uint64_t[::1], (int, int)


def declared(types):
    """Each name that types are given to: its kind, its class or none, its name, and its function or none."""
    text = re.sub(r"\(\n\s*|,\n\s*", lambda found: found[0].split("\n")[0] + " ", types.read_text())
    inside, local = "", []
    for line in text.splitlines():
        if found := re.match(r" *@cython\.locals\((.*)\)$", line):
            local = re.findall(r"(\w+)=", found[1])
        elif found := re.match(r"cdef class (\w+)", line):
            inside = found[1]
            yield "class", "", inside
        elif found := LINE.match(line):
            owner = inside if found["indent"] else ""
            rest = ARRAY.sub("", found["rest"])
            if "(" in rest:
                name = re.findall(r"(\w+)\(", rest)[0]
                yield "function", owner, name
                yield from (("local", owner, f"{name}.{one}") for one in local)
                local = []
            else:
                names = rest.partition(",")[0].split()[-1:] + rest.split(",")[1:]
                yield from (("variable", owner, name.strip()) for name in names)


def written(source):
    """Each name that a module writes, as `declared` has them."""
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield "class", "", node.name
            yield "variable", node.name, "__dict__"  # attributes without types
            for inner in node.body:
                if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
                    yield "variable", node.name, inner.target.id
                yield from of_function(inner, node.name)
        yield from of_function(node, "")
    yield from (("variable", "", name) for node in tree.body for name in stored(node))


def is_function(node):
    return isinstance(node, ast.FunctionDef)


def of_function(node, owner):
    if is_function(node):
        yield "function", owner, node.name
        arguments = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
        yield from (("local", owner, f"{node.name}.{name}") for name in {*arguments, *stored(node)})
        for inner in ast.walk(node):
            if isinstance(inner, ast.Attribute) and ast.unparse(inner.value) == "self":
                yield "variable", owner, inner.attr


def stored(node):
    """The names that a statement gives a value."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        elif isinstance(inner, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in inner.names)


@pytest.mark.parametrize("types", TYPED, ids=lambda path: path.stem)
def test_every_name_with_a_type_is_used(types):
    assert [*set(declared(types)) - set(written(types.with_suffix(".py").read_text()))] == []


@pytest.mark.parametrize("types", TYPED, ids=lambda path: path.stem)
def test_large_numbers_have_names(types):
    """Cython takes a literal beyond 31 bits for an object: one in a loop made training 1.5 times as long."""
    functions = [
        node for node in ast.walk(ast.parse(types.with_suffix(".py").read_text())) if is_function(node)
    ]
    inside = [node for function in functions for node in ast.walk(function) if isinstance(node, ast.Constant)]
    large = [node.value for node in inside if type(node.value) is int and node.value >= 1 << 31]
    assert large == []

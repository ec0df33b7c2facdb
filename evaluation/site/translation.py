"""Python functions as JavaScript: a page judges by the very code of the commands.

Translated is the plain Python of rules and readers, with all that it calls; constants
become data. What is outside the project, or in `_NATIVE`, is in `static/python.js`,
which has the semantics of Python's types; `javascript.json` has the form of each node.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import inspect
import json
import re
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cached_property
from pathlib import Path
from textwrap import dedent
from types import FunctionType
from typing import Any, Final, TypeAlias, cast

import msgspec

from curation.json.values import remembered

_FORMS: Final[dict[str, str]] = json.loads(
    Path(__file__).with_name("javascript.json").read_text()
)
_NATIVE: Final = frozenset(
    {
        *("_joined", "canonical", "_visible", "is_readable", "write"),
    }
)
#: Packages whose code is translated; PyYAML is written in Python, too.
_OURS: Final = ("curation.", "evaluation.", "yaml.")
#: The code of each function that `remembered` returns.
_REMEMBERING: Final = remembered(len).__code__
#: Words of JavaScript that are names in Python.
_RESERVED: Final = frozenset({"new", "default", "case", "function", "var", "this"})
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_Function: TypeAlias = ast.FunctionDef


class UntranslatableError(TypeError):
    """A piece of Python that has no form in JavaScript."""


def _fields(kind: type) -> tuple[str, ...]:
    """Return the names of a struct's fields; none for another class."""
    names = ("__struct_fields__", "_fields", "__dataclass_fields__")
    return next(
        (tuple(getattr(kind, item)) for item in names if hasattr(kind, item)), ()
    )


def _default(kind: Any, field: str) -> object:  # noqa: ANN401 - any class
    """Return the default of a field; None without one."""
    known = inspect.signature(kind).parameters
    default = known[field].default if field in known else None
    if str(default) == "<factory>":
        is_struct = hasattr(kind, "__struct_fields__")
        fields: Any = (msgspec.structs.fields if is_struct else dataclasses.fields)(
            kind
        )
        (factory,) = (item.default_factory for item in fields if item.name == field)
        return factory()
    return None if default is inspect.Parameter.empty else default


def _is_ours(value: object) -> bool:
    return str(getattr(value, "__module__", None)).startswith(_OURS)


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


class Translation:
    """Translated functions and data, each once, with all that they need."""

    def __init__(self, instead: Mapping[Any, Any]) -> None:
        """Begin with nothing.

        Args:
            instead: Functions and classes, each with one that replaces it.
        """
        self._instead = instead
        #: By the identity of an object, which is kept alive.
        self._names: dict[int, tuple[str, object]] = {}
        self._lines: list[str] = []
        self._classes: dict[type, list[str]] = {}
        self._members: set[str] = set()
        self._scopes: list[set[str]] = []
        self._globals: Mapping[str, Any] = {}

    def script(self, **roots: Callable[..., object]) -> str:
        """Return a script that puts functions into `csbdata` under names."""
        parts = [f"{name}: {self._global(item)}" for name, item in roots.items()]
        done = set[tuple[type, str]]()
        while todo := [
            (kind, member)
            for kind in self._classes
            for member in vars(kind)
            if (
                member in self._members | {"__and__", "__post_init__"}
                or (member == "__init__" and not _fields(kind))
            )
            and (kind, member) not in done
        ]:
            for kind, member in todo:
                done.add((kind, member))
                self._method(kind, member)
        classes = ["\n".join((*class_, "}")) for class_ in self._classes.values()]
        self._lines.sort(key=lambda item: not item.startswith("function"))
        self._lines[:0] = ['"use strict";\n(() => {\nconst { py } = csbdata;', *classes]
        joined = ", ".join(parts)
        self._lines.append(f"Object.assign(csbdata, {{ {joined} }});\n}})();\n")
        return "\n".join(self._lines)

    def _name(self, value: object, name: str) -> str:
        name = f"{name or 'data'}_{len(self._names)}"
        self._names[id(value)] = name, value
        return name

    def _global(self, value: Any, name: str = "") -> str:  # noqa: ANN401 - any object
        """Return the expression of an object."""
        value = self._instead.get(value, value) if callable(value) else value
        code = getattr(value, "__code__", _REMEMBERING)
        is_kept = hasattr(value, "__wrapped__") and code is _REMEMBERING
        value = inspect.unwrap(value) if is_kept else value
        name = getattr(value, "__name__", name).rpartition(".")[2]
        if id(value) in self._names:
            return self._names[id(value)][0]
        if isinstance(value, type) and issubclass(value, Enum):
            members = (f"{item.name}: {self._data(item, '')}" for item in value)
            return f"({{ {', '.join(members)} }})"
        if callable(value) or inspect.ismodule(value):
            if name in _NATIVE or not _is_ours(value):
                return f"py.{name}"
            if isinstance(value, type):
                return self._class(value)
            if not name.isidentifier():
                raise UntranslatableError(value.__qualname__)
            return self._function(value, is_kept=is_kept)
        return self._data(value, name)

    def _data(self, value: Any, name: str) -> str:  # noqa: ANN401 - any object
        each = self._global
        if isinstance(value, Enum):
            return json.dumps(value if isinstance(value, str) else value.name)
        if value is None or isinstance(value, str | int | float):
            return json.dumps(value)
        if isinstance(value, re.Pattern):
            pattern = json.dumps(value.pattern.replace("(?P<", "(?<"))
            flags = "su" if value.flags & re.DOTALL else "u"
            text = f"new RegExp({pattern}, '{flags}')"
        elif isinstance(value, Mapping):
            pairs = (f"[{each(key)}, {each(part)}]" for key, part in value.items())
            text = f"new Map([{', '.join(pairs)}])"
        elif fields := _fields(type(value)):
            parts = (f"{field}: {each(getattr(value, field))}" for field in fields)
            made = f"Object.create({each(type(value))}.prototype)"
            text = f"Object.assign({made}, {{ {', '.join(parts)} }})"
        else:
            forms = {"list": "[{}]", "tuple": "py.of({})", "frozenset": "new Set([{}])"}
            kind = type(value).__name__
            items = [*map(each, value)] if kind in forms else []
            if isinstance(value, frozenset):
                items.sort()
            text = forms.get(kind, "{{}}").format(", ".join(items))
        self._lines.append(f"const {self._name(value, name)} = {text};")
        return self._names[id(value)][0]

    def _class(self, kind: type) -> str:
        name, fields = self._name(kind, kind.__name__), _fields(kind)
        defaults = []
        for field in fields:
            value = _default(kind, field)
            is_new = isinstance(value, list | dict | set) and not value
            new = f"py.{type(value).__name__}()"
            defaults.append(new if is_new else self._global(value))
        bases = [item for item in kind.__bases__ if _is_ours(item) or _is_error(item)]
        parts = f"{json.dumps(fields)}, () => [{', '.join(defaults)}]"
        joined = ", ".join((parts, *map(self._global, bases)))
        self._classes[kind] = [f"class {name} extends py.struct({joined}) {{"]
        return name

    def _method(self, kind: type, name: str) -> None:
        member = vars(kind)[name]
        if isinstance(member, str | dict | re.Pattern) and name not in _fields(kind):
            text = f"get {name}() {{ return {self._global(member, name)}; }}"
            self._classes[kind].append(text)
        function = getattr(member, "fget", getattr(member, "func", member))
        if not isinstance(function, FunctionType):
            return
        instead = self._instead.get(function, function)
        star, arguments, body = self._parts(instead, "this")
        text = f"{star}${name}({arguments}) {{ {body} }}"
        is_frozen = getattr(getattr(kind, "__struct_config__", None), "frozen", False)
        if isinstance(member, cached_property) or (
            function is not member and is_frozen
        ):
            inner = f"(function {star}() {{ {body} }}).call(this)"
            text = f"get {name}() {{ return py.keep(this, '{name}', {inner}); }}"
        elif function is not member:
            text = f"get {name}() {{ {body} }}"
        elif name.isidentifier() and not name.startswith("__"):
            text += f" get {name}() {{ return (...all) => this.${name}(...all); }}"
        self._classes[kind].append(text)

    def _function(self, function: FunctionType, *, is_kept: bool) -> str:
        name = self._name(function, function.__name__)
        inner = f"{name}_computed" if is_kept else name
        star, arguments, body = self._parts(function)
        self._lines.append(f"function{star} {inner}({arguments}) {{ {body} }}")
        if is_kept:
            self._lines.append(f"const {name} = py.remembered({inner});")
        return name

    def _parts(self, function: FunctionType, this: str = "") -> tuple[str, str, str]:
        """Return whether a function is a generator, its parameters, and its body."""
        (node,) = ast.parse(dedent(inspect.getsource(function.__code__))).body
        before = self._globals, self._scopes
        enclosing = inspect.getclosurevars(function).nonlocals
        self._globals, self._scopes = {**function.__globals__, **enclosing}, []
        parts = self._inside(cast("_Function", node), this)
        self._globals, self._scopes = before
        return parts

    def _inside(self, node: _Function, this: str = "") -> tuple[str, str, str]:
        names = {item.arg for item in ast.walk(node.args) if isinstance(item, ast.arg)}
        stored = self._stored(node) - names
        self._scopes.append(names | stored)
        body = self._write(node.body)
        if stored:
            body = f"let {', '.join(map(self._local, sorted(stored)))}; {body}"
        if this:
            body = f"const {node.args.args.pop(0).arg} = {this}; {body}"
        arguments = self._write(node.args)
        self._scopes.pop()
        is_generator = any(
            isinstance(item, ast.Yield | ast.YieldFrom) for item in ast.walk(node)
        )
        return "*" if is_generator else "", arguments, f"{body} return null;"

    def _stored(self, node: ast.AST) -> set[str]:
        """Return the names assigned in a scope."""
        found = set()
        for item in ast.iter_child_nodes(node):
            match item:
                case ast.Name(name, ast.Store()):
                    found.add(name)
                case ast.FunctionDef(name):
                    found.add(name)
                    continue
                case ast.ExceptHandler(name=str(name)):
                    found.add(name)
            inner = {
                at.target for at in ast.walk(item) if isinstance(at, ast.NamedExpr)
            }
            is_inside = isinstance(item, _COMPREHENSIONS)
            found |= {at.id for at in inner} if is_inside else self._stored(item)
        return found

    def _local(self, name: str) -> str:
        return f"{name}_" if name in _RESERVED else name

    def _write(self, node: Any) -> str:  # noqa: ANN401, C901, PLR0911, PLR0912, PLR0915 - a node, nodes, or a name
        write = self._write
        match node:
            case None:
                return "null"
            case str():
                return node
            case [ast.stmt() | ast.comprehension() | ast.ExceptHandler(), *_]:
                return "".join(map(write, node))
            case list():
                return ", ".join(map(write, node))
            case ast.Expr(ast.Constant()):
                return ""
            case ast.Constant(value):
                return json.dumps(value)
            case ast.Name(name):
                if any(name in scope for scope in self._scopes):
                    return self._local(name)
                return self._of_module(name) if name in self._globals else f"py.{name}"
            case ast.Attribute() if _is_ours(value := self._object(node)):
                return self._global(value)
            case ast.FunctionDef(name):
                star, arguments, body = self._inside(node)
                return f"{name} = function{star} ({arguments}) {{ {body} }};"
            case ast.Raise(None):
                return "throw error;"
            case ast.ExceptHandler(type_, bound, body):
                known = f"{bound} = error;" if bound else ""
                test = f"py.isinstance(error, {write(type_)})"
                return f"if ({test}) {{ {known} {write(body)} }} else "
            case ast.Call():
                return self._call(node)
            case ast.Assign([*targets, last], value) if targets:
                load = ast.parse(ast.unparse(last), mode="eval").body
                first = write(ast.Assign([last], value))
                return first + write(ast.Assign(targets, load))
            case ast.Assign([ast.Subscript(value, index)], new):
                return f"py.put({write(value)}, {write(index)}, {write(new)});"
            case ast.AugAssign(target, operator, value):
                load = ast.parse(ast.unparse(target), mode="eval").body
                return write(ast.Assign([target], ast.BinOp(load, operator, value)))
            case ast.BoolOp(operator, values):
                kind = str(isinstance(operator, ast.Or)).lower()
                parts = ", ".join(f"() => {write(value)}" for value in values)
                return f"py.first({kind}, {parts})"
            case ast.Compare(left, operators, others):
                sides = [*map(write, (left, *others))]
                forms = (_FORMS[type(operator).__name__] for operator in operators)
                texts = [item.format(*sides[at:]) for at, item in enumerate(forms)]
                return f"({' && '.join(texts)})"
            case ast.Dict(keys, values):
                pairs = (
                    f"[{write(key)}, {write(value)}]" if key else f"...{write(value)}"
                    for key, value in zip(keys, values, strict=True)
                )
                return f"new Map([{', '.join(pairs)}])"
            case ast.arguments(args=args, kwonlyargs=named, defaults=defaults):
                missing = [None] * (len(args) - len(defaults))
                given = [*missing, *defaults, *node.kw_defaults]
                texts = [
                    self._local(item.arg) + (f" = {write(value)}" if value else "")
                    for item, value in zip([*args, *named], given, strict=True)
                ]
                texts += [node.kwarg.arg] if node.kwarg else []
                texts += [f"...{node.vararg.arg}"] if node.vararg else []
                return ", ".join(texts)
        kind = type(getattr(node, "op", node)).__name__
        of_use = f"{kind}{type(getattr(node, 'ctx', node)).__name__}"
        kind = of_use if of_use in _FORMS else kind
        if kind not in _FORMS:
            raise UntranslatableError(ast.dump(node)[:200])
        self._members.add(getattr(node, "attr", ""))
        is_scope = isinstance(node, (*_COMPREHENSIONS, ast.Lambda))
        inner = {
            *(item.arg for item in ast.walk(node) if isinstance(item, ast.arg)),
            *(
                name
                for item in getattr(node, "generators", ())
                for name in self._stored(item)
            ),
        }
        self._scopes.append(inner if is_scope else set())
        skipped = ast.expr_context | ast.operator | ast.unaryop
        fields = {
            name: write(value)
            for name, value in ast.iter_fields(node)
            if not isinstance(value, skipped | int)
        }
        self._scopes.pop()
        return _FORMS[kind].format(**fields)

    def _of_module(self, name: str) -> str:
        """Return the expression of a module's name: a constant of lambdas is code."""
        value = self._globals[name]
        try:
            return self._global(value, name)
        except UntranslatableError:
            module, node = next(
                (module, node.value)
                for module in sys.modules.values()
                if module.__name__.startswith(_OURS) and vars(module).get(name) is value
                for node in ast.parse(inspect.getsource(module)).body
                if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name
            )
        before = self._globals, self._scopes
        self._globals, self._scopes = vars(module), []
        text = self._write(node)
        self._globals, self._scopes = before
        self._lines.append(f"const {self._name(value, name)} = {text};")
        return self._names[id(value)][0]

    def _object(self, node: ast.AST) -> Any:  # noqa: ANN401 - any object
        """Return what a name of a module is, or a name in another; None for others."""
        match node:
            case ast.Name(name) if not any(name in scope for scope in self._scopes):
                value = self._globals.get(name, getattr(builtins, name, None))
            case ast.Attribute(inner, name) if inspect.ismodule(self._object(inner)):
                value = getattr(self._object(inner), name, None)
            case _:
                return None
        value = self._instead.get(value, value) if callable(value) else value
        return inspect.unwrap(value) if callable(value) else value

    def _call(self, node: ast.Call) -> str:
        write, function = self._write, node.func
        callee = self._object(function)
        arguments = [*map(write, node.args)]
        named = {keyword.arg or "": write(keyword.value) for keyword in node.keywords}
        if isinstance(function, ast.Attribute) and not _is_ours(callee):
            # Keywords of a method are in the order of its parameters.
            joined = ", ".join((*arguments, *named.values()))
            if function.attr == "__init__":
                # Those of Python's own classes do nothing more.
                is_super = isinstance(function.value, ast.Call)
                kind = "Object" if is_super else write(function.value)
                return f"{kind}.prototype.$__init__?.call({joined})"
            self._members.add(function.attr)
            return f"{write(function.value)}.${function.attr}({joined})"
        if _is_ours(callee) and (named or not _is_error(callee)):
            left = list(inspect.signature(callee).parameters.values())[len(arguments) :]
            for item in left:
                rest = "undefined"
                if item.kind is inspect.Parameter.VAR_KEYWORD:
                    rest = self._options(named)
                arguments.append(named.pop(item.name, rest))
        elif named:
            arguments.append(self._options(named))
        is_made = isinstance(callee, type) and (_is_ours(callee) or _is_error(callee))
        # A parameter that is a class has the name of one.
        is_class = isinstance(function, ast.Name) and function.id[0].isupper()
        new = "new " if is_made or is_class else ""
        return f"{new}{write(function)}({', '.join(arguments)})"

    def _options(self, named: Mapping[str, str]) -> str:
        pairs = (
            f"{key}: {item}" if key else f"...{item}" for key, item in named.items()
        )
        return f"{{ {', '.join(pairs)} }}"

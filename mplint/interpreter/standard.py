"""What is known of libraries other than Keras: of the standard library, and of those that configure programs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mplint.interpreter import (
    copying,
    exit_stacks,
    late_imports,
    mappings,
    namespaces,
    python,
    records,
    sequences,
    threads,
)
from mplint.interpreter.calls import Arguments
from mplint.interpreter.configuration import (
    absl,
    argparse,
    click,
    dataclasses,
    environment,
    files,
    fire,
    gin,
    hydra,
    ml_collections,
    typer,
)
from mplint.interpreter.configuration import objects as configuration
from mplint.interpreter.values import (
    NEVER,
    UNKNOWN,
    Api,
    Bound,
    Class,
    Function,
    Instance,
    Partial,
    Place,
    Tuple,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

Handler = Callable[["Machine", Arguments, Place], Value]
Method = Callable[["Machine", Instance, str, Arguments, Place], Value]

DECORATORS: Final = click.DECORATORS | gin.DECORATORS | {"jax.jit"}
"""Decorators of libraries that give something else than the function that they stand before, or note something of it.
"""
_IDENTITY: Final = Api("mplint.identity")
"""What a decorator with arguments gives, as `functools.wraps(f)`: the function that is decorated comes back."""


# -- functools


def _partial(m: Machine, arguments: Arguments, place: Place) -> Value:
    if not arguments.args or not arguments.sure:
        return UNKNOWN
    return Partial(arguments.args[0], arguments.args[1:], arguments.keywords)


def _reduce(m: Machine, arguments: Arguments, place: Place) -> Value:
    if len(arguments.args) < 2:
        return UNKNOWN
    function, *rest = arguments.args
    items = sequences.iterate(m, rest[0], place)
    values = [*rest[1:2], *items.items]
    if items.rest is not None or not values or len(values) > sequences.MAX_PASSES:
        return UNKNOWN
    context, result = m.context, values[0]
    for index, value in enumerate(values[1:]):
        m.context = context.at(place, index)
        result = m.call(function, Arguments((result, value)), place)
    m.context = context
    return result


def pass_on(m: Machine, arguments: Arguments, place: Place) -> Value:
    """A decorator or wrapper that calls what it is given: the same callable comes back."""
    if arguments.args and isinstance(arguments.args[0], (Function, Bound, Partial, Class, Instance)):
        return arguments.args[0]
    function = arguments.get("func") or arguments.get("function") or arguments.get("fun")
    return function if function is not None else _IDENTITY


def identity(m: Machine, arguments: Arguments, place: Place) -> Value:
    """A function that gives its argument back."""
    return arguments.args[0] if arguments.args else UNKNOWN


# -- itertools


def _product(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`itertools.product(a, b)`."""
    columns = [sequences.iterate(m, value, place) for value in arguments.args]
    size = math.prod(len(column.items) for column in columns)
    known = arguments.sure and not arguments.keywords and all(column.rest is None for column in columns)
    if known and size <= sequences.MAX_PASSES:
        rows = itertools.product(*(column.items for column in columns))
        return m.new_list(place, Tuple(tuple(map(Tuple, rows))))
    return m.new_list(place, Tuple((), Tuple(tuple(map(sequences.anything, columns))) if known else UNKNOWN))


def _chain(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`itertools.chain(a, b)`."""
    found = Tuple((), arguments.rest)
    for value in reversed(arguments.args):
        found = sequences.concatenate(sequences.iterate(m, value, place), found)
    return m.new_list(place, found)


# -- objects


def _ordered_dict(m: Machine, arguments: Arguments, place: Place) -> Value:
    return python.call(m, "dict", arguments, place) or UNKNOWN


def _namespace(m: Machine, arguments: Arguments, place: Place) -> Value:
    return namespaces.of_keywords(m, Api("types.SimpleNamespace"), arguments, place)


# -- the process


def _leave(m: Machine, arguments: Arguments, place: Place) -> Value:
    return NEVER


HANDLERS: Final[dict[str, Handler]] = {
    **absl.HANDLERS,
    **click.HANDLERS,
    **dataclasses.HANDLERS,
    **environment.HANDLERS,
    **files.HANDLERS,
    **fire.HANDLERS,
    **gin.HANDLERS,
    **hydra.HANDLERS,
    **ml_collections.HANDLERS,
    **configuration.HANDLERS,
    **typer.HANDLERS,
    **argparse.HANDLERS,
    **exit_stacks.HANDLERS,
    **threads.HANDLERS,
    "builtins.exit": _leave,
    "builtins.quit": _leave,
    "builtins.__import__": late_imports.import_top,
    "builtins.get_ipython": lambda m, arguments, place: Api("IPython.shell"),
    "collections.OrderedDict": _ordered_dict,
    "collections.defaultdict": python.default_dict,
    "copy.copy": copying.shallow,
    "copy.deepcopy": copying.deep,
    "attr.asdict": records.as_dict,
    "attr.evolve": records.replace,
    "attrs.asdict": records.as_dict,
    "attrs.evolve": records.replace,
    "collections.namedtuple": records.named_tuple,
    "dataclasses.replace": records.replace,
    records.MAKER.path: records.make,
    "dataclasses.asdict": records.as_dict,
    "dataclasses.astuple": records.as_tuple,
    "dataclasses.is_dataclass": records.is_dataclass,
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "functools.partialmethod": _partial,
    "functools.lru_cache": pass_on,
    "functools.cache": pass_on,
    "functools.wraps": lambda m, arguments, place: _IDENTITY,
    "importlib.import_module": late_imports.import_module,
    "IPython.get_ipython": lambda m, arguments, place: Api("IPython.shell"),
    "IPython.shell.getoutput": lambda m, arguments, place: UNKNOWN,
    "IPython.shell.magic": late_imports.run_line_magic,
    "IPython.shell.run_line_magic": late_imports.run_line_magic,
    "itertools.chain": _chain,
    "itertools.product": _product,
    "mplint.identity": identity,
    "os._exit": _leave,
    "os.abort": _leave,
    "runpy.run_path": late_imports.run_path,
    "sys.exit": _leave,
    "types.SimpleNamespace": _namespace,
}
METHODS: Final[dict[Api, Method]] = {
    **exit_stacks.METHODS,
    **threads.METHODS,
    argparse.PARSER: argparse.method,
    dataclasses.PARSER: dataclasses.method,
    mappings.PARSER: files.method,
    typer.APPLICATION: typer.method,
    **{Api(path): configuration.method for path in mappings.LIBRARY},
}
"""The methods of objects, by their class; `__call__` is one of them."""

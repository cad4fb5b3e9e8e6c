"""Runs in the user's process, first of all: makes another TensorFlow of the real one before tfperf has looked at it.

``breaks.json`` next to the script lists ``[module, path of the attribute, how]``. Each is done when the import of
TensorFlow (or Keras) ends, before anything of tfperf's is installed. TensorFlow itself goes on as ever:

- ``renamed``: the attribute has another name, in all code that uses it.
- ``inherited``: the method is in a new base class.
- ``compiled``: C code instead of a Python function.
- ``signature``: a function with other parameters.
- ``variadic``: a function that takes anything, and refuses keywords and arguments that its own code never gives.
- ``refused``: what raises when it is called; only for what TensorFlow does not call in the script.
- ``raising``: an attribute of objects that raises when it is read; only for what TensorFlow does not read.
- ``fixed``: objects of the class take no attribute of that name.
- ``absent``: deleted; only for what TensorFlow does not use in the script.
- ``number``: an attribute that has become a plain number.
- ``unimportable``: the whole module can't be imported.
"""

import functools
import gc
import importlib.util
import json
import sys
from collections import namedtuple
from pathlib import Path
from types import CellType, CodeType, FunctionType

_INFO = namedtuple("_INFO", "hits misses maxsize currsize")
_FRAMEWORKS = ("tensorflow.", "keras.", "tf_keras.")


class OtherTensorFlow(RuntimeError):
    """The exception of a broken seam: its text shows where a reason comes from."""


def _moved(name):
    return f"{name}_of_another_tensorflow"


def _refuse(*arguments, **named):
    raise OtherTensorFlow("this is another TensorFlow")


def _rename(renamed):
    """Give attributes another name; ``renamed``: (owner, name) of all of them."""
    names = {name for _, name in renamed}
    for owner, name in renamed:
        setattr(owner, _moved(name), vars(owner)[name])
    for module in list(sys.modules.values()):  # those that give it on to others
        if str(getattr(module, "__name__", "")).startswith(_FRAMEWORKS):
            for name in names.intersection(vars(module)):
                setattr(module, _moved(name), vars(module)[name])
    for item in gc.get_objects():
        if isinstance(item, type) and str(item.__dict__.get("__module__")).startswith(_FRAMEWORKS):
            for name in names.intersection(vars(item)):  # other classes' of that name, called by the same code
                setattr(item, _moved(name), vars(item)[name])
        if type(item) is FunctionType and (item.__globals__.get("__name__") or "").startswith(_FRAMEWORKS):
            code = _with_names(item.__code__, names)
            if code is not item.__code__:
                item.__code__ = code
                for name in names.intersection(item.__globals__):
                    item.__globals__.setdefault(_moved(name), item.__globals__[name])
    for owner, name in renamed:
        delattr(owner, name)


def _with_names(code, names):
    constants = tuple(_with_names(item, names) if isinstance(item, CodeType) else item for item in code.co_consts)
    used = tuple(_moved(name) if name in names else name for name in code.co_names)
    if used == code.co_names and all(a is b for a, b in zip(constants, code.co_consts, strict=True)):
        return code
    return code.replace(co_names=used, co_consts=constants)


def _inherit(owner, name):
    method = vars(owner)[name]
    base = type(owner)(f"{owner.__name__}Base", owner.__bases__, {"__module__": owner.__module__})
    cells = tuple(
        CellType(base) if variable == "__class__" else cell
        for variable, cell in zip(method.__code__.co_freevars, method.__closure__ or (), strict=True)
    )
    moved = FunctionType(method.__code__, method.__globals__, name, method.__defaults__, cells)
    moved.__kwdefaults__ = method.__kwdefaults__
    setattr(base, name, moved)
    delattr(owner, name)
    owner.__bases__ = (base,)


def _variadic(original):
    def other(*arguments):
        return original(*arguments)

    return other


def _signature(original):
    def other(*arguments, another=None, **named):
        return original(*arguments, **named)

    return other


def _fix(owner, name):
    original = owner.__setattr__

    def __setattr__(self, attribute, value):
        if attribute == name:
            raise AttributeError(f"{owner.__name__!r} object attribute {name!r} is read-only")
        original(self, attribute, value)

    owner.__setattr__ = __setattr__


def _raise_at(owner, name):
    def read(self):
        raise OtherTensorFlow("this is another TensorFlow")

    setattr(owner, name, property(read, lambda self, value: None))


def _apply(breaks):
    renamed = []
    for module, path, how in breaks:
        *outer, name = path.split(".")
        owner = functools.reduce(getattr, outer, sys.modules.get(module) or importlib.import_module(module))
        if how == "renamed":
            renamed.append((owner, name))
        elif how == "inherited":
            _inherit(owner, name)
        elif how == "compiled":
            setattr(owner, name, functools._lru_cache_wrapper(getattr(owner, name), 0, True, _INFO))
        elif how == "signature":
            setattr(owner, name, _signature(getattr(owner, name)))
        elif how == "variadic":
            setattr(owner, name, _variadic(getattr(owner, name)))
        elif how == "refused":
            setattr(owner, name, _refuse)
        elif how == "raising":
            _raise_at(owner, name)
        elif how == "fixed":
            _fix(owner, name)
        elif how == "absent":
            if hasattr(owner, name):  # an older TensorFlow may not have it anyway
                delattr(owner, name)
        elif how == "number":
            setattr(owner, name, 7)
        else:
            raise ValueError(how)
    if renamed:
        _rename(renamed)


class _Finder:
    """Breaks the seams of a package when its import ends, before anybody who waits for that end."""

    def __init__(self, breaks):
        self.unimportable = {module for module, _, how in breaks if how == "unimportable"}
        self.waiting = {}
        for row in breaks:
            if row[2] != "unimportable":
                self.waiting.setdefault(row[0].partition(".")[0], []).append(row)

    def find_spec(self, name, path=None, target=None):
        if name in self.unimportable:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        breaks = self.waiting.get(name)
        if breaks is None:
            return None
        for finder in list(sys.meta_path):
            if finder is not self and (spec := finder.find_spec(name, path, target)) is not None:
                break
        run = spec.loader.exec_module  # another object at each search: some only ask whether there is a Keras

        def exec_module(module):
            run(module)
            if self.waiting.pop(name, None):
                _apply(breaks)

        spec.loader.exec_module = exec_module
        return spec


_here = Path(__file__).parent / "breaks.json"
if _here.is_file():
    sys.meta_path.insert(0, _Finder([tuple(row) for row in json.loads(_here.read_text())]))

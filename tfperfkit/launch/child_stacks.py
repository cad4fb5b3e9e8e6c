"""Stacks of a child of the script, as rows of samples, without the package (see ``child``)."""

import os

TYPE_CHECKING = False  # the name that mypy looks for, without importing typing into the script
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, FrameType

_MAX_STACKS, _MAX_FRAMES = 2000, 400
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARY = os.path.dirname(os.__file__)
#: Folders below which nothing is the user's own.
_FOREIGN = tuple(
    os.path.join(folder, "")
    for folder in {
        _LIBRARY,
        os.path.realpath(_LIBRARY),
        _PACKAGE,
        *(
            os.path.join(os.path.dirname(_PACKAGE), *inside, "tfperfkit_" + name)
            for inside in ((), ("plugins",))
            for name in ("probes", "rules", "experiments")
        ),
    }
)


def _is_own(name: str, roots: "Sequence[str]") -> bool:
    """As ``user_code.Origin`` decides it."""
    if not name or name.startswith("<"):
        return name.startswith(("<stdin>", "<python-input"))
    if roots and name.startswith(tuple(roots)):
        return True
    if "site-packages" in name or "dist-packages" in name or "__autograph_generated_file" in name:
        return False
    return not os.path.abspath(name).startswith(_FOREIGN)


def _module(name: str) -> "tuple[str, str]":
    """Return the package and the module of a library's file, by its name."""
    for marker in ("site-packages/", "dist-packages/", _LIBRARY + "/"):
        _, found, rest = name.rpartition(marker)
        if found:
            module = rest.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            return ("python" if marker == _LIBRARY + "/" else rest.partition("/")[0]), module
    return "python", ""


def _line_of(code: "CodeType", instruction: int) -> int:
    """Return the line of an instruction."""
    for begin, end, line in code.co_lines():
        if begin <= instruction < end:
            return line or code.co_firstlineno
    return code.co_firstlineno


class Stacks:
    """Stacks of one thread as rows of the stream of samples; see ``instruments.stacks.sampler`` for their form."""

    def __init__(self, roots: "Sequence[str]", before: "FrameType | None" = None) -> None:
        """``before``: the frame that forked this process, whose own work the child does not go on with."""
        self._roots = roots
        # A library's (multiprocessing's) never returns in the child; the user's own goes on in it.
        foreign = before is not None and not _is_own(before.f_code.co_filename, roots)
        self._before = id(before) if foreign else 0
        self._known: dict[tuple[int, ...], tuple[int, list[CodeType]]] = {}
        self._files: dict[str, tuple[bool, str, str]] = {}
        self.rows: list[list[object]] = []  # of new stacks
        self.leaves: dict[int, tuple[str, int, str]] = {}  # the user's innermost line: file, line, function

    def number(self, frame: "FrameType | None") -> int:
        """Return the number of the stack that ends in ``frame``; 0 when there are too many."""
        codes: list[CodeType] = []
        key: list[int] = []
        while frame is not None and id(frame) != self._before and len(codes) < _MAX_FRAMES:
            codes.append(frame.f_code)
            key += (id(frame.f_code), frame.f_lasti)
            frame = frame.f_back
        exact = tuple(key)
        known = self._known.get(exact)
        if known is None:
            if len(self._known) >= _MAX_STACKS:
                return 0
            known = self._known[exact] = len(self._known) + 1, codes  # which keeps the code objects alive
            self._read(known[0], codes, key[1::2])
        return known[0]

    def _read(self, number: int, codes: "list[CodeType]", instructions: "list[int]") -> None:
        frames: list[list[object]] = []
        called: list[str] = []  # of libraries, below the user's frame that comes next, innermost first
        library = ""
        for code, instruction in zip(codes, instructions):  # noqa: B905  (a child may be of an older Python)
            name = code.co_filename
            about = self._files.get(name)
            if about is None:
                own = _is_own(name, self._roots)
                about = self._files[name] = (own, *(("", "") if own else _module(name)))
            own, package, module = about
            if own:
                line = _line_of(code, instruction)
                if not frames:
                    self.leaves[number] = name, line, code.co_name
                frames.append([name, code.co_firstlineno, code.co_name, line, None, *called[:-3:-1]])
                called = []
            else:
                if not frames:
                    library = library or package
                if module:
                    called.append(f"{module}:{code.co_name}")
        # Without the user's frames: what the process waits in, recognised by the outermost functions of libraries.
        doing = "python" if frames else "waiting"
        self.rows.append(["stack", number, frames[::-1], library, doing, ""])

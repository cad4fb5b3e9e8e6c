from collections.abc import Callable
from types import CodeType
from typing import Any

class Calls:
    inside: int
    cost_ns: int
    held: bool
    late: Any
    marker: Any
    context: Any
    thread: int | None
    quietly: Callable[[Any], object] | None
    def remember(
        self, key: int, code: CodeType, instruction: int, depth: int, chain: tuple[tuple[CodeType, int], ...], site: int
    ) -> bool: ...
    def pass_by(self, key: int) -> None: ...
    def forget(self, key: int) -> None: ...
    def drop(self, key: int) -> None: ...
    def counted(self, key: int) -> int: ...
    def elsewhere(self) -> None: ...

class Seam:
    original: Any
    slow: Any
    shared: bool
    calls: Calls
    def __get__(self, instance: Any, owner: type | None = None) -> Any: ...

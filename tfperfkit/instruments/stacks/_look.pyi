from types import CodeType
from typing import Any

def look(thread: int, known: dict[bytes, Any]) -> Any | tuple[bytes, list[CodeType], list[int]]: ...

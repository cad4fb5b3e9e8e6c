"""Which threads open files again."""

from __future__ import annotations

import threading
from pathlib import Path

from tfperfkit.instruments.input.file_opens import MAX_THREADS, FileOpens


def test_a_thread_that_opens_a_file_again_is_known_and_the_main_thread_is_not(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("x")
    opens = FileOpens(lambda name: name == __file__)
    seen: list[tuple[int, ...]] = []

    def read() -> None:
        for _ in range(2):
            opened(opens, str(path))
            seen.append(opens.again)

    read()
    assert opens.again == ()
    threads = [threading.Thread(target=read) for _ in range(MAX_THREADS + 2)]
    for thread in threads:
        thread.start()
        thread.join()
    assert len(opens.again) <= MAX_THREADS and threads[-1].ident in opens.again
    assert sum(row[2] for row in opens.rows()) == 2 * (len(threads) + 1)


def opened(opens: FileOpens, path: str) -> None:
    """As the audit hook calls it: from the frame of ``open``, as it were, below the user's."""
    hook(opens, path)


def hook(opens: FileOpens, path: str) -> None:
    opens.opened(path, "r", 0)

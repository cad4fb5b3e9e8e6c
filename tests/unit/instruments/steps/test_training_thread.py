"""Whose thread trains: told by the first call that trains, not by who only looks a method up."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tfperfkit.instruments.steps.call_state import CallState, Token


class Listener:
    def entering(self, site: int) -> None: ...
    def marked(self, marker: Any) -> None: ...
    def new_site(self, site: Any) -> None: ...


@pytest.mark.parametrize("called", [True, False])
def test_a_method_that_is_looked_up_and_not_called_makes_no_training_thread(called: bool) -> None:
    """Keras' saver walks the attributes of a model, ``train_on_batch`` among them."""
    state: Any = CallState(Listener(), lambda name: False)  # type: ignore[arg-type]
    state.thread, state.inside = threading.get_ident(), 1
    token = Token(1, object(), True)
    token.first = True
    state.ended(token, called)
    assert (state.thread is not None, state.inside) == (called, 0)

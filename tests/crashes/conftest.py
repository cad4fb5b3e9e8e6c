"""Assertions of the harness are shown with both sides."""

import pytest

pytest.register_assert_rewrite("crash")

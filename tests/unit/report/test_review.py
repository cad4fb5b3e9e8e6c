"""Patches as suggested changes in a review on GitHub."""

from __future__ import annotations

import json
from typing import Any

from fixing_builder import finding_at

from tfperfkit.report.replacements import replacements, suggestions
from tfperfkit.report.review import review

PATCH = """\
--- a/train.py
+++ b/train.py
@@ -1,6 +1,7 @@
 import numpy as np
+import functools
 
-for n in range(9):
-    x = load()
+x = load()
+for n in range(9):
     train(x)
 # ```
@@ -20,2 +21,3 @@
 last()
+more()
"""


def comments(patch: str, folder: str = "/repo/src", root: str = "/repo") -> list[dict[str, Any]]:
    document = json.loads(review([finding_at("INP002", (3, ""), patch=patch)], folder, root))
    assert document["event"] == "COMMENT"
    found: list[dict[str, Any]] = document["comments"]
    return found


def test_each_change_stands_at_the_lines_that_it_replaces() -> None:
    first, second, third = comments(PATCH.replace("@@ -20,2 +21,3 @@", "@@ -20,1 +21,2 @@"))
    assert first["path"] == "src/train.py" and (first["line"], "start_line" in first) == (2, False)
    assert first["body"].endswith("```suggestion\nimport functools\n\n```") and "INP002" in first["body"]
    assert (second["start_line"], second["line"], second["side"]) == (3, 4, "RIGHT")
    assert second["body"].endswith("```suggestion\nx = load()\nfor n in range(9):\n```")
    assert (third["line"], third["body"].partition("suggestion\n")[2]) == (20, "last()\nmore()\n```")


def test_a_fence_in_the_code_does_not_end_the_suggestion() -> None:
    (only,) = comments("--- a/t.py\n+++ b/t.py\n@@ -1,1 +1,1 @@\n-x\n+# ```\n")
    assert only["body"].endswith("````suggestion\n# ```\n````")


def test_nothing_is_suggested_without_a_patch_or_for_a_cut_one() -> None:
    assert comments("") == comments("--- a/../t.py\n+++ b/t.py\n@@ -1,1 +1,1 @@\n-x\n+y\n") == []
    assert (
        suggestions("--- a/t.py\n@@ -1,2 +1,2 @@\n-x\n", "/")
        == replacements("--- a/t.py\n@@ -1,2 +1,2 @@\n-x\n", "/")
        == ()
    )

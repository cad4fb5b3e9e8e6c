"""One module for each mechanical remedy: ``fix(case)`` gives the edits, or raises ``NoFix`` with the reason."""

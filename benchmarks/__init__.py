"""The cost of tfperfkit, as ratios measured in alternation.

``make bench`` runs it; results/overhead.md has the result.
"""

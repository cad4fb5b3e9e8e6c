"""What tfperfkit costs, as ratios measured in turn. ``make bench`` runs it; docs/overhead.md has the result."""

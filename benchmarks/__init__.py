"""What tfperfkit costs, as ratios measured in turn. ``make bench`` runs it; results/overhead.md has the result."""

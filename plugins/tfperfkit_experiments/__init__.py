"""The experiments that tfperfkit brings: a folder each, found by entry point as anybody's are."""

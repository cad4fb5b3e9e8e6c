"""The trackers that come with tfperfkit: a folder each, found by entry point as anybody's are."""

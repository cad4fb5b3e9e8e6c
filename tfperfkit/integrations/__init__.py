"""tfperfkit within other frameworks: each module is imported by whoever uses that framework."""

"""Names that probes written for version 1 import: ``tfperfkit.records.steps`` was called so."""

from tfperfkit.records.steps import Marker, Site, Step, StepTable

__all__ = ["Marker", "Site", "Step", "StepTable"]

"""Counting tokens: exact, bounded, calibrated."""

from contextwright.tokens.count import Calibration, Count

__all__ = ["Calibration", "Count"]

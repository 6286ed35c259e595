"""Worked numbers: units, calculations and the variants of drills."""

"""Fixtures that every room's tests share."""

from __future__ import annotations

from hypothesis import settings

# Timings belong in benchmarks: a slow machine fails no property. Found examples are not kept between runs.
settings.register_profile("house", deadline=None, database=None, derandomize=True)
settings.load_profile("house")

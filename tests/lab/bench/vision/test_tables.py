"""What `companion bench vision` prints, in a small size."""

from __future__ import annotations

import cv2
import pytest

from companion.lab.bench.vision.tables import measure

pytestmark = pytest.mark.process


def test_the_figures() -> None:
    threads = cv2.getNumThreads()
    figures = measure(scenes=3, watch_s=0.8, games=0)
    assert cv2.getNumThreads() == threads
    assert figures["marker corners measured"] >= 36
    assert 0 < figures["marker corner error, max (px)"] <= 0.5
    assert figures["marker corner error, mean (px)"] <= figures["marker corner error, 99 % (px)"]
    assert figures["tables with all markers in the frame"] >= 1
    assert figures["of these found and straightened (%)"] == 100
    assert figures["aspect of the straightened board, max error (%)"] < 3
    assert figures["idle watcher with a listener, 1280×960 at 5 fps (% of a core)"] > 0
    assert all(value >= 0 for value in figures.values())

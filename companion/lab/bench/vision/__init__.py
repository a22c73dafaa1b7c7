"""Figures of the camera: tables, boards and cards as our renderer draws them, and the tracker on simulated looks."""

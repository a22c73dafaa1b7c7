"""The tabletop companion: hears, sees, judges and shows a board game night.

Importing this package imports nothing else; each room is imported by whoever needs it.
"""

__version__ = "0.1.0"

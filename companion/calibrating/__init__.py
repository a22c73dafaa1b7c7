"""Calibrating an igloo: labelled shakes gathered one sitting at a time, the referee's count, recordings."""

"""The igloo's program as files: building the images, and knowing them.

A package by itself that imports nothing of ours, so that it can run where the rest is not installed.
"""

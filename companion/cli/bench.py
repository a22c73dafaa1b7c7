"""`companion bench`: the tables of the lab, from a checkout."""

from __future__ import annotations

from companion.cli.lab import lab

command = lab("bench.command").command

"""A coverage-guided fuzzer (atheris, libFuzzer's for Python) on the readers of :mod:`companion.lab.soak.targets`.

Each reader is fuzzed in a process of its own: libFuzzer ends its process, and a reader that crashes or eats the
memory must not end the soak.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

LONGEST = 4096
"""Bytes of an input; what is wrong with longer ones is wrong with some of these."""
MEMORY_MB = 1024
HANG_S = 20
INSTRUMENTED = ["companion.igloo", "companion.rules", "companion.night", "companion.settings", "vision", "web"]


@dataclass(frozen=True, slots=True)
class FuzzResult:
    """What fuzzing a reader gave: inputs tried, edges reached, and what it stumbled over (empty: nothing)."""

    reader: str
    tried: int
    edges: int
    stumbled: str = ""
    culprit: bytes = b""


def available() -> bool:
    """Return whether the fuzzer is installed; it comes with the development extras, for x86-64."""
    return importlib.util.find_spec("atheris") is not None


def fuzz(readers: Iterable[str], seconds: float, *, seed: int = 0) -> Iterator[FuzzResult]:
    """Fuzz each reader for so long (``seed`` 0: another every time), beginning with its seeds."""
    from companion.lab.soak.seeds import seeds

    for reader in readers:
        with tempfile.TemporaryDirectory(prefix="companion-fuzz-") as name:
            corpus = Path(name) / "corpus"
            corpus.mkdir()
            for number, data in enumerate(seeds(reader)):
                (corpus / f"{number:03}").write_bytes(data)
            yield _fuzzed(reader, corpus, seconds, seed)


def _fuzzed(reader: str, corpus: Path, seconds: float, seed: int) -> FuzzResult:
    command = [
        *(sys.executable, "-m", "companion.lab.soak.fuzz", reader, str(corpus)),
        *(f"-max_total_time={max(1, round(seconds))}", f"-max_len={LONGEST}", f"-rss_limit_mb={MEMORY_MB}"),
        *(f"-timeout={HANG_S}", "-print_final_stats=1", f"-seed={seed}", f"-artifact_prefix={corpus.parent}/found-"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=seconds + 300)
    said = done.stderr + done.stdout
    tried = re.search(r"number_of_executed_units:\s+(\d+)", said)
    edges = re.findall(r"\bcov: (\d+)", said)
    culprits = sorted(corpus.parent.glob("found-*"))
    stumbled = ""
    if done.returncode or culprits or tried is None:
        words = re.search(r"^(?:\w+\.)*\w*(?:Error|Exception)\b.*", said, re.MULTILINE)
        words = words or re.search(r"^==\d+== ?ERROR.*", said, re.MULTILINE)
        stumbled = words[0] if words is not None else said.strip() or f"exit status {done.returncode}"
    culprit = culprits[0].read_bytes() if culprits else b""
    return FuzzResult(reader, int(tried[1]) if tried else 0, int(edges[-1]) if edges else 0, stumbled[:200], culprit)


def main() -> None:
    """Be the process that fuzzes one reader: its name, its corpus, libFuzzer's own options."""
    import atheris

    # A process remembers as its own the greatest size of the one that began it, and libFuzzer would take that for a
    # reader that eats the memory; a forked one remembers nothing.
    child = os.fork()
    if child:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    reader, corpus, *options = sys.argv[1:]
    with atheris.instrument_imports(include=INSTRUMENTED):
        from companion.lab.soak.targets import TARGETS, given

        read = TARGETS[reader]()
        # The seeds once more in here: what a reader imports only when it needs it is watched as well.
        for data in sorted(Path(corpus).iterdir()):
            given(read, data.read_bytes())
    atheris.Setup([sys.argv[0], *options, corpus], lambda data: given(read, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()

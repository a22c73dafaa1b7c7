"""Modules as one script, for a page that must hold all of itself.

What the page's modules may say of imports and exports is little, so few rules turn them into functions that run one
after the other: ``import { a, b as c } from "./x.js";`` and ``export`` before a function, a class or a constant.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

from web.http.assets import Assets

IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.-]+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?function\*?|class|const) (\w+)", re.MULTILINE)
LEFT = re.compile(r"^(?:import|export)\b|\bimport\(|^await ", re.MULTILINE)


def script(files: Assets, entry: str) -> str:
    """Return a module and all that it imports as one script, each module after those that it needs.

    :raises ValueError: for a module that says more than this module's head allows, or a circle of imports.
    """
    done: dict[str, str] = {}
    _add(files, entry, done, ())
    return '"use strict";\n' + "".join(done.values())


def _add(files: Assets, name: str, done: dict[str, str], above: tuple[str, ...]) -> None:
    if name in above:
        raise ValueError(f"{name} imports itself through {', '.join(above)}")
    if name in done:
        return
    source = files.text(f"js/{name}.js")
    for _, other in IMPORT.findall(source):
        _add(files, other, done, (*above, name))
    body = IMPORT.sub(lambda found: f"const {{{_renamed(found[1])}}} = {_variable(found[2])};\n", source)
    names = ", ".join(found[1] for found in EXPORT.findall(body))
    body = EXPORT.sub(r"\1 \2", body)
    if LEFT.search(body):
        raise ValueError(f"{name} says more of modules than can be made one script")
    done[name] = f"const {_variable(name)} = (() => {{\n{body}return {{ {names} }};\n}})();\n"


def _renamed(names: str) -> str:
    return re.sub(r"(\w+) as (\w+)", r"\1: \2", names)


def _variable(name: str) -> str:
    return "module_" + name.replace("-", "_")


def source_hash(text: str) -> str:
    """Return what a content security policy says of an inline script or style that may be used."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

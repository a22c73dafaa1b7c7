"""What the page is made of: styles, modules, drawings, read once into memory and packed once.

Their address carries a stamp of the contents (``/static/<stamp>/js/main.js``), so a browser may keep them for
ever and never mixes two versions. A request names a file only as a key of a dictionary: no path of a request ever
reaches the file system.
"""

from __future__ import annotations

import gzip
import hashlib
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flask import Blueprint, Response, abort, request

from web.http.game_modules import PART, REGISTRY, module_of, registry

FOLDER = Path(__file__).parents[1] / "static"

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
IMPORT = re.compile(r'^(?:import|export)\b[^;"]*? from "(\.{1,2}/[\w./-]+)";', re.MULTILINE)
FOR_EVER = "public, max-age=31536000, immutable"


COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*(?:(?!\*/).)*\*/[ \t]*)\n", re.MULTILINE | re.DOTALL)
"""Comments that have lines of their own: they are for who reads the source, not for phones."""


def lean(name: str, data: bytes) -> bytes:
    """Return a file as phones get it: modules and styles without comments."""
    return COMMENT.sub("", data.decode()).encode() if name.endswith((".js", ".css")) else data


@dataclass(frozen=True, slots=True)
class Asset:
    """One file: its bytes as they are and packed, and its media type."""

    plain: bytes
    packed: bytes
    mimetype: str


class Assets:
    """All files of a folder by their relative name, the registry of the games' modules, and the stamp of it all."""

    def __init__(self, folder: Path = FOLDER, offered: Sequence[str] = ()) -> None:
        """Read ``folder``; ``offered`` are the games of the page, in its order."""
        paths = sorted(p for p in folder.rglob("*") if p.suffix in TYPES)
        texts = {p.relative_to(folder).as_posix(): p.read_bytes() for p in paths}
        texts[REGISTRY] = registry(texts, offered).encode()
        digest = hashlib.sha256()
        self._files: dict[str, Asset] = {}
        for name, text in texts.items():
            data = lean(name, text)
            digest.update(name.encode() + b"\0" + data + b"\0")
            self._files[name] = Asset(data, gzip.compress(data, mtime=0), TYPES[Path(name).suffix])
        self.stamp = digest.hexdigest()[:12]

    def get(self, name: str) -> Asset | None:
        """Return a file by its relative name, or None."""
        return self._files.get(name)

    def names(self, ending: str) -> list[str]:
        """Return the relative names that end so, in order."""
        return [name for name in self._files if name.endswith(ending)]

    def text(self, name: str) -> str:
        """Return what a file holds.

        :raises KeyError: when there is no such file.
        """
        return self._files[name].plain.decode()

    def modules(self, *names: str) -> list[str]:
        """Return modules and all that they import at once, directly or not: what a page fetches before it draws.

        What a module imports later (``import("./x.js")``) is no part of it.
        """
        found: list[str] = []
        todo = [*names]
        while todo:
            module = todo.pop()
            if module not in found:
                found.append(module)
                todo += [_beside(module, other) for other in IMPORT.findall(self.text(module))]
        return sorted(found)

    def parts(self, game_id: str) -> dict[str, str]:
        """Return the modules that a game's module fetches when they are needed, each by its part's name."""
        module = module_of(self._files, game_id)
        return {} if module is None else {part: _beside(module, path) for part, path in PART.findall(self.text(module))}

    def games(self) -> list[str]:
        """Return the games that have a module of their own here, offered or not."""
        found = {name.removeprefix("js/games/").partition("/")[0].removesuffix(".js") for name in self.names(".js")}
        return sorted(game_id for game_id in found if module_of(self._files, game_id))

    def url(self, name: str) -> str:
        """Return the stamped address of a file.

        :raises KeyError: when there is no such file: a template that names one is wrong.
        """
        if name not in self._files:
            raise KeyError(name)
        return f"/static/{self.stamp}/{name}"


def _beside(module: str, path: str) -> str:
    """Return the name of what a module calls by a path of its own."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(module), path))


@cache
def shipped(offered: tuple[str, ...] = ()) -> Assets:
    """Return the files of the package for a page that offers these games, read and packed once."""
    return Assets(FOLDER, offered)


def accepts_gzip() -> bool:
    """Tell whether this request takes gzip."""
    return request.accept_encodings.quality("gzip") > 0


def packed(response: Response) -> Response:
    """Return an answer packed, where the request takes that: long texts go out to every phone of a crowded table."""
    vary = response.headers.get("Vary")
    response.headers["Vary"] = "Accept-Encoding" if vary is None else f"{vary}, Accept-Encoding"
    if accepts_gzip():
        response.set_data(gzip.compress(response.get_data(), compresslevel=3, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    return response


def blueprint(assets: Assets) -> Blueprint:
    """Return the views that answer ``/static/<stamp>/<name>``."""
    views = Blueprint("assets", __name__)

    @views.get("/static/<stamp>/<path:name>")
    def static_file(stamp: str, name: str) -> Response:
        asset = assets.get(name)
        if asset is None or stamp != assets.stamp:
            abort(404)
        packed = accepts_gzip()
        response = Response(asset.packed if packed else asset.plain, content_type=asset.mimetype)
        response.headers["Cache-Control"] = FOR_EVER
        response.headers["Vary"] = "Accept-Encoding"
        if packed:
            response.headers["Content-Encoding"] = "gzip"
        return response

    return views

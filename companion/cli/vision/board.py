"""`companion vision calibrate`, `teach` and `look`: where the board is, what its pieces look like, what lies on it."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray
    from vision.board.layout import Layout
    from vision.board.pose import Pose
    from vision.read.calibrate import Calibrated
    from vision.read.profile import Profile
    from vision.read.reader import BoardLook

PHOTO = click.Path(path_type=Path)
PROFILE = click.option(
    "--profile",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The taught table's folder.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
OUT = click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the photo with the places drawn over it (.png or .jpg).",
)


def read_photo(path: Path) -> ByteArray:
    """Return the picture in a file; an error names the file."""
    from companion.ports import BadDataError
    from vision.decode.photo import read_photo_file

    try:
        return read_photo_file(path)
    except BadDataError as error:
        raise BadDataError(f"{path}: {error}") from error


def _corners(text: str) -> FloatArray:
    import numpy as np

    numbers = re.findall(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?", text)
    if len(numbers) != 8 or re.sub(r"[-+\d.e,;\s]", "", text):
        raise click.UsageError('--corners is "x,y x,y x,y x,y", clockwise from the far left.')
    corners: FloatArray = np.array([float(number) for number in numbers]).reshape(4, 2)
    if not (np.abs(corners) < 1e6).all():
        raise click.UsageError("--corners are pixels of the photo.")
    return corners


def check_out(out: Path | None, photos: tuple[Path, ...]) -> None:
    """Return quietly when a picture can be written there: a PNG or JPEG, and none of the photos that are read."""
    if out is None:
        return
    if out.suffix.lower() not in {".png", ".jpg", ".jpeg"}:
        raise click.UsageError("--out must end in .png or .jpg")
    if any(out.resolve() == photo.resolve() for photo in photos):
        raise click.UsageError("--out would write over the photo")


def write_picture(out: Path, image: ByteArray) -> None:
    """Write a picture (BGR) in the form that its name says."""
    import cv2

    from vision.whole_file import write_whole

    done, data = cv2.imencode(out.suffix.lower(), image)
    if not done:
        raise OSError(f"{out}: the picture cannot be written.")
    write_whole(out, data.tobytes())


@click.command()
@click.argument("layout_name", metavar="LAYOUT")
@click.argument("photos", metavar="PHOTO...", nargs=-1, required=True, type=PHOTO)
@PROFILE
@click.option("--corners", help='The grid\'s corners in pixels, clockwise from the far left: "x,y x,y x,y x,y".')
@OUT
@JSON
def calibrate(
    layout_name: str, photos: tuple[Path, ...], folder: Path, corners: str | None, out: Path | None, as_json: bool
) -> None:
    """Find the board of LAYOUT in PHOTO... and keep where it is; a new profile, or what was taught stays.

    By four markers beside it, by its own lines, or by the corners that are given (those of the first photo).
    """
    from dataclasses import replace

    from vision.board.layout import open_layout
    from vision.read.calibrate import calibrate as find
    from vision.read.calibrate import overlay, to_profile
    from vision.read.profile import save_profile

    check_out(out, photos)
    layout = open_layout(layout_name)
    clicked = _corners(corners) if corners is not None else None
    profile = _former(folder, layout)
    images = [read_photo(photo) for photo in photos]
    results = find(images, layout, clicked)
    new = to_profile(images, layout, results)
    if profile is not None:
        new = replace(new, shots=profile.shots, network=profile.network, unlearnt=profile.unlearnt)
    if out is not None:
        write_picture(out, overlay(images[0], results[0].pose, layout))
    save_profile(folder, new)
    for photo, result in zip(photos, results, strict=True):
        _say_calibrated(photo, result, layout, out, as_json)


def _former(folder: Path, layout: Layout) -> Profile | None:
    """Return the profile in a folder; None where there is none yet."""
    from vision.read.profile import load_profile

    return load_profile(folder, layout) if (folder / "profile.json").exists() else None


def _say_calibrated(photo: Path, result: Calibrated, layout: Layout, out: Path | None, as_json: bool) -> None:
    if as_json:
        answer = {"photo": str(photo), "board": result.to_json(layout), "out": str(out) if out else None}
        click.echo(json.dumps(answer, ensure_ascii=False))
        return
    corners = "  ".join(f"{x:.1f},{y:.1f}" for x, y in result.pose.corners(layout.width, layout.height))
    click.echo(f"{photo}: found by {result.how}; corners {corners}; off by about {result.pose.error_px:.1f} px")


@click.command()
@click.argument("layout_name", metavar="LAYOUT")
@click.argument("pairs", metavar="PHOTO LABELS...", nargs=-1, required=True, type=PHOTO)
@PROFILE
@JSON
def teach(layout_name: str, pairs: tuple[Path, ...], folder: Path, as_json: bool) -> None:
    """Learn from PHOTO what the things on the board of LAYOUT look like; LABELS (CSV or JSON) says what lies where.

    Several photos, each with its labels behind it, are learnt from at once.
    """
    from companion.ports import BadDataError
    from vision import messages
    from vision.board.labels import read_label_file
    from vision.board.layout import open_layout
    from vision.board.patches import Sampler
    from vision.read.learn_process import learn_beside
    from vision.read.profile import load_profile, printed_places, save_profile
    from vision.read.relocate import BoardRelocator

    if len(pairs) % 2:
        raise click.UsageError("Each photo needs its labels behind it: PHOTO LABELS.")
    layout = open_layout(layout_name)
    profile = load_profile(folder, layout)
    sampler = Sampler(layout)
    told: list[tuple[Path, Pose, int, int]] = []
    for photo, labels in zip(pairs[::2], pairs[1::2], strict=True):
        known = read_label_file(labels, layout)
        image = read_photo(photo)
        pose = BoardRelocator(profile, sampler).find(image)
        if pose is None:
            raise BadDataError(f"{photo}: {messages.NO_BOARD}")
        inside = sampler.inside(pose)
        contents = {layout.index[name]: content for name, content in known.items() if inside[layout.index[name]]}
        if not contents:
            raise BadDataError(f"{photo}: {messages.PARTLY}")
        close = sampler.close(image, pose, printed_places(layout, contents))
        profile = profile.taught(sampler.straighten(image, pose), contents, close, pose.camera)
        told.append((photo, pose, len(contents), len(profile.shots)))
    with tempfile.TemporaryDirectory(prefix="companion-teach-") as beside:
        save_profile(Path(beside), profile)
        profile = learn_beside(layout_name, profile, Path(beside), nice=0)
    save_profile(folder, profile)
    for photo, pose, places, photos in told:
        if as_json:
            board = {
                "found": True,
                "corners": pose.corners(layout.width, layout.height).round(2).tolist(),
                "error_px": round(pose.error_px, 2),
            }
            click.echo(json.dumps({"photo": str(photo), "board": board, "places": places, "photos": photos}))
        else:
            click.echo(f"{photo}: {places} places taught; {photos} photos in the profile")


@click.command()
@click.argument("layout_name", metavar="LAYOUT")
@click.argument("photos", metavar="PHOTO...", nargs=-1, required=True, type=PHOTO)
@PROFILE
@OUT
@JSON
def look(layout_name: str, photos: tuple[Path, ...], folder: Path, out: Path | None, as_json: bool) -> int:
    """Say what lies in each place of the board of LAYOUT in each PHOTO. Exit status 1: in some no board was found."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from vision.board.layout import open_layout
    from vision.read.calibrate import overlay
    from vision.read.reader import TaughtBoard

    check_out(out, photos)
    if out is not None and len(photos) > 1:
        raise click.UsageError("--out is for one photo")
    layout = open_layout(layout_name)
    table = TaughtBoard.open(layout, folder)
    whole = True
    for photo in photos:
        image = read_photo(photo)
        seen = table.look(image)
        whole = whole and seen.found
        if out is not None and seen.pose is not None:
            write_picture(out, overlay(image, seen.pose, layout, words(seen)))
        # A large photo is let go before the next one is read.
        del image
        if as_json:
            click.echo(json.dumps({"photo": str(photo), **seen.to_json()}, ensure_ascii=False))
        else:
            _say_seen(photo, seen)
    return 0 if whole else 1


def words(seen: BoardLook) -> dict[str, str]:
    """Return what lies in each place, a thing a line; a question mark where that is unsure."""
    said = {}
    for name, place in seen.places.items():
        content = place.content
        things = [
            f"{count} {seen.layout.things[thing]}" if count > 1 else str(seen.layout.things[thing])
            for thing, count in content.things
        ]
        lines = [seen.layout.grounds[content.ground], *things]
        said[name] = "\n".join(lines) + (" ?" if place.unsure else "")
    return said


def _say_seen(photo: Path, seen: BoardLook) -> None:
    if seen.pose is None:
        click.echo(f"{photo}: {seen.note}")
        return
    click.echo(f"{photo}:")
    for name, text in words(seen).items():
        click.echo(f"  {name}: {text.replace(chr(10), ', ')}")

"""UF2, the form in which a Raspberry Pi Pico takes a program: 512-byte blocks that are copied onto its drive.

A block is 32 bytes of head, 256 bytes of flash and a tail (github.com/microsoft/uf2). The first 256 bytes of flash are
the second stage of booting, which the boot ROM believes only with a right CRC in their last four bytes (RP2040 data
sheet, 2.8.1.3.1).
"""

from __future__ import annotations

import struct
from pathlib import Path

from companion.flasher.errors import FirmwareError

FLASH = 0x10000000
RP2040 = 0xE48BFF56
"""The family id of the RP2040 in the UF2 registry."""

_BEGIN, _SECOND, _END = 0x0A324655, 0x9E5D5157, 0x0AB16F30
_FAMILY_PRESENT = 0x2000
_DATA = 256
_BOOT = 252


def crc32(data: bytes) -> int:
    """Return the boot ROM's CRC-32: polynomial 04C11DB7, begun with all ones, nothing reflected, not inverted."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1) ^ (0x04C11DB7 if crc & 0x80000000 else 0)
        crc &= 0xFFFFFFFF
    return crc


def sealed(image: bytes) -> bytes:
    """Return a flash image with the CRC of its second boot stage in place.

    :raises FirmwareError: it is too short, or its first stage is not
    """
    if len(image) <= _BOOT + 4 or any(image[_BOOT : _BOOT + 4]):
        raise FirmwareError("This is no image of a Pico: its first 256 bytes are not a boot stage.")
    return image[:_BOOT] + struct.pack("<I", crc32(image[:_BOOT])) + image[_BOOT + 4 :]


def pack(image: bytes) -> bytes:
    """Return a flash image as UF2."""
    blocks = -(-len(image) // _DATA)
    out = bytearray()
    for number in range(blocks):
        data = image[number * _DATA : (number + 1) * _DATA].ljust(_DATA, b"\0")
        head = (_BEGIN, _SECOND, _FAMILY_PRESENT, FLASH + number * _DATA, _DATA, number, blocks, RP2040)
        out += struct.pack("<8I", *head) + data.ljust(476, b"\0") + struct.pack("<I", _END)
    return bytes(out)


def unpack(data: bytes) -> bytes:
    """Return the flash image of a UF2 file.

    :raises FirmwareError: it is none, is for another chip, or a block is missing or damaged
    """
    if not data or len(data) % 512:
        raise FirmwareError("The UF2 file is cut off.")
    image = bytearray()
    for number in range(len(data) // 512):
        block = data[number * 512 : (number + 1) * 512]
        begin, second, flags, address, size, index, count, family = struct.unpack_from("<8I", block)
        if (begin, second, struct.unpack_from("<I", block, 508)[0]) != (_BEGIN, _SECOND, _END):
            raise FirmwareError(f"Block {number} of the UF2 file is damaged.")
        if family != RP2040 or not flags & _FAMILY_PRESENT:
            raise FirmwareError("The UF2 file is for another chip.")
        if (address, size, index, count) != (FLASH + number * _DATA, _DATA, number, len(data) // 512):
            raise FirmwareError(f"Block {number} of the UF2 file is not where it should be.")
        image += block[32 : 32 + _DATA]
    if crc32(bytes(image[:_BOOT])) != struct.unpack_from("<I", image, _BOOT)[0]:
        raise FirmwareError("The UF2 file has no sound boot stage.")
    return bytes(image)


def find_drive(mounts: Path = Path("/proc/self/mounts")) -> Path | None:
    """Return where a Pico in its boot mode is mounted (it shows a drive with INFO_UF2.TXT), None where none is."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    for line in lines:
        place = Path(line.split(" ")[1].replace("\\040", " "))
        try:
            if "RPI-RP2" in (place / "INFO_UF2.TXT").read_text(encoding="ascii", errors="replace"):
                return place
        except OSError:
            continue
    return None

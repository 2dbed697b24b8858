"""Pictures of pages with a palette: they have few colours, and so are a third as large."""

import collections
import struct
import zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def lines(data):
    """Width, bytes of a pixel and the lines of a picture with eight bits a channel."""
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    assert depth == 8 and colour in (2, 6) and not interlaced
    size = 3 if colour == 2 else 4
    packed, place = b"", 8
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        if kind == b"IDAT":
            packed += data[place + 8:place + 8 + length]
        place += 12 + length
    raw, stride, above, found = zlib.decompress(packed), width * size, bytearray(width * size), []
    for row in range(height):
        start = row * (stride + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        if kind == 1:
            for i in range(size, stride):
                line[i] = line[i] + line[i - size] & 255
        elif kind == 2:
            line = bytearray((a + b) & 255 for a, b in zip(line, above))
        elif kind == 3:
            for i in range(stride):
                line[i] = line[i] + ((line[i - size] if i >= size else 0) + above[i] >> 1) & 255
        elif kind == 4:
            for i in range(stride):
                left, up, corner = (line[i - size] if i >= size else 0), above[i], (above[i - size] if i >= size else 0)
                guess = left + up - corner
                far = abs(guess - left), abs(guess - up), abs(guess - corner)
                best = left if far[0] <= far[1] and far[0] <= far[2] else up if far[1] <= far[2] else corner
                line[i] = line[i] + best & 255
        above = line
        found.append(line)
    return width, size, found


def smaller(data):
    """The same picture; of more than 256 colours the rare ones become the nearest of the others."""
    width, size, rows = lines(data)
    pixels = [tuple(row[i:i + 3]) for row in rows for i in range(0, len(row), size)]
    counts = collections.Counter(pixels)
    kept = [colour for colour, _ in counts.most_common(256)]
    places = {colour: place for place, colour in enumerate(kept)}
    for colour in counts:
        if colour not in places:
            places[colour] = min(range(256), key=lambda place: sum((a - b) ** 2 for a, b in zip(kept[place], colour)))
    packed = b"".join(
        b"\0" + bytes(places[pixel] for pixel in pixels[start:start + width]) for start in range(0, len(pixels), width))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, len(rows), 8, 3, 0, 0, 0))
            + chunk(b"PLTE", b"".join(bytes(colour) for colour in kept))
            + chunk(b"IDAT", zlib.compress(packed, 9)) + chunk(b"IEND", b""))

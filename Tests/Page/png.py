"""Pictures of pages with a palette: they have few colours, and so are a third as large."""

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
    """The same picture; where it has more than 256 colours, those that are nearly alike become one."""
    width, size, rows = lines(data)
    for mask in 255, 252, 248, 240, 224:
        palette, packed = {}, bytearray()
        for row in rows:
            packed.append(0)
            for i in range(0, len(row), size):
                colour = row[i] & mask, row[i + 1] & mask, row[i + 2] & mask
                packed.append(palette.setdefault(colour, len(palette)) & 255)
            if len(palette) > 256:
                break
        if len(palette) <= 256:
            break
    # The middle of what became one.
    half = (255 - mask) // 2
    colours = b"".join(bytes(min(255, part + half) if part < 255 & mask else 255 for part in colour) for colour in palette)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, len(rows), 8, 3, 0, 0, 0))
            + chunk(b"PLTE", colours) + chunk(b"IDAT", zlib.compress(bytes(packed), 9)) + chunk(b"IEND", b""))

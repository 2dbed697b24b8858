"""The disk that every contestant writes to: what it is, and what an fsync costs on it."""

import os
import statistics
import time

from relaybench.system import Unavailable


def kind(directory):
    """The type of the file system `directory` is on."""
    path, found = os.path.realpath(directory), ("", "?")
    with open("/proc/self/mounts") as file:
        for line in file:
            _, mount, name, *_ = line.split()
            inside = path == mount or path.startswith(mount.rstrip("/") + "/")
            if inside and len(mount) >= len(found[0]):
                found = (mount, name)
    return found[1]


def check(directory):
    """An fsync that costs nothing would make every figure a lie."""
    if kind(directory) in ("tmpfs", "ramfs"):
        raise Unavailable(f"{directory} is in memory; name a directory on a disk with --directory")


def sync_microseconds(directory, count=200):
    """The median of appending 4 KiB and fdatasync."""
    path, times = os.path.join(directory, "probe"), []
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        for _ in range(count):
            os.write(descriptor, bytes(4096))
            begin = time.monotonic()
            os.fdatasync(descriptor)
            times.append((time.monotonic() - begin) * 1e6)
    finally:
        os.close(descriptor)
        os.unlink(path)
    return statistics.median(times)


def used_bytes(directory):
    """What the files of a directory take on disk."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except FileNotFoundError:
                pass
    return total

"""Where it was measured: the machine, its disk, and what is measured beside what."""

import os
import platform
import re
import statistics
import time

from . import system
from .system import Unavailable


def file_system(directory):
    path, found = os.path.realpath(directory), ("", "?")
    with open("/proc/self/mounts") as file:
        for line in file:
            _, mount, name, *_ = line.split()
            inside = path == mount or path.startswith(mount.rstrip("/") + "/")
            if inside and len(mount) >= len(found[0]):
                found = (mount, name)
    return found[1]


def check_disk(directory):
    """An fsync that costs nothing would make every figure a lie."""
    if file_system(directory) in ("tmpfs", "ramfs"):
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
    """The bytes that the files of a directory take on disk."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except FileNotFoundError:
                pass
    return total


def described(directory):
    """A record of what the figures depend on."""
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    with open("/proc/meminfo") as file:
        memory = int(re.search(r"MemTotal:\s*(\d+)", file.read())[1]) / 1024**2
    return {
        "processor": model[1] if model else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory),
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", "?"),
        "disk": file_system(directory),
        "sync_us": round(sync_microseconds(directory)),
        "real_time": system.is_real_time(),
        # Without neighbours it is about nothing.
        "load_before": round(os.getloadavg()[0], 2),
    }

"""Accepting at a steady rate while the store writes its log back: what a checkpoint costs those who wait."""

import array
import bisect
import os
import threading
import time

from .figures import percentile
from .load import Client


class Watch:
    """Notes when the main file of the database was written to: with a write-ahead log, only by a checkpoint."""

    def __init__(self, path):
        self.path = path
        self.moments = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _run(self):
        last = os.stat(self.path).st_mtime_ns
        while not self._ended.wait(0.002):
            changed = os.stat(self.path).st_mtime_ns
            if changed != last:
                last = changed
                self.moments.append(time.monotonic_ns())


def database(server):
    """The file of the state directory that has a log beside it."""
    state = os.path.join(server.directory, "state")
    names = [name for name in os.listdir(state) if os.path.exists(os.path.join(state, name + "-wal"))]
    return os.path.join(state, names[0])


def measure(directory, server, words):
    """Latencies in all, and of those whose wait had a checkpoint in it (or the 10 ms before)."""
    path = os.path.join(directory, "samples")
    with Watch(database(server)) as watch:
        figures = Client(directory, server, [*words, "-o", path]).run()
    with open(path, "rb") as file:
        samples = array.array("Q", file.read())
    os.unlink(path)
    during, apart = [], []
    for end, wait in zip(samples[0::2], samples[1::2]):
        wait &= 0xFFFFFFFF
        place = bisect.bisect_left(watch.moments, end - wait * 1000)
        met = place < len(watch.moments) and watch.moments[place] <= end + 10_000_000
        (during if met else apart).append(wait)
    return figures | {
        "checkpoints": len(watch.moments), "p99_during_us": percentile(during, 0.99),
        "p99_apart_us": percentile(apart, 0.99)}

"""Scenario 10: what the core takes to decide, without anything around it."""

import json
import os
import subprocess
import sys

from . import counts, system
from .servers import ROOT
from .system import Unavailable

COUNT = 1_000_000


def decision(directory):
    """Nanoseconds and allocations of one decision: an answer of 503 is judged, a rule found, a wait chosen."""
    build = [os.path.join(ROOT, "deploy", "build"), "--product", "PureBenchmark"]
    environment = dict(os.environ, RELAY_BENCHMARK="1")
    try:
        subprocess.run(build, check=True, stdout=sys.stderr, env=environment, timeout=1800)
        folder = subprocess.run(
            [*build, "--show-bin-path"], check=True, capture_output=True, text=True, env=environment).stdout.split()[0]
    except subprocess.SubprocessError as error:
        raise Unavailable(f"the benchmark of pure code was not built: {error}") from error
    program = os.path.join(folder, "PureBenchmark")
    process = system.start([program, "decision"], system.PROXY_CORE, stdout=subprocess.PIPE)
    said, _ = process.communicate(timeout=120)
    few, many = (allocations(directory, program, count) for count in (COUNT, 2 * COUNT))
    return {"nanoseconds": json.loads(said)["median_ns"], "allocations": round((many - few) / COUNT, 3)}


def allocations(directory, program, count):
    path = os.path.join(directory, "counts")
    with open(path, "wb") as file:
        file.write(bytes(24))
    environment = dict(os.environ, LD_PRELOAD=counts.counting_library(directory), COUNTING_FILE=path)
    subprocess.run(
        [program, "decisions", str(count)], check=True, env=environment, timeout=120, stdout=subprocess.DEVNULL)
    with open(path, "rb") as file:
        return int.from_bytes(file.read(8), sys.byteorder)

"""The parts that scenarios are made of; daemon, callers and users are those of Tests/EndToEnd."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "EndToEnd"))

"""A daemon with routes, jobs and labels, some of which somebody meant ill with."""

import json
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "EndToEnd"))

from relay import Relay, RelayTest, daemon, route  # noqa: E402
from upstream import refused_port  # noqa: E402

FOLDER = pathlib.Path(daemon()).parent
COMMAND = FOLDER / "waystation"
# A label each that would do something, or be more than one word, if a shell read it.
HOSTILE = ["a=$(touch pwned)", "a=`touch pwned`", "a=b c", "a='b'", 'a="b"', "a=;touch pwned", "a=&touch pwned",
           "a=|touch pwned", "a=>pwned", "a=*", "a=~root", "a=\\", "a=${HOME}", "a=[b]", "a={b,c}", "a=!!", "a=#b",
           "--a=b", "~=b", "%1=b", "a=ü", "a=\u202eb", "a=b\u2028c"]
HARMLESS = ["order=8841", "order=8842", "url=http://x/y:1@z", "stage=a,b+c"]


class CompletionTest(RelayTest):
    @classmethod
    def setUpClass(cls):
        cls.relay = cls.shared_relay({
            name: route(f"http://127.0.0.1:{refused_port()}/", max_attempts=100) for name in ("alpha", "alpine", "beta.2")})
        # A socket of root's may be systemd's where the machine has one, and is not asked then.
        cls.relay.start()
        if os.geteuid() == 0:
            os.chown(cls.relay.control, 65534, -1)
        cls.jobs = []
        for label in HARMLESS + HOSTILE:
            name, value = label.split("=", 1)
            job = {"route": "alpha", "options": {"labels": {name: value}, "delay": "1h"},
                   "request": {"path": "x", "text": "x"}}
            got = cls.relay.ask(
                "POST", "/v1/jobs", [("Content-Type", "application/json")], json.dumps(job).encode())
            if got.status == 202:
                cls.jobs.append(got.json()["id"])
            else:
                assert label in HOSTILE, got
        cls.jobs.reverse()


def timed(action):
    """The value that an action returns, and its milliseconds."""
    began = time.monotonic()
    done = action()
    return done, (time.monotonic() - began) * 1000

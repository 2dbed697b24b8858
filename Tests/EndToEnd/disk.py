"""A small disk for one daemon, in a mount namespace of its own."""

import os
import pathlib
import subprocess

MOUNT = 'mount -t tmpfs -o mode=0700,size="$1" none "$0" && shift && exec "$@"'


def may_mount():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


def on_small_disk(relay, size):
    """The relay's state directory, which is to be such a disk from its start on."""
    state = relay.directory / "state"
    state.mkdir(mode=0o700)
    relay.before = ["unshare", "-m", "--propagation", "private", "bash", "-c", MOUNT, str(state), size]
    return state


def inside(relay, state):
    """The disk of a relay that runs, as others may write to it."""
    return pathlib.Path(f"/proc/{relay.process.pid}/root{state}")

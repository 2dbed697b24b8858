"""Processes: where they run, what they cost."""

import ctypes
import os
import signal
import subprocess

PROXY_CORE = 0
LOAD_CORE = 1
# Whether what is measured goes before everything else on the machine, where that is allowed.
wants_real_time = True


class Unavailable(Exception):
    """A contestant or a scenario cannot run here; says why."""


_libc = ctypes.CDLL(None)


def is_real_time():
    """Whether what is started here goes before everything else: whether it is wanted, and allowed."""
    if not wants_real_time:
        return False
    try:
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        os.sched_setscheduler(0, *before)
        return True
    except PermissionError:
        return False


def start(
    command, core, environment=None, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, log=None, user=None,
    real_time=True,
):
    """Starts a process on `core`, or on all of several, at real-time priority where that is allowed.

    Without it a neighbour doubles every figure. Nothing stands between exec and main.
    """
    cores = {core} if isinstance(core, int) else set(core)

    def prepare():
        os.sched_setaffinity(0, cores)
        if real_time and wants_real_time:
            go_first()
        if user is not None and os.getuid() == 0:
            os.initgroups(user.pw_name, user.pw_gid)
            os.setgid(user.pw_gid)
            os.setuid(user.pw_uid)
        die_with_parent()

    return subprocess.Popen(
        command, env=environment, stdin=stdin, stdout=stdout, stderr=log or subprocess.DEVNULL,
        preexec_fn=prepare, text=True)


def go_first():
    """Between fork and exec: before everything else on the machine, where that is allowed."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        pass


def die_with_parent():
    """Between fork and exec: a benchmark that is killed must not leave its daemons behind."""
    _libc.prctl(1, signal.SIGTERM)


def stop(process):
    """Ends a process this program started."""
    if process is None or process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(5)


def children(pid):
    """Of all threads: a server may start its workers from any."""
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children") as file:
            found += [int(word) for word in file.read().split()]
    return found


def descendants(pid):
    found = []
    for child in children(pid):
        found += [child, *descendants(child)]
    return found


def cpu_nanoseconds(pid):
    """Time on a processor of all threads alive, user and system together.

    The scheduler's own sum, to the nanosecond; utime and stime in /proc/PID/stat are scaled from it and count
    in hundredths of a second.
    """
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                total += int(file.read().split()[0])
        except FileNotFoundError:
            pass
    return total


def user_and_system_ticks(pid):
    with open(f"/proc/{pid}/stat") as file:
        words = file.read().rpartition(")")[2].split()
    return int(words[11]), int(words[12])


def memory_bytes(pid):
    """Memory of the process that is in use now, in bytes: all of it, and what no file stands behind."""
    found = {}
    with open(f"/proc/{pid}/smaps_rollup") as file:
        for line in file:
            if line.startswith(("Rss:", "Anonymous:")):
                name, value = line.split()[:2]
                found[name] = int(value) * 1024
    return found["Rss:"], found["Anonymous:"]

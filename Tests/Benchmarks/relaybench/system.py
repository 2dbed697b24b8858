"""Processes: where they run, what they cost."""

import ctypes
import os
import signal
import subprocess

PROXY_CORE = 0
LOAD_CORE = 1


class Unavailable(Exception):
    """A contestant or a scenario cannot run here; says why."""


def pin(core):
    """Moves this process, and what it starts from now on, to one core."""
    os.sched_setaffinity(0, {core})


_libc = ctypes.CDLL(None)


def _die_with_parent():
    # A benchmark that is killed must not leave its daemons behind.
    _libc.prctl(1, signal.SIGTERM)


def start(
    command, core, environment=None, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, log=None, priority=0
):
    """Starts a process on `core`; it inherits the affinity, so no wrapper stands between exec and main."""
    own = os.sched_getaffinity(0)
    pin(core)
    try:
        process = subprocess.Popen(
            command, env=environment, stdin=stdin, stdout=stdout, stderr=log or subprocess.DEVNULL,
            preexec_fn=_die_with_parent, text=True)
    finally:
        os.sched_setaffinity(0, own)
    raise_priority(process.pid, priority)
    return process


class Logged:
    """Something measured: a process, and what it says."""

    name = ""
    process = None

    def check_alive(self):
        if self.process.poll() is not None:
            self.fail(f"ended with status {self.process.returncode}")

    def fail(self, what):
        with open(self.log) as file:
            tail = file.read()[-2000:]
        self.stop()
        raise Unavailable(f"{self.name} {what}\n{tail}")

    def stop(self):
        stop(self.process)
        self.process = None


def raise_priority(pid, priority):
    """Best effort: the scheduler weighs whole sessions against each other, so the session is raised too."""
    if priority == 0:
        return
    try:
        with open(f"/proc/{pid}/autogroup", "w") as file:
            file.write(str(priority))
    except OSError:
        pass
    try:
        # Linux keeps the value by thread; new threads inherit it.
        for thread in os.listdir(f"/proc/{pid}/task"):
            os.setpriority(os.PRIO_PROCESS, int(thread), priority)
    except OSError:
        pass


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
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


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


def resident_bytes(pid):
    """Memory of the process that is in use now, in bytes."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        for line in file:
            if line.startswith("Rss:"):
                return int(line.split()[1]) * 1024
    raise Unavailable(f"process {pid} tells no resident size")

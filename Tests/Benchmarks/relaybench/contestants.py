"""The proxies: how each is started, and which of its processes does the work."""

import os
import shutil
import socket
import time

from . import system
from .system import Unavailable

PEERS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peers")


class Contestant(system.Logged):
    """A proxy that listens on a Unix socket; a subclass names its program and its configuration."""

    name = ""
    template = ""

    def __init__(self, directory, ports, priority=0):
        self.directory = os.path.join(directory, self.name)
        self.socket = os.path.join(self.directory, "listen.sock")
        self.log = os.path.join(self.directory, "log")
        self.values = {
            "@DIRECTORY@": self.directory, "@SOCKET@": self.socket,
            "@PORT@": str(ports["plain"]), "@TLS_PORT@": str(ports["tls"]),
        }
        self.priority = priority

    def command(self, configuration):
        raise NotImplementedError

    def prepare(self, authority):
        """Makes the directory anew: every start finds an empty store."""
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(os.path.join(self.directory, "state"), mode=0o700)
        shutil.copy(authority, os.path.join(self.directory, "authority.pem"))
        with open(os.path.join(PEERS, self.template)) as file:
            text = file.read()
        for key, value in self.values.items():
            text = text.replace(key, value)
        configuration = os.path.join(self.directory, self.template)
        with open(configuration, "w") as file:
            file.write(text)
        return configuration

    def start(self, authority):
        """Starts the proxy and waits until it serves; returns the seconds from exec to that moment."""
        command = self.command(self.prepare(authority))
        begin = time.monotonic()
        with open(self.log, "w") as log:
            self.process = system.start(command, system.PROXY_CORE, log=log)
        seconds = self.wait_until_ready(begin)
        system.raise_priority(self.process.pid, self.priority)
        system.raise_priority(self.pid, self.priority)
        return seconds

    def wait_until_ready(self, begin):
        while time.monotonic() < begin + 10:
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    probe.connect(self.socket)
                    return time.monotonic() - begin
                except OSError:
                    self.check_alive()
                    time.sleep(0.0001)
        self.fail("does not listen after 10 s")

    @property
    def pid(self):
        """The process that serves requests."""
        return self.process.pid


class Nginx(Contestant):
    name = "nginx"
    template = "nginx.conf"

    def command(self, configuration):
        return ["nginx", "-p", self.directory, "-e", self.log, "-c", configuration]

    @property
    def pid(self):
        for _ in range(1000):
            workers = system.children(self.process.pid)
            if workers:
                return workers[0]
            time.sleep(0.001)
        raise Unavailable("nginx has no worker")


class HAProxy(Contestant):
    name = "haproxy"
    template = "haproxy.cfg"

    def command(self, configuration):
        return ["haproxy", "-db", "-q", "-f", configuration]


class Waystation(Contestant):
    name = "waystation"
    template = "waystation.json"

    def __init__(self, directory, ports, priority, program):
        super().__init__(directory, ports, priority)
        self.program = program

    def command(self, configuration):
        return [self.program, "--config", configuration, "--loops", "1"]

    def start(self, authority):
        command = self.command(self.prepare(authority))
        path = os.path.join(self.directory, "notify.sock")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready, open(self.log, "w") as log:
            ready.bind(path)
            environment = dict(os.environ, NOTIFY_SOCKET=path)
            begin = time.monotonic()
            self.process = system.start(command, system.PROXY_CORE, environment=environment, log=log)
            seconds = self.wait_for_notice(ready, begin)
        system.raise_priority(self.pid, self.priority)
        return seconds

    def wait_for_notice(self, ready, begin):
        ready.settimeout(0.5)
        while time.monotonic() < begin + 10:
            try:
                notice = ready.recv(4096)
            except TimeoutError:
                self.check_alive()
                continue
            if b"READY=1" in notice.split(b"\n"):
                return time.monotonic() - begin
        self.fail("does not say READY=1 after 10 s")

"""The peers of the relay: each in the configuration that `peers` has."""

import glob
import os
import time

from . import system
from .load import HERE
from .servers import INSTALL, Server, from_pypi, numbered
from .system import Unavailable


class Nginx(Server):
    name = "nginx"
    template = "nginx.conf"

    def command(self, configuration):
        return ["nginx", "-p", self.directory, "-e", self.log, "-c", configuration]

    @property
    def pids(self):
        """Its one worker; the master does nothing."""
        for _ in range(1000):
            if workers := system.children(self.process.pid):
                return workers[:1]
            time.sleep(0.001)
        raise Unavailable("nginx has no worker")


class HAProxy(Server):
    name = "haproxy"
    template = "haproxy.cfg"

    def command(self, configuration):
        return ["haproxy", "-db", "-q", "-f", configuration]


class Envoy(Server):
    name = "envoy"
    template = "envoy.json"

    @staticmethod
    def _program():
        # The program itself: the script beside it knows only the folder it was installed in.
        found = glob.glob(from_pypi("lib/python*/site-packages/envoy/_bin/envoy"))
        if not found:
            raise Unavailable(f"envoy is not installed; {INSTALL}")
        return found[0]

    def version(self):
        # Its own path is in what it says.
        return numbered([self._program(), "--version"], "version: [0-9a-f]+/")

    def command(self, configuration):
        return [
            self._program(), "--config-path", configuration, "--concurrency", "1", "--disable-hot-restart", "--log-level",
            "error"]


class Caddy(Server):
    name = "caddy"
    template = "Caddyfile"

    def command(self, configuration):
        return ["caddy", "run", "--config", configuration]

    def environment(self):
        return dict(os.environ, GOMAXPROCS="1", HOME=self.directory)


class Floor(Server):
    """A proxy without a feature: what the system calls alone cost."""

    name = "floor"

    def version(self):
        return ""

    def command(self, configuration):
        return [os.path.join(self.session.directory, "floor.program"), self.socket, str(self.session.plain.port)]

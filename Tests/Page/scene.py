"""A relay in trouble, and the port of `waystation ui` in front of it."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "EndToEnd"))

from caller import Caller, ask
from relay import UNBOUNDED, Lines, Relay, eventually, route
from upstream import Close, Upstream, answer, as_json, refused_port

HOSTILE = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"


def fixed(wait):
    return {"type": "constant", "base_interval": wait}


def command():
    """The command beside the daemon."""
    return str(pathlib.Path(os.environ["WAYSTATIOND"]).parent / "waystation")


def as_html(text):
    return answer(200, text, ("Content-Type", "text/html"))


class Port:
    """`waystation ui` on a socket."""

    def __init__(self, socket, *options, before=(), **environment):
        self.socket = socket
        self.errors, self.links = Lines(), Lines()
        self.process = subprocess.Popen(
            [*before, command(), "ui", *([] if "DISPLAY" in environment else ["--no-open"]), "--socket", socket, *options], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"PATH": os.environ["PATH"], "TZ": "UTC", **environment})
        self.readers = [
            threading.Thread(target=self._read, args=[stream, lines], daemon=True)
            for stream, lines in ((self.process.stdout, self.links), (self.process.stderr, self.errors))]
        for reader in self.readers:
            reader.start()
        self.link = self.links.wait("http://")
        self.host = re.match(r"http://([^/]+)/", self.link)[1]
        self.port = int(self.host.rpartition(":")[2])
        self.origin = f"http://{self.host}"

    @staticmethod
    def _read(stream, lines):
        for line in stream:
            lines.add(line.decode(errors="replace").rstrip("\n"))

    def close(self, how=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(10)
        finally:
            # A stream that is closed while it is read ends its reader with an error.
            for reader in self.readers:
                reader.join(10)
            self.process.stdout.close()
            self.process.stderr.close()


class Scene:
    """Routes of which some do well, and the others each fail in a way of their own."""

    def __init__(self, **members):
        self.upstream = Upstream()
        self.upstream.on("/good", as_json(200, '{"ok": true}'))
        self.upstream.on("/billing/charges", answer(503, b"busy"))
        self.upstream.on("/stock/items", answer(500, b"broken"))
        self.upstream.on("/hooks/a", answer(410, HOSTILE, ("Content-Type", "text/html")))
        self.upstream.on("/hooks/cut", Close())
        self.upstream.on("/hooks/begun", answer(202, "", ("Location", "/good?token=1")))
        self.upstream.on("/hooks/page", as_html("<script>window.hacked = 1; document.title = 'hacked'</script>"))
        self.upstream.on("/token", as_json(401, '{"error": "invalid_client"}'))
        base = self.upstream.url
        secret = {"type": "oauth2_client_credentials", "token_url": base + "token", "client_id": "shop"}
        self.relay = Relay({}, **members)
        secret["client_secret"] = self.relay.secret("secret", "s3cret")
        self.routes = {
            "ok": route(base),
            "billing": route(
                {"name": "eu", "url": base + "billing/"}, {"name": "us", "url": f"http://127.0.0.1:{refused_port()}/", "use": "failover_only"},
                recovery=[{"name": "overload", "on": ["503"], "retry": {
                    "max_attempts": 2, "methods": "any", "backoff": fixed("10ms")}},
                          {"name": "other-region", "on": ["exhausted"], "failover": {"upstream": "us", "methods": "any"}},
                          {"name": "keep-going", "on": ["any", "exhausted"], "respond": {"as": "placeholder", "status": 200, "json": {}}}]),
            "stock": route(base + "stock/", recovery=[
                {"name": "later", "on": ["500", "connection"], "retry": {
                    "max_attempts": 5, "backoff": fixed("1h"), "methods": "any"}}]),
            "hooks": route(base + "hooks/", recovery=[{"name": "gone", "on": ["410"], "dead_letter": {}}]),
            "down": route(f"http://127.0.0.1:{refused_port()}/", recovery=[
                {"name": "again", "on": ["connection"], "retry": {"max_attempts": 8, "backoff": fixed("1h")}}]),
            "login": route(base, auth=secret),
            "quiet": route(base, verify={
                "request": {"path": "good?of={job.id}"}, "found": {"status": ["200"]}, "absent": {"status": ["404"]},
                "settle_after": "10ms"}, follow={"interval": "20ms"}),
            "flood": route(f"http://127.0.0.1:{refused_port()}/", **UNBOUNDED, recovery=[
                {"name": "often", "on": ["connection"], "retry": {"max_attempts": 10, "backoff": fixed("1ms")}}]),
        }
        self.relay.write(self.routes)

    def start(self):
        self.relay.start()
        return self

    def trouble(self):
        """Has every route meet what waits for it."""
        relay = self.relay
        for _ in range(5):
            relay.ask("GET", "/r/ok/good")
        # As many as the breakers of both upstreams look at.
        for _ in range(30):
            relay.ask("POST", "/r/billing/charges", body=b"amount=17")
        self.keep("stock", "items", 6, ("Waystation-Label", "order=8841"))
        self.keep("hooks", "a", 4, ("Waystation-Label", "note=" + HOSTILE[:40]))
        self.keep("down", "x", 3)
        relay.ask("GET", "/r/login/good")
        self.keep("quiet", "good", 2)
        eventually(lambda: relay.status()["jobs"]["dead"] >= 4, "the hooks' jobs are dead")
        return self

    def keep(self, name, path, count, *fields):
        found = []
        for _ in range(count):
            answered = self.relay.ask("POST", f"/r/{name}/{path}", [("Prefer", "respond-async"), *fields], b"x=1")
            assert answered.status == 202, answered
            found.append(answered["Waystation-Job"])
        return found

    def api(self, method, target, document=None):
        """The answer of the control socket."""
        body = None if document is None else json.dumps(document).encode()
        fields = [("Content-Type", "application/json")] if body else []
        answered = ask(self.relay.control, method, target, fields, body)
        return answered.json() if answered.body else answered

    def job(self, name):
        return self.api("GET", f"/v1/jobs/{name}")

    def run(self, line, *more):
        """The result of a command line that the page shows, in a shell."""
        path = os.path.dirname(command()) + ":" + os.environ["PATH"]
        return subprocess.run(
            ["bash", "-c", " ".join([line, *more])], env={"PATH": path, "TZ": "UTC"}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60)

    def close(self):
        self.relay.clean()
        self.upstream.close()

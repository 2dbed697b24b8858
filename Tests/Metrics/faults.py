"""Daemons, each with one thing that is wrong from `plant` on, and the alerts that have to tell of it."""

import itertools
import json
import signal
import threading
import time

from world import Watched

from database import Database
from disk import inside, may_mount, on_small_disk
from relay import route
from upstream import Upstream, answer, as_json, refused_port

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
# Requests of a second where there is traffic: twice of what the rules call many.
RATE = 8
# Of requests.
MINUTE = 60 * RATE


class Fault:
    """`expected` are alerts with the labels that say where; `possible` are names of others that may come along.

    `told` are the names that an operator is told of, one for each cause, and `apart` of others that may be told besides.
    `has_ended` is whether all has been done that is to be watched.
    """

    expected, possible, apart, has_ended = {}, set(), set(), True

    @property
    def told(self):
        return set(self.expected)

    def __init__(self):
        self.upstream = Upstream()
        self.upstream.on("/good", answer(200, "good"))
        self.over, self.threads = threading.Event(), []
        self.relay = Watched({})
        self.relay.write(self.routes())

    def routes(self):
        return {"orders": route(self.upstream.url)}

    def start(self):
        self.relay.start()

    def start_anew(self):
        (self.relay.directory / "notify").unlink()
        self.relay.notices.items.clear()
        self.relay.start()

    def fill(self, disk, size):
        """Takes room on the daemon's disk, as another program would."""
        (inside(self.relay, disk) / "filler").write_bytes(bytes(size))

    def plant(self):
        pass

    def traffic(self, path, *words, rate=RATE):
        """Asks for the path until the fault is closed."""
        def ask():
            while not self.over.wait(1 / rate):
                self.relay.ask(*words or ("GET", path))

        self.threads.append(threading.Thread(target=ask, daemon=True))
        self.threads[-1].start()

    def close(self):
        self.over.set()
        for thread in self.threads:
            thread.join(10)
        self.relay.clean()
        self.upstream.close()


class Nothing(Fault):
    """The control: traffic of both kinds, a credential, a reload, a caller who traces, and a disk with room."""

    def routes(self):
        self.disk = on_small_disk(self.relay, "96m") if may_mount() else None
        self.upstream.on("/token", as_json(200, json.dumps({"access_token": "t", "expires_in": 3600})))
        self.relay.members["credentials"] = {"login": {
            "type": "oauth2_client_credentials", "token_url": self.upstream.url + "token", "client_id": "shop",
            "client_secret": self.relay.secret("client", "s3cret"), "allow_addresses": ["127.0.0.0/8"]}}
        return {"orders": route(self.upstream.url, auth={"type": "bearer", "credential": "login"})}

    def plant(self):
        self.traffic(None, "GET", "/r/orders/good", [("Traceparent", f"00-{TRACE}-00f067aa0ba902b7-01")])
        self.traffic(None, "POST", "/r/orders/good", [("Prefer", "respond-async")], b"kept", rate=2)
        self.relay.process.send_signal(signal.SIGHUP)
        if self.disk:
            self.fill(self.disk, 32 << 20)


class Hiccups(Fault):
    """The troubles of a good day: failures that retries make up for, many jobs at once, a reload, a restart, a misspelt
    route."""

    def routes(self):
        turns = itertools.count(1)
        self.upstream.on("/mostly", lambda _: answer(200 if next(turns) % 20 else 503, "told"))
        return {"orders": route(self.upstream.url, recovery=[
            {"name": "again", "on": ["5xx"], "retry": {"max_attempts": 3, "schedule": ["200ms"]}}])}

    def plant(self):
        self.threads.append(threading.Thread(target=self.day, daemon=True))
        self.threads[-1].start()

    def day(self):
        for turn in itertools.count():
            if self.over.wait(1 / RATE):
                return
            assert self.relay.ask("GET", "/r/orders/mostly").status == 200
            turn %= MINUTE
            if turn == 2 * RATE:
                for _ in range(200):
                    got = self.relay.ask("POST", "/r/orders/good", [("Prefer", "respond-async")], b"kept")
                    assert got.status == 202, got
            elif turn == 4 * RATE:
                self.relay.process.send_signal(signal.SIGHUP)
            elif turn == 8 * RATE:
                self.relay.stop()
                self.start_anew()
            elif turn == 10 * RATE:
                assert self.relay.ask("GET", "/r/nowhere/good").status == 404
                self.has_ended = True

    has_ended = False


class UpstreamDown(Fault):
    expected = {
        "WaystationUpstreamFailing": {"route": "billing", "upstream": "eu"},
        "WaystationBreakerOpen": {"route": "billing", "upstream": "eu"},
        "WaystationRouteFailing": {"route": "billing"}}
    told = {"WaystationRouteFailing"}

    def routes(self):
        return {
            "orders": route(self.upstream.url),
            "billing": route({"name": "eu", "url": f"http://127.0.0.1:{refused_port()}/"})}

    def plant(self):
        self.traffic("/r/billing/good")
        self.traffic("/r/orders/good")


class TokenEndpointDown(Fault):
    expected = {
        "WaystationCredentialFailing": {"credential": "login"},
        "WaystationRouteFailing": {"route": "billing", "credential": "login"}}
    told = {"WaystationCredentialFailing"}

    def routes(self):
        self.relay.members["credentials"] = {"login": {
            "type": "oauth2_client_credentials", "token_url": f"http://127.0.0.1:{refused_port()}/token",
            "client_id": "shop", "client_secret": self.relay.secret("client", "s3cret"),
            "allow_addresses": ["127.0.0.0/8"]}}
        return {
            "orders": route(self.upstream.url),
            "billing": route(self.upstream.url, auth={"type": "bearer", "credential": "login"})}

    def plant(self):
        self.traffic("/r/billing/good")
        self.traffic("/r/orders/good")


class StoreNearlyFull(Fault):
    """Jobs that were delivered and are kept take nine tenths of the least size that a store may have."""

    possible = {"WaystationStoreFilling"}

    @property
    def expected(self):
        return {"WaystationStoreNearlyFull": {"directory": str(self.relay.directory / "state")}}

    def routes(self):
        self.relay.members["storage"] = {"directory": str(self.relay.directory / "state"), "max_size": "64MiB"}
        return super().routes()

    def plant(self):
        body = bytes(4 << 20)
        for _ in range(14):
            got = self.relay.ask("POST", "/r/orders/good", [("Prefer", "respond-async")], body)
            assert got.status == 202, got


class DiskNearlyFull(Fault):
    """Others have filled the disk, and the store has hardly begun."""

    possible = {"WaystationStoreDiskFilling"}

    @property
    def expected(self):
        return {"WaystationStoreDiskNearlyFull": {"directory": str(self.disk)}}

    def routes(self):
        self.disk = on_small_disk(self.relay, "96m")
        return super().routes()

    def plant(self):
        self.fill(self.disk, 82 << 20)


class BacklogGrowing(Fault):
    """More jobs than the route's rate lets through."""

    expected = {"WaystationBacklogGrowing": {"route": "hooks"}}
    possible = {"WaystationJobTooOld"}

    def routes(self):
        return {
            "orders": route(self.upstream.url),
            "hooks": route(self.upstream.url, delivery={"mode": "durable"}, rate_limit={"max_requests": 2})}

    def plant(self):
        self.traffic(None, "POST", "/r/hooks/good", [], b"kept", rate=20)
        self.traffic("/r/orders/good")


class DeadLetters(Fault):
    expected = {"WaystationDeadLetters": {"route": "hooks"}}

    def routes(self):
        self.upstream.on("/bad", answer(422, "no"))
        return {
            "orders": route(self.upstream.url), "hooks": route(self.upstream.url, delivery={"mode": "durable"})}

    def plant(self):
        for _ in range(3):
            got = self.relay.ask("POST", "/r/hooks/bad", [], b"kept")
            assert got.status == 202, got


class ExpiredWhileDown(Fault):
    """Jobs whose time is over when the daemon comes back from a crash."""

    expected = {"WaystationJobsExpired": {"route": "hooks"}}
    possible = apart = {"WaystationDown", "WaystationRoutePaused"}
    has_ended = False

    def routes(self):
        return {
            "orders": route(self.upstream.url), "hooks": route(self.upstream.url, delivery={"mode": "durable"})}

    def plant(self):
        self.threads.append(threading.Thread(target=self.crash, daemon=True))
        self.threads[-1].start()

    def crash(self):
        assert self.relay.command("pause", "hooks").returncode == 0
        for _ in range(3):
            got = self.relay.ask("POST", "/r/hooks/good", [("Waystation-Expires-After", "2s")], b"kept")
            assert got.status == 202, got
        self.relay.stop(signal.SIGKILL)
        # Longer than the rules look back: nothing then tells of a time before.
        time.sleep(17)
        self.start_anew()
        self.has_ended = True


class ReloadFailed(Fault):
    @property
    def expected(self):
        return {"WaystationReloadFailed": {"file": str(self.relay.file)}}

    def plant(self):
        self.relay.write(None, text='{"routes": {"orders": {}}}')
        self.relay.process.send_signal(signal.SIGHUP)


class DatabaseAway(Fault):
    """The server of a fleet's database is stopped, and its lease goes by."""

    @property
    def expected(self):
        return {
            "WaystationStoreUnavailable": {"directory": str(self.relay.directory / "state")}, "WaystationLeaseOld": {}}

    @property
    def told(self):
        return {"WaystationStoreUnavailable"}

    def routes(self):
        self.database = Database()
        self.relay.join(self.database)
        return super().routes()

    def plant(self):
        self.database.stop("immediate")

    def close(self):
        super().close()
        self.database.close()


ALL = {
    "nothing": Nothing, "hiccups": Hiccups, "upstream-down": UpstreamDown, "token-endpoint-down": TokenEndpointDown,
    "store-nearly-full": StoreNearlyFull, "backlog-growing": BacklogGrowing, "dead-letters": DeadLetters,
    "expired-while-down": ExpiredWhileDown, "reload-failed": ReloadFailed, "database-away": DatabaseAway}
if may_mount():
    ALL["disk-nearly-full"] = DiskNearlyFull

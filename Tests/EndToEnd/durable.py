"""The part that the tests of durable jobs share."""

import signal
import threading

from caller import ask
from relay import RelayTest, eventually, route
from upstream import answer

FINISHED = ("succeeded", "dead", "cancelled", "expired")


def again(wait="20ms", attempts=60, **members):
    """A rule that sends again whatever went wrong."""
    return {"name": "again", "on": ["any"], "retry": {
        "max_attempts": attempts, "backoff": {"type": "constant", "base_interval": wait}, **members}}


def kept(*upstreams, **members):
    """A route for requests that are kept on disk first."""
    members = {"recovery": [again()], "max_attempts": 100, **members}
    return route(*upstreams, **members)


class Door:
    """A step of an upstream that answers 200 once it is opened; counts who waits at it."""

    def __init__(self, then=200):
        self.event, self.then = threading.Event(), then

    def open(self):
        self.event.set()

    def __call__(self, request):
        # Long enough for every test, short enough to let the thread go.
        self.event.wait(40)
        return answer(self.then)


class DurableTest(RelayTest):
    """A case with an upstream; relays, upstreams and doors made through it end with it."""

    def setUp(self):
        self.upstream = self.new_upstream()

    def new_door(self, **members):
        door = Door(**members)
        self.addCleanup(door.open)
        return door

    def hand_over(self, relay, target, *fields, method="POST", body=b"kept"):
        """Hands over one job; returns its id."""
        got = relay.ask(method, target, [("Prefer", "respond-async"), *fields], body)
        self.assertEqual(got.status, 202, got)
        self.assertEqual(got["Location"], f"/v1/jobs/{got['Waystation-Job']}", got)
        return got["Waystation-Job"]

    def look(self, relay, id):
        got = ask(relay.control, "GET", f"/v1/jobs/{id}")
        self.assertEqual(got.status, 200, got)
        return got.json()

    def act(self, relay, id, action, status=200):
        got = ask(relay.control, "POST", f"/v1/jobs/{id}/{action}")
        self.assertEqual(got.status, status, got)
        return got

    def wait_until(self, relay, id, seconds=20, **members):
        """The job once its document has these members."""
        last = {}

        def is_so():
            last.update(job=self.look(relay, id))
            return all(last["job"].get(name) == value for name, value in members.items())
        try:
            eventually(is_so, f"the job has {members}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {last}") from None
        return last["job"]

    def wait_for_end(self, relay, id, state="succeeded", seconds=20):
        last = {}

        def is_over():
            last.update(job=self.look(relay, id))
            return last["job"]["state"] in FINISHED
        try:
            eventually(is_over, "the job is over", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {last}") from None
        self.assertEqual(last["job"]["state"], state, last)
        return last["job"]

    def kill(self, relay):
        self.assertEqual(relay.stop(signal.SIGKILL), -signal.SIGKILL, relay.errors.text())

    def stop_at_once(self, relay):
        """Ends a relay that does not wait for what is under way."""
        relay.process.send_signal(signal.SIGTERM)
        relay.notices.wait("STOPPING=1")
        relay.process.send_signal(signal.SIGTERM)
        relay.process.wait(10)

    def forget_life(self, relay):
        """Makes an ended relay ready for another start."""
        if relay.process:
            relay.notices.wait("(gone)")
        relay.notices.items.clear()
        (relay.directory / "notify").unlink(missing_ok=True)

    def restart(self, relay, how=signal.SIGKILL):
        relay.stop(how)
        self.forget_life(relay)
        return relay.start()

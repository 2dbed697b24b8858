"""The files of config/examples, run with sockets and upstreams of a test's own."""

import json
import pathlib

from relay import Relay, RelayTest
from upstream import Upstream

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "config" / "examples"
SECRETS = {
    "client-secret": "s3cret-of-the-shop", "api-key": "key-of-the-shop",
    "webhook-secret": "whsec_TmV3IGtleSBvZiB0aGUgc2hvcCwgMzIgYnl0ZXMhISE=",
    "webhook-secret-before": "whsec_T2xkIGtleSBvZiB0aGUgc2hvcCwgMzIgYnl0ZXMhISE=",
}


def names():
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def document(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


def replaced(value, places):
    """The same document with other places: nothing but strings that begin with one of them changes."""
    if isinstance(value, dict):
        return {key: replaced(member, places) for key, member in value.items()}
    if isinstance(value, list):
        return [replaced(element, places) for element in value]
    if isinstance(value, str):
        for place, other in places.items():
            if value.startswith(place):
                return other + value[len(place):]
    return value


def differences(one, other, path=""):
    """Pointers to what differs; documents of different shapes differ where the shapes part."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [found for key in one for found in differences(one[key], other[key], f"{path}/{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [found for at, pair in enumerate(zip(one, other)) for found in differences(*pair, f"{path}/{at}")]
    return [] if one == other else [path]


class ExampleTest(RelayTest):
    """`first` and `second` stand for what the examples expect on the ports 9001 and 9002."""

    # Where an example may be changed by a test, by the last word of the pointer.
    PLACES = {"url", "unix", "directory", "token_url", "file_exists"}

    def setUp(self):
        self.first, self.second = Upstream(), Upstream()
        self.addCleanup(self.first.close)
        self.addCleanup(self.second.close)

    def example(self, name, more=(), allowed=(), secrets=()):
        """Starts the example; `more` are further places to change, `allowed` the words their pointers end with, and
        `secrets` take the place of those that the examples are given."""
        relay = self.new_relay({})
        for secret, text in {**SECRETS, **dict(secrets)}.items():
            relay.secret(secret, text)
        relay.environment["CREDENTIALS_DIRECTORY"] = str(relay.directory)
        original = document(name)
        changed = replaced(original, {
            "http://127.0.0.1:9001/": self.first.url, "http://127.0.0.1:9002/": self.second.url,
            "/tmp/relay/": f"{relay.directory}/", **dict(more)})
        for pointer in differences(original, changed):
            assert pointer.rsplit("/", 1)[1] in self.PLACES | set(allowed), pointer
        text = json.dumps(changed, indent=2)
        for place in "/tmp/relay", ":9001", ":9002", ":9443":
            assert place not in text, f"{place} is left in {name}.json"
        relay.write(None, text)
        return relay.start()

    def waits(self, relay, answer):
        return [attempt.get("wait_ms") for attempt in relay.job(answer)["attempts"][:-1]]

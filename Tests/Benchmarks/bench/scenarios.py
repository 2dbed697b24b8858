"""The measurements, by the numbers of the table of targets."""

from functools import partial

from . import counts, figures, memory, pure
from .load import Client
from .proxies import Caddy, Envoy, Floor, HAProxy, Nginx
from .queues import JOB_BYTES, Awa, Beanstalkd, Celery, PostgreSQL, RabbitMQ, Redis, ReliableRedis, Sidekiq
from .relay import KEEP, KEEP_LINE_FOR_LATER, LATER, Before, Waystation
from .targets import P99, RATE

CONTESTANTS = tuple(kind.name for kind in (
    Waystation, Before, Nginx, HAProxy, Envoy, Caddy, Floor, Redis, ReliableRedis, RabbitMQ, Beanstalkd, PostgreSQL,
    Sidekiq, Awa, Celery))
TITLES = {
    "1": "relay, 64 connections", "1b-1k": "relay at 1,000 requests/s", "1b-20k": "relay at 20,000 requests/s",
    "1c": "relay with credential, edits and a generated key",
    "2": "relay to a TLS upstream", "3-1k": "bodies of 1 KiB, both ways",
    "3-100k": "bodies of 100 KiB, both ways", "3-10m": "bodies of 10 MiB, both ways",
    "4": "token injected, JSON checked and unwrapped",
    "4b": "JSON of 1 KiB looked into", "5": "one stream, 64 lines outstanding", "6": "memory, bytes",
    "7": "jobs accepted on disk", "8": "whole lives of kept jobs", "10": "decision of the core", "11": "exec to ready",
    "12": "two loops", "counts-relay": "what a request costs",
    "counts-credential": "one with credential, edits and a key", "counts-tls": "one to a TLS upstream",
    "counts-json": "one whose JSON is looked into", "counts-promoted": "one promoted after it was sent",
    "counts-retried": "one answered 503, then 200", "counts-body": "one of 100 KiB, both ways",
    "counts-line": "a line of a stream",
    "counts-accept": "what an accepted job costs", "counts-life": "what a whole life costs",
}


def chosen(words):
    """The scenarios that the words name: by their names, or by what stands before the dash."""
    found = [key for key in TITLES if key in words or key.partition("-")[0] in words]
    known = {word for key in TITLES for word in (key, key.partition("-")[0])}
    if unknown := set(words) - known:
        raise ValueError(f"there is no scenario {', '.join(sorted(unknown))}; there are {', '.join(TITLES)}")
    return found


def run(session, keys):
    proxied = [key for key in keys if key in PROXIED]
    if proxied:
        relayed(session, proxied)
    for key, scenario in ALONE.items():
        if key in keys:
            scenario(session, key)
            session.stop_servers()
    return session.results


# MARK: Requests that wait for their answer

PEERS = (Waystation, Nginx, HAProxy)
# The client's words, who takes part, and how much longer than usual it is watched.
PROXIED = {
    "1": (("-c", 64, "-q", "/r/bench/x"), (*PEERS, Before, Envoy, Caddy, Floor), 1),
    # Little is used at a low rate, so it is watched for longer.
    "1b-1k": (("-c", 64, "-q", "/r/bench/x", "-r", 1_000), PEERS, 2),
    "1b-20k": (("-c", 64, "-q", "/r/bench/x", "-r", 20_000), PEERS, 1),
    "1c": (("-c", 64, "-q", "/r/edited/x", "-a", "Cookie: a=b"), PEERS, 1),
    "2": (("-c", 64, "-q", "/r/secure/x"), PEERS, 1),
    "3-1k": (("-c", 64, "-b", 1024, "-q", "/r/bench/x"), PEERS, 1),
    "3-100k": (("-c", 16, "-b", 100 << 10, "-q", f"/r/bulk/size/{100 << 10}"), PEERS, 1),
    "3-10m": (("-c", 8, "-b", 10 << 20, "-q", f"/r/bulk/size/{10 << 20}"), PEERS, 1),
    "4": ((), (Waystation,), 1),
    "4b": ((), (Waystation,), 1),
    "5": ((), (Waystation, Nginx), 1),
}
STREAM = ("-k", "stream", "-c", 1, "-d", 64, "-b", 500, "-q", "/r/bench/x")


def relayed(session, keys):
    kinds = dict.fromkeys(kind for key in keys for kind in PROXIED[key][1])
    servers = session.started(session.made(*kinds))
    for key in keys:
        words, takes_part, longer = PROXIED[key]
        contestants = []
        for server in servers:
            if type(server) in takes_part:
                contestants += of_one(session, key, server, words, session.options.seconds * longer)
        quietly(session, key, contestants)
    session.stop_servers()


# So far apart may be the quartiles of nginx, which is the same in every run; where they are farther, it is the machine
# that is measured. So often is a set of rounds run at most.
QUIET, TRIES = 1.15, 3


def quietly(session, key, contestants):
    """Measures in turns, again where something else was at work; keeps the quietest."""
    sets = []
    while len(sets) < TRIES:
        session.results.pop(key, None)
        session.turns(key, contestants)
        spread = figures.spread(session.results[key].get(Nginx.name, []), (P99, RATE))
        sets.append((spread, session.results[key]))
        if spread <= QUIET:
            return
        session.note(f"{key}: disturbed, nginx's quartiles are {spread - 1:.0%} apart (set {len(sets)} of at most {TRIES})")
    session.results[key] = min(sets, key=lambda each: each[0])[1]
    session.disturbed.append(key)


def of_one(session, key, server, words, seconds):
    """The measurements of one server in a scenario: (name, what measures) each."""
    def load(*words):
        return lambda: Client(session.directory, server, [*words, "-t", seconds, "-w", 0.3]).run()

    if key == "4":
        return [
            (server.name, load("-c", 64, "-b", 1024, "-q", "/r/bench/json")),
            (f"{server.name} with token and JSON", load("-c", 64, "-b", 1024, "-q", "/r/json/json"))]
    if key == "4b":
        return [
            (server.name, load("-c", 64, "-b", 1024, "-q", "/r/bench/json")),
            (f"{server.name} looking into JSON", load("-c", 64, "-b", 1024, "-q", "/r/inspected/json"))]
    if key == "5":
        return [(server.name, load(*(STREAM if server.name == "waystation" else PROXIED["1"][0])))]
    if key.startswith("3-"):
        return [(server.name, lambda: load(*words)() | {"resident_mb": peak_megabytes(server.pids)})]
    return [(server.name, load(*words))]


def peak_megabytes(pids):
    """The most that was ever resident."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/status") as file:
            total += next(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))
    return total * 1024 / 1e6


def two_loops(session, key):
    # Either may use both cores, and shares one of them with the load.
    contestants = []
    for loops, name in ((1, "one loop"), (2, "two loops")):
        for server in session.started(session.made(Waystation, name=name, loops=loops, cores=(0, 1))):
            contestants.append((name, of_one(session, key, server, PROXIED["1"][0], session.options.seconds)[0][1]))
    session.turns(key, contestants)


def memory_held(session, key):
    servers = session.made(*PEERS)
    session.turns(
        key, [(each.name, partial(memory.measure, each, session.options.connections)) for each in servers],
        rounds=min(session.options.rounds, 3))


def start_time(session, key):
    def measure(server):
        seconds = server.start()
        server.stop()
        return {"ready_ms": seconds * 1000}

    session.turns(key, [(each.name, partial(measure, each)) for each in session.made(*PEERS)])


# MARK: Jobs that are kept

def accepted(session, key):
    """With an fsync behind each answer: 64 clients of one job each, and one stream of 64 lines outstanding."""
    seconds = session.options.seconds

    def accept(server, *words):
        return Client(session.directory, server, [
            *words, "-b", JOB_BYTES, "-q", "/r/kept/x", "-s", 202, "-t", seconds, "-w", 0.3]).run()

    contestants = []
    for server in session.made(Waystation, Redis, RabbitMQ, Beanstalkd, PostgreSQL):
        if server.name != "waystation":
            contestants.append((server.name, afresh(server, partial(server.accept, 64, seconds))))
            continue
        stream = partial(accept, server, "-k", "stream", "-c", 1, "-d", 64, "-a", KEEP_LINE_FOR_LATER)
        clients = partial(accept, server, "-c", 64, "-a", KEEP, "-a", LATER)
        contestants.append((server.name, afresh(server, clients)))
        contestants.append((f"{server.name}, one stream", afresh(server, stream)))
    session.turns(key, contestants)


def lived(session, key):
    """Accepted, delivered over HTTP and settled; the peers deliver nothing."""
    contestants = []
    count = session.options.lives
    for server in session.made(Waystation, ReliableRedis, PostgreSQL, Sidekiq, Awa, Celery):
        is_ours = server.name == "waystation"
        lives = partial(lives_of_relay, session) if is_ours else type(server).lives
        contestants.append((server.name, afresh(server, partial(lives, server, count))))
    session.turns(key, contestants)


def lives_of_relay(session, server, count, later=()):
    """From the first accept until all have succeeded; what comes meanwhile is delivered meanwhile."""
    before = server.jobs()["succeeded"]
    client = Client(session.directory, server, [
        "-c", 64, "-b", JOB_BYTES, "-q", "/r/kept/x", "-a", KEEP, "-s", 202, "-n", count, *later])
    cpu = server.cpu_seconds()
    figures = client.run()
    seconds = server.wait_for_succeeded(before + count, figures["begin"])
    return {
        "per_second": count / seconds,
        "cpu_us": (server.cpu_seconds() - cpu) * 1e6 / count,
        "accepted_per_second": figures["per_second"],
        "p99_us": figures["p99_us"],
        "client_busy": figures["client_busy"],
    }


def afresh(server, measure):
    """Measures with an empty store; who takes seconds to start goes on between the rounds."""
    def measured():
        if not (getattr(server, "stays", False) and server.process):
            server.start()
        try:
            return measure()
        finally:
            if not getattr(server, "stays", False):
                server.stop()

    return measured


# MARK: Figures that neither load nor neighbour changes

def counted(session, key):
    if "waystation" not in session.options.only:
        return
    count = counts.QUICK if session.options.quick else counts.USUAL
    session.turns(
        key, [("waystation", lambda: counts.measure(session, key.partition("-")[2], count).figures)], rounds=1)


def decided(session, key):
    if "waystation" in session.options.only:
        session.turns(key, [("waystation", lambda: pure.decision(session.directory))], rounds=1)


ALONE = {
    "6": memory_held, "7": accepted, "8": lived, "10": decided, "11": start_time, "12": two_loops,
    **{key: counted for key in TITLES if key.startswith("counts-")},
}

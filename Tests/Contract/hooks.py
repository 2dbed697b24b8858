"""The facts that schemathesis cannot know of the daemon: lines as a media type, the store's content, and the document's
rules in words because JSON Schema has none for them. A request that is meant to be refused is left as it is."""

import http.client
import json
import os
import random
import re
import time
import urllib.parse

import schemathesis
from schemathesis.generation import GenerationMode
from schemathesis.generation.meta import TestPhase

STATES = ("scheduled", "queued", "running", "retrying", "held", "succeeded", "dead", "cancelled", "expired")
ADDRESS = os.environ["CONTRACT_ADDRESS"]
JOB = re.compile("[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}")
# Routes that may be paused.
STILL = ("still", "kept")
ROUTES = ("good", "bad", "kept", "lost", "later", "tried", "standing")
chance = random.Random(7)


@schemathesis.serializer("application/x-ndjson")
def lines(_context, value):
    if isinstance(value, bytes):
        return value
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "surrogatepass")


def some_job():
    """The id of a job that is there, in any state."""
    connection = http.client.HTTPConnection(ADDRESS, timeout=20)
    try:
        order, state = chance.choice(("newest", "oldest")), chance.choice(STATES)
        connection.request("GET", f"/v1/jobs?limit=20&order={order}&state={state}")
        jobs = json.load(connection.getresponse())["jobs"]
        return chance.choice(jobs)["id"] if jobs else None
    finally:
        connection.close()


@schemathesis.hook
def before_call(_context, case, _kwargs):
    place = case.path_parameters or {}
    is_pause = case.operation.path.endswith("/pause")
    # Requests of others are to be answered: only a route of STILL is paused, also where the name is from an answer.
    if is_pause and place.get("route") in ROUTES:
        place["route"] = chance.choice(STILL)
    # This name in the place of an id is another resource, with other methods.
    if place.get("id") == "actions":
        place["id"] = "0" * 26
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    # A stateful test goes on with what it has made.
    if "id" in place and case.meta.phase.name != TestPhase.STATEFUL and chance.random() < 0.7:
        place["id"] = some_job() or place["id"]
    # A link that schemathesis infers may take the id of something else, such as a trouble, for that of a job.
    if "id" in place and not JOB.fullmatch(place["id"]):
        place["id"] = some_job() or "0" * 26
    if "route" in place and chance.random() < 0.8:
        place["route"] = chance.choice(STILL if is_pause else ROUTES)
    query = case.query or {}
    for name in query.keys() & {"route", "failure_kind", "label"}:
        query[name] = short(str(query[name]))
    # A pattern knows no longest duration.
    for name, text in (("wait", "20ms"), ("timeout", "2s")):
        if name in query:
            query[name] = text
    headers = case.headers
    if headers is not None and "Prefer" in headers:
        headers["Prefer"] = chance.choice(("respond-async", "respond-async, wait=0", "wait=1", "return=minimal"))
    if isinstance(case.body, dict) and "for" in case.body:
        case.body["for"] = "2s"
    if case.operation.path.endswith(("/breaker", "/limits/clear")) and isinstance(case.body, dict):
        place["route"] = "good"
        if "upstream" in case.body:
            case.body["upstream"] = "u1"
    if isinstance(case.body, dict | list):
        case.body = whole(case.body)
    if isinstance(case.body, dict) and isinstance(case.body.get("filter"), dict):
        for name in case.body["filter"].keys() & {"route", "failure_kind", "label"}:
            case.body["filter"][name] = short(case.body["filter"][name])
    if isinstance(case.body, dict) and isinstance(case.body.get("reason"), str):
        case.body["reason"] = short(case.body["reason"])
    if case.operation.path == "/v1/jobs" and case.method.upper() == "POST":
        possible(case, headers)


def whole(value):
    """Numbers that are whole as a program writes them, without a point."""
    if isinstance(value, list):
        return [whole(element) for element in value]
    if isinstance(value, dict):
        return {name: whole(element) for name, element in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def is_plain(path):
    """Whether no way to decode it leads elsewhere."""
    data = path.split("?")[0].encode()
    for _ in range(5):
        data = urllib.parse.unquote_to_bytes(data)
    try:
        return not {".", ".."} & set(re.split(r"[/\\]", data.decode())) and data.decode().isprintable()
    except UnicodeDecodeError:
        return False


def short(text, limit=256):
    """The part of a text that has so many bytes: JSON Schema counts characters."""
    return text.encode("utf-8", "surrogatepass")[:limit].decode("utf-8", "ignore")


def soon():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))


def possible(case, headers):
    """Makes jobs possible whose members are well-formed one by one."""
    jobs = [job for job in (case.body if isinstance(case.body, list) else [case.body]) if isinstance(job, dict)]
    said = {name for job in jobs for name in job.get("options") or ()}
    for name in [name for name in headers or () if name.lower() in FIELDS or name.lower() == "idempotency-key"]:
        del headers[name]
    if headers is not None and any(job.get("mode") == "sync" for job in jobs):
        headers.pop("Prefer", None)
    elif headers is not None and not isinstance(case.body, list):
        # One at a time: they exclude each other, and the options of their names; and a job has to outlive its delay.
        name, value = chance.choice(list(FIELDS.items()))
        option = name.removeprefix("waystation-").replace("-", "_")
        if not said & {option, *(DATES if option in ENDS else DATES | ENDS if option in DATES else ())}:
            headers[name] = value
    for job in jobs:
        if job.get("mode") == "sync":
            job["route"] = chance.choice(("good", "bad", "tried", "standing"))
        elif chance.random() < 0.8:
            job["route"] = chance.choice(ROUTES)
        options, request = job.get("options") or {}, job.get("request") or {}
        if not is_plain(request.get("path", "")):
            request["path"] = "charges"
        for name in [name for name in request.get("headers") or () if name.lower().startswith(RESERVED)]:
            del request["headers"][name]
        for name in options.keys() & {"ordering_key", "supersede_key"}:
            options[name] = short(options[name]).strip() or "k"
        options["labels"] = {short(name, 99): short(text, 99) for name, text in (options.get("labels") or {}).items()}
        for name, text in (("timeout", "20s"), ("attempt_timeout", "5s"), ("delay", "1h"), ("expires_after", "2h")):
            if name in options:
                options[name] = text
        if "constrained" in options:
            # Another request may have said that the network is constrained, and 503 is a right answer then.
            options["constrained"] = "send"
        if options.keys() & DATES:
            for name in ENDS:
                options.pop(name, None)
        if "not_before" in options:
            options["not_before"] = soon()


RESERVED = (
    "connection", "content-length", "expect", "host", "keep-alive", "proxy-", "te", "trailer", "transfer-encoding",
    "upgrade", "via", "prefer", "waystation-")
DATES, ENDS = {"delay", "not_before"}, {"timeout", "expires_after"}
# The fields of a request that count for the one job it brings, each as it may be.
FIELDS = {
    "waystation-timeout": "20s", "waystation-attempt-timeout": "5s", "waystation-max-attempts": "2",
    "waystation-fallback": "off", "waystation-constrained": "send", "waystation-delay": "1h",
    "waystation-not-before": soon(),
    "waystation-expires-after": "2h", "waystation-ordering-key": "customer 42", "waystation-supersede-key": "draft",
    "waystation-label": "made=by a field",
}


@schemathesis.check
def refused_in_its_place(_context, response, case):
    """Of an array each job is refused by itself; anything else that is not valid is refused whole."""
    if case.operation.label == "POST /v1/jobs" and case.meta and case.meta.generation.mode == GenerationMode.NEGATIVE:
        told = response.json() if response.status_code == 200 else {}
        assert 400 <= response.status_code < 500 or told.get("refused", 0) > 0, "what is not valid was taken"


"""Thousands of kept jobs meet a 401 at once, and then a token endpoint that is away for half a minute."""

import json

from world.figures import Figure
from world.upstream import after

TITLE = "A token that no longer counts"
FIGURES = [
    Figure("token requests for all the 401s", at_most=1),
    Figure("token requests while the endpoint is away", at_most=10),
    Figure("jobs that did not succeed", at_most=0),
    Figure("explain tells the credential", at_least=1),
]


class Bank:
    """Takes one token, and issues the next when it is asked, unless it is away."""

    def __init__(self):
        self.issued, self.wanted, self.is_away = 0, 1, False

    def __call__(self, attempt):
        if attempt.path == "/token":
            if self.is_away:
                return after(0.02, attempt, 503)
            self.issued += 1
            token = {"access_token": f"t{self.issued}", "token_type": "Bearer", "expires_in": 3600}
            return after(0.05, attempt, 200, json.dumps(token).encode(), ("Content-Type", "application/json"))
        is_good = attempt.fields.get("authorization") == f"Bearer t{self.wanted}"
        return after(0.02, attempt, 200 if is_good else 401)


async def play(world):
    count, away = (2_000, 10) if world.is_quick else (10_000, 30)
    bank = Bank()
    upstream = await world.upstream(bank)
    auth = {
        "type": "oauth2_client_credentials", "token_url": upstream.url + "token", "client_id": "shop",
        "client_secret": {"env": "SECRET"}}
    await world.start({"up": world.route(upstream.url, auth=auth)}, environment={"SECRET": "s3cret"})

    def asked(begin):
        return sum(attempt.path == "/token" for attempt in upstream.seen(begin))

    await world.callers.request("/r/up/x")
    bank.wanted, began = 2, world.now()
    await world.callers.keep_many("up", count, "/a")
    await world.wait_for(lambda look: look["at"] > began + 1 and look["unfinished"] == 0, 120)
    refreshes = asked(began)
    bank.wanted, bank.is_away, began = 3, True, world.now()
    await world.callers.keep_many("up", count, "/b")
    await world.until(began + away / 2)
    told = await world.explained("credentials")
    await world.until(began + away)
    in_vain = asked(began)
    bank.is_away = False
    await world.wait_for(lambda look: look["unfinished"] == 0, 120)
    return {
        "token requests for all the 401s": refreshes,
        "token requests while the endpoint is away": in_vain,
        "jobs that did not succeed": 2 * count - world.looks[-1]["jobs"]["succeeded"],
        "explain tells the credential": told,
    }

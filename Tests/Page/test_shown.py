"""The page shows what the API and the command line tell."""

import json
import os
import pwd
import re
import subprocess
import threading
import time
import unittest

from browser import DOWN
from page import PageTest
from scene import command, eventually

TOLD = """
const title = document.querySelector('h1').cloneNode(true);
title.querySelectorAll('.badge').forEach((node) => node.remove());
const why = document.querySelector('.why');
const commands = [...document.querySelectorAll('.commands li')].map((node) => {
  const copy = node.cloneNode(true);
  copy.querySelectorAll('button').forEach((button) => button.remove());
  return copy.textContent;
});
return [title.textContent, ...[...document.querySelectorAll('.story li')].map((node) => node.innerText),
  ...(why ? [why.innerText] : []), ...(commands.length ? ['Do: ' + commands.join(' · ')] : [])].join(' ');
"""


def plain(text):
    return re.sub(r"\s+", " ", text).strip()


UNITS = {"ms": "ms", "s": "s", "m": "min", "h": "h", "d": "d"}
SPAN = r"(\d+(?:\.\d+)?)(ms|s|m|h|d)(?: (\d+)(s|m|h)\b)?"


def spelled(told):
    """The text of explain with spans as the page spells them everywhere; of those to come the first unit alone."""
    def lasted(found):
        value, unit, rest, smaller = found.groups()[1:]
        return found[1] + f"{value.removesuffix('.00')} {UNITS[unit]}" + (f" {rest} {UNITS[smaller]}" if rest not in (None, "0") else "")

    def comes(found):
        value, unit, rest, _ = found.groups()[1:]
        hours = unit == "d" and int(value) < 2
        return found[1] + (f"{24 * int(value) + int(rest)} h" if hours else f"{value} {UNITS[unit]}")

    told = re.sub(r"((?:next attempt|expires) in )" + SPAN, comes, told)
    return re.sub(r"((?<!next attempt )(?<!expires )\bin |\bdns |\bconnect |\bfirst byte )" + SPAN, lasted, told)


class Shown(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.scene.trouble()

    def explained(self, job):
        found = subprocess.run(
            [command(), "explain", job, "--utc", "--socket", self.scene.relay.control], capture_output=True, text=True)
        self.assertEqual(found.returncode, 0, found.stderr)
        return plain(found.stdout)

    def check(self, job):
        """The page of a job has the sentences of explain, all of them and no others."""
        self.view(f"#/job/{job}", "What happened", job)
        # Seconds pass between one look and the other.
        end = time.monotonic() + 20
        while True:
            told, shown = spelled(self.explained(job)), plain(self.browser.script(TOLD)).replace(".00 s", " s")
            if told == shown:
                return told
            if time.monotonic() > end:
                self.assertEqual(shown, told)
            time.sleep(0.2)

    def test_a_long_row_of_a_sheet_has_no_frame_of_its_own(self):
        self.view("#/route/billing", "What holds it back")
        self.assertEqual(self.browser.script(
            "return [...document.querySelectorAll('.sheet > div')].filter((row) => getComputedStyle(row).borderTopWidth !== '0px').length"), 0)

    def test_a_breaker_that_is_not_closed_stands_in_the_table_of_routes(self):
        self.scene.api("PUT", "/v1/routes/ok/breaker", {"state": "open"})
        self.addCleanup(self.scene.api, "PUT", "/v1/routes/ok/breaker", {"state": "auto"})
        self.view("#/", "Routes")
        row = self.browser.wait(
            lambda: next((row for row in self.rows("Routes") if row["Route"] == "ok" and "u1" in row.get("Breaker", "")), None), "its row says so")
        self.assertIn("forced open", row["Breaker"])

    def test_a_job_is_told_in_the_words_of_explain_whatever_became_of_it(self):
        scene = self.scene
        api = scene.api
        waiting = api("GET", "/v1/jobs?state=retrying&route=stock")["jobs"]
        told = self.check(waiting[0]["id"])
        self.assertIn("Why it waits: backoff.", told)
        self.assertIn('rule "later": retry in 1 h', told)
        self.assertIn("The route sees the same failure on 6 jobs", told)
        self.assertIn("dead (rejected)", self.check(api("GET", "/v1/jobs?state=dead&route=hooks")["jobs"][0]["id"]))
        self.assertIn("succeeded", self.check(api("GET", "/v1/jobs?state=succeeded")["jobs"][0]["id"]))
        held = waiting[1]["id"]
        api("POST", f"/v1/jobs/{held}/hold")
        name = pwd.getpwuid(os.getuid()).pw_name
        self.assertIn(f"held by {name} (uid", self.check(held))
        api("POST", f"/v1/jobs/{held}/release")
        self.assertIn(f"released by {name} (uid", self.check(held))
        cancelled = waiting[2]["id"]
        api("POST", f"/v1/jobs/{cancelled}/cancel")
        self.assertIn("cancelled", self.check(cancelled))
        doubtful = scene.keep("hooks", "cut", 1)[0]
        eventually(lambda: scene.job(doubtful)["state"] == "dead", "the job that was cut off is dead")
        self.assertIn("it may have been carried out", self.check(doubtful))
        asked = scene.keep("quiet", "hooks/cut", 1)[0]
        eventually(lambda: scene.job(asked)["state"] == "succeeded", "the job that was cut off is found")
        told = self.check(asked)
        self.assertIn("look-up 2", told)
        self.assertIn("succeeded: answered 200, found by asking the upstream", told)
        begun = scene.keep("quiet", "hooks/begun", 1)[0]
        eventually(lambda: scene.job(begun)["state"] == "succeeded", "the operation of the job is over")
        told = self.check(begun)
        self.assertIn("look at /good in 20", told)
        self.assertIn("succeeded: answered 200, at the end of its operation", told)
        api("POST", "/v1/routes/quiet/pause", {"reason": "maintenance", "for": "2h"})
        paused = scene.keep("quiet", "good", 1)[0]
        self.assertIn("Why it waits: route_paused.", self.check(paused))
        api("POST", "/v1/routes/quiet/resume")
        later = scene.keep("ok", "good", 1, ("Waystation-Delay", "2h"), ("Waystation-Ordering-Key", "k"), ("Idempotency-Key", "9"))[0]
        self.assertIn('in order of "k"', self.check(later))

    def said(self, *words):
        """The output of a command."""
        found = self.scene.run(" ".join(["waystation", *words, "--socket", self.scene.relay.control]))
        self.assertEqual(found.returncode, 0, found.stderr)
        return found.stdout

    def test_limits_and_dead_letters_are_told_in_the_words_of_their_commands(self):
        self.view("#/route/billing", "What holds it back")

        def limits():
            told = [plain(line) for line in self.said("limits", "billing", "--utc").splitlines()]
            spared = "; ".join(row["What it is spared"] for row in self.rows("Upstreams"))
            words = [line for line in told if line.startswith(("Stopped ", "Throttled ", "Patience "))]
            if not words or "; ".join(line.split(" ", 1)[1] for line in words) != spared:
                return False
            told = [line for line in told if line not in words]
            shown = ["Route billing", f"Permits {self.shown('Permits')}"]
            for row in self.rows("Upstreams"):
                shown += [f"Upstream {row['Upstream']}: {row['Under way']}", f"Breaker {row['Breaker']}", f"Failed {row['Last failure']}"]
            return told == [plain(line) for line in [*shown, f"Retries {self.shown('Retries')}"]]

        self.browser.wait(limits, "the limits are those of the command")
        self.view("#/", "Dead letters by cause")

        def dead():
            told = json.loads(self.said("dead", "-o", "json"))["groups"]
            rows = self.rows("Dead letters by cause")
            shown = sorted((row["Kind"], row["Route"].split()[0], int(row["Count"])) for row in rows)
            samples = {row["Sample"] for row in rows}
            return samples >= {group["sample"] for group in told} and shown == sorted(
                (group["kind"] + (f" {group['status']}" if group["status"] else ""), route, count)
                for group in told for route, count in group["routes"].items())

        self.browser.wait(dead, "the dead letters are those of the command")

    def test_a_request_that_was_answered_at_once_is_told_so_too(self):
        for path, word in ("ok/good", "answered 200"), ("billing/charges", "answered 200 with the placeholder"), ("login/good", "failed: "):
            with self.subTest(path=path):
                answered = self.scene.relay.ask("POST", "/r/" + path, body=b"x")
                self.assertIn(word, self.check(answered["Waystation-Job"]))

    def test_the_overview_equals_the_api_while_requests_fail_and_when_they_have_stopped(self):
        scene = self.scene
        stop = threading.Event()

        def load(target):
            while not stop.is_set():
                scene.relay.ask("POST", target, body=b"x")
                time.sleep(0.002)

        def of_route():
            self.assertIn("succeeded", self.shown("Requests") or "", self.browser.text())
            return [int(number) for number in re.findall(r"\d+", self.shown("Requests"))]

        self.view("#/route/billing", "Since the daemon's start")
        threads = [threading.Thread(target=load, args=[f"/r/{target}"]) for target in ("ok/good", "billing/charges", "login/good")]
        for thread in threads:
            thread.start()
        try:
            before = 0
            for _ in range(4):
                shown = of_route()[0]
                told = scene.api("GET", "/v1/routes/billing")["requests"]
                # The figure on the page is of the last two seconds, and never of the future.
                self.assertLessEqual(before, shown)
                self.assertLessEqual(shown, told)
                before = told
                self.browser.wait(lambda: of_route()[0] >= told, "the page keeps up")
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        names = ["requests", "succeeded", "recovered", "fallbacks", "failed", "cancelled"]
        self.browser.wait(
            lambda: of_route() == [scene.api("GET", "/v1/routes/billing")[name] for name in names], "the figures are the API's")
        self.view("#/", "Routes")
        self.browser.wait(self.is_overview, "the overview is the API's")

    def test_the_last_hour_and_the_rules_are_the_apis(self):
        for _ in range(3):
            self.scene.relay.ask("POST", "/r/billing/charges", body=b"x")

        def told():
            hour = next(one for one in self.scene.api("GET", "/v1/history?route=billing")["routes"])
            requests, failures, helped = (sum(hour[name]) for name in ("requests", "failures", "fallbacks"))
            self.assertGreater(helped, 0)
            attempts, failed = sum(hour["attempts"]), sum(hour["failed_attempts"])
            return (f"Last hour: {requests} requests, {failures} failed, {helped} answered by a stand-in; "
                    f"{attempts} attempts, {failed} failed")

        self.view("#/route/billing", "Its rules, in the order they are read")
        label = "const node = document.querySelector('svg.bars'); return node && node.getAttribute('aria-label')"
        self.browser.wait(lambda: self.browser.script(label) == told(), "the hour of the route is the API's")
        rules = self.scene.api("GET", "/v1/routes/billing")["rules"]
        self.assertEqual(
            [(row["Rule"], row["On"], row["Does"], row["Attempts at most"], int(row["Acted"])) for row in self.rows("Rules")],
            [(rule["name"], ", ".join(rule["on"]), rule["action"], str(rule.get("max_attempts", "–")), rule["acted"]) for rule in rules])
        self.assertEqual([rule.get("max_attempts") for rule in rules], [2, None, None])
        self.assertGreater(rules[0]["acted"], 0)
        self.browser.wait(lambda: self.rows("Its latest events"), "its events are told")
        self.assertEqual({row["Route"] for row in self.rows("Its latest events")}, {"billing"})
        self.view("#/", "Routes")
        cell = "return [...document.querySelectorAll('.routes tr')].find((row) => row.cells[0].textContent === 'billing').querySelector('svg').getAttribute('aria-label')"
        self.browser.wait(lambda: self.browser.script(cell) == told(), "so it is on the overview")

    def is_overview(self):
        """Whether every figure of the overview is the API's."""
        status, routes = self.scene.api("GET", "/v1/status"), self.scene.api("GET", "/v1/routes")["routes"]
        shown = {row["Route"]: row for row in self.rows("Routes")}
        if sorted(shown) != sorted(route["name"] for route in routes):
            return False
        over = ["succeeded", "dead", "cancelled", "expired"]
        for route in routes:
            row = shown[route["name"]]
            failure = route["last_failure"] or {}
            waiting = sum(count for state, count in route["jobs"].items() if state not in over)
            queued, dead = (int(row.get(title, "–").replace("–", "0")) for title in ("Queued", "Dead"))
            if (row["State"], queued, dead) != (route["state"].replace("_", " "), waiting, route["jobs"]["dead"]):
                return False
            if failure and not row["Last failure"].startswith(failure["kind"]):
                return False
        shape = self.scene.api("GET", "/v1/shape")
        aged = {row["Route"]: int(row["Total"]) for row in self.rows("Kept jobs that are not over, by age")}
        if {name: count for name, count in aged.items() if name != "all"} != {row["key"]: row["total"] for row in shape["rows"]}:
            return False
        dead = self.rows("Dead letters by cause")
        return sum(int(row["Count"]) for row in dead) == status["jobs"]["dead"]

    def test_in_an_outage_the_page_says_what_is_wrong_and_what_the_relay_does_about_it(self):
        job, = self.scene.keep("login", "good", 1)
        eventually(lambda: self.scene.job(job).get("blocker", {}).get("reason") == "credentials", "the job waits for the credential")
        self.assertIn("next attempt as soon as it may (credentials)", self.check(job))
        self.assertNotRegex(self.browser.text(".why"), r"\dT\d|`", "a time is told once, and as a clock has it")
        self.view("#/jobs?route=login", job)
        row = self.browser.wait(lambda: next((row for row in self.rows("Kept jobs") if row["Job"] == job), None), "the job is listed")
        self.assertEqual(row["Reason"], "credentials")
        self.assertRegex(row.get("Next", "–"), r"\d+ s|–", "its date has come, and that is not what it waits for")
        text = self.view(
            "#/", "Credential route:login could not be obtained.", "The upstream's machine refused the connection.",
            "Start the service, or correct the upstream's url.", " jobs are dead.", "Next in 59 min",
            "compare token_url, client_id and the secret with what it expects")
        self.assertNotRegex(text, r"(127\.0\.0\.1:\d+) \(\1\)", "an address is told once")
        causes = self.browser.script("return [...document.querySelectorAll('.trouble h3')].map((node) => node.textContent)")
        self.assertEqual(len(causes), len(set(causes)), "what comes of one thing is one trouble")
        self.assertEqual([cause for cause in causes if "login" in cause], ["Credential route:login could not be obtained."])
        self.assertNotRegex(self.view("#/route/stock", "What the words mean", "waystation routes stock"), r"\bROUTE\b")
        self.view("#/", "Dead letters by cause")
        self.picture("overview")
        causes = self.browser.wait(
            lambda: [row for row in self.rows("Dead letters by cause") if row["Kind"] == "http_status 410"], "the cause is told")
        self.assertEqual(causes[0]["Ended as"], "rejected")

    def test_filters_stand_in_the_url_and_pages_follow_one_another(self):
        self.scene.keep("quiet", "good", 60)
        self.view("#/jobs?route=quiet", "Next page")
        first = [row["Job"] for row in self.rows("Kept jobs")]
        self.assertEqual(len(first), 50)
        self.press("Next page")
        self.browser.wait(lambda: self.rows("Kept jobs") and self.rows("Kept jobs")[0]["Job"] not in first, "the next page is there")
        second = [row["Job"] for row in self.rows("Kept jobs")]
        self.assertFalse(set(first) & set(second))
        self.view("#/jobs?state=dead&failure_kind=http_status", "Failed by")
        told = self.scene.api("GET", "/v1/jobs?state=dead&failure_kind=http_status")["jobs"]
        self.browser.wait(lambda: [row["Job"] for row in self.rows("Kept jobs")] == [job["id"] for job in told], "the list is filtered")
        self.browser.script(
            "const field = document.querySelector('input[name=label]'); field.focus(); field.value = 'order=8841';"
            "field.dispatchEvent(new Event('change', {bubbles: true}))")
        self.browser.wait(lambda: "label=order%3D8841" in self.browser.url, "the filter is in the URL")
        self.browser.wait_text("There are no such jobs.")

    def test_filters_are_chosen_by_the_keyboard_alone(self):
        browser = self.browser
        self.view("#/jobs", "Failed by")
        chosen = "return [document.activeElement.name, document.activeElement.value, location.hash, scrollY, history.length]"
        # A window in which every list can be scrolled.
        browser.size(1280, 240)
        self.addCleanup(lambda: browser.size(1280, 900))
        browser.script("document.querySelector('select[name=state]').focus({preventScroll: true}); scrollTo(0, 40)")
        length, place = browser.script(chosen)[4], browser.script(chosen)[3]
        for state in "scheduled", "queued", "running", "retrying":
            browser.keys(DOWN)
            self.assertEqual(browser.script(chosen), ["state", state, f"#/jobs?state={state}", place, length])
            time.sleep(0.4)
        told = [job["id"] for job in self.scene.api("GET", "/v1/jobs?state=retrying")["jobs"]]
        browser.wait(lambda: [row["Job"] for row in self.rows("Kept jobs")] == told, "the list is that of the last choice")
        self.assertEqual(browser.script(chosen)[:2], ["state", "retrying"])
        # Where another place asks for other filters, the fields have them.
        self.view("#/jobs?state=dead", "dead")
        browser.wait(lambda: browser.script("return document.querySelector('select[name=state]').value") == "dead", "the field follows")

    def test_choices_follow_the_configuration(self):
        self.view("#/jobs", "Failed by")
        options = "return [...document.querySelector('select[name=route]').options].map((one) => one.value)"
        self.assertNotIn("new", self.browser.script(options))
        self.scene.relay.write({**self.scene.routes, "new": self.scene.routes["quiet"]})
        try:
            self.scene.api("POST", "/v1/reload")
            self.browser.wait(lambda: "new" in self.browser.script(options), "the new route can be chosen")
        finally:
            self.scene.relay.write(self.scene.routes)
            self.scene.api("POST", "/v1/reload")

    def test_no_text_and_no_title_reorders_or_hides_another(self):
        marks = "\u061c\u200b\u200c\u200d\u200e\u202e\u2060\u2066\ufeff"
        told = self.browser.script(
            "const node = h('p', {title: arguments[0], 'aria-label': arguments[0]}, arguments[0]);"
            "return [node.title, node.getAttribute('aria-label'), node.textContent]", marks)
        self.assertEqual(told, ["".join(f"\\u{{{ord(mark):x}}}" for mark in marks)] * 3)

    def test_times_have_their_zone(self):
        self.view("#/", "Latest events")
        self.browser.cdp("Emulation.setTimezoneOverride", timezoneId="America/St_Johns")
        self.addCleanup(lambda: self.browser.cdp("Emulation.setTimezoneOverride", timezoneId="UTC"))
        self.browser.wait_text("times are of America/St_Johns (UTC-03:30)", within="footer")
        self.browser.wait(lambda: self.browser.script(
            "const node = document.querySelector('.events time'); return /^[0-9-]+T.*Z$/.test(node.dateTime) && node.title === node.dateTime"),
            "a time has all of its date")


if __name__ == "__main__":
    unittest.main()

"""An operator's actions on the page take effect, and the command that the page shows does the same."""

import unittest

from browser import ENTER, ESCAPE, TAB
from page import PageTest
from scene import Port, Scene, eventually
from upstream import answer


class Actions(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.scene.trouble()

    def waiting(self, count):
        """Jobs that wait for an hour."""
        jobs = self.scene.keep("down", "x", count)
        eventually(lambda: all(self.scene.job(job)["state"] == "retrying" for job in jobs), "the jobs wait")
        return jobs

    def order(self, name, within="main"):
        """Opens an order, and gives the command it shows."""
        self.press(name, within)
        self.browser.wait(lambda: self.browser.script("return document.querySelector('dialog').open"), "the dialog is open")
        return self.command()

    def confirm(self, text):
        self.press(text, "dialog form .buttons")

    def closed(self):
        self.browser.wait(lambda: not self.browser.script("return document.querySelector('dialog').open"), "the dialog is closed")

    def follow(self, line, *more):
        """Runs a command of the page."""
        done = self.scene.run(line, *more)
        self.assertEqual(done.returncode, 0, (line, done.stderr))
        return done.stdout

    def test_each_action_on_a_job_and_its_command(self):
        def gone(job):
            return self.scene.job(job).get("code") == "job_not_found"

        def state(word):
            return lambda job: self.scene.job(job).get("state") == word

        def retried(job):
            return self.scene.job(job)["attempt_count"] == 2

        for word, done in (
            ("Retry", retried), ("Hold", state("held")), ("Cancel", state("cancelled")), ("Drop", gone)):
            with self.subTest(word=word):
                one, other = self.waiting(2)
                self.view(f"#/job/{one}", one, "What happened")
                line = self.order(word)
                self.assertEqual(line, f"waystation jobs {word.lower()} {one} --socket {self.scene.relay.control}")
                self.assertFalse(done(one), "nothing is done before it is confirmed")
                self.confirm(word)
                self.closed()
                eventually(lambda: done(one), f"the page did {word}")
                self.follow(line.replace(one, other))
                eventually(lambda: done(other), f"the command did {word}")
        held, other = self.waiting(2)
        for job in held, other:
            self.scene.api("POST", f"/v1/jobs/{job}/hold")
        self.view(f"#/job/{held}", held, "Release")
        line = self.order("Release")
        self.confirm("Release")
        eventually(lambda: self.scene.job(held)["state"] != "held", "the page released it")
        self.follow(line.replace(held, other))
        eventually(lambda: self.scene.job(other)["state"] != "held", "the command released it")

    def test_a_bulk_action_counts_first_and_its_command_does_the_same(self):
        jobs = self.scene.keep("down", "x", 4, ("Waystation-Label", "batch=it's $(me)"))
        eventually(lambda: all(self.scene.job(job)["state"] == "retrying" for job in jobs), "the jobs wait")
        self.view("#/jobs?state=retrying&label=" + "batch%3Dit's%20%24(me)", jobs[0], jobs[3])
        line = self.order("Hold…")
        self.browser.wait_text("4 jobs match", within="dialog")
        self.assertTrue(all(self.scene.job(job)["state"] == "retrying" for job in jobs), "counted, and not changed")
        self.assertIn("waystation jobs hold --where 'state=retrying,label=batch=it'\\''s $(me)'", line)
        self.confirm("Hold 4 jobs")
        self.browser.wait_text("4 jobs match, 4 held", within="dialog")
        self.assertEqual({self.scene.job(job)["state"] for job in jobs}, {"held"})
        self.confirm("Close")
        self.closed()
        for job in jobs:
            self.scene.api("POST", f"/v1/jobs/{job}/release")
        eventually(lambda: all(self.scene.job(job)["state"] == "retrying" for job in jobs), "they wait again")
        self.assertIn("4 jobs match, 4 held", self.follow(line, "--yes"))
        self.assertEqual({self.scene.job(job)["state"] for job in jobs}, {"held"})

    def test_only_actions_that_act_are_offered(self):
        offered = "return [...document.querySelectorAll('#main .buttons button.act')].map((node) => node.textContent)"
        label = "of=offers"
        jobs = self.scene.keep("quiet", "good", 2, ("Waystation-Delay", "2h"), ("Waystation-Label", label))
        self.view("#/jobs?label=of%3Doffers", *jobs)
        self.assertEqual(self.browser.script(offered), ["Retry…", "Cancel…", "Hold…", "Drop…"])
        for job in jobs:
            self.scene.api("POST", f"/v1/jobs/{job}/hold")
        self.browser.wait(
            lambda: self.browser.script(offered) == ["Retry…", "Cancel…", "Release…", "Drop…"], "those on hold can be released")
        for state, wanted in (
                ("dead", ["Retry…", "Drop…"]), ("running", ["Cancel…"]), ("succeeded", ["Drop…"]),
                ("held", ["Retry…", "Cancel…", "Release…", "Drop…"])):
            self.view(f"#/jobs?state={state}", "Failed by")
            self.browser.wait(lambda: self.browser.script(offered) == wanted, f"{state} has its actions")
        self.view("#/jobs?label=of%3Dnothing", "There are no such jobs.")
        self.assertEqual(self.browser.script(offered), [])

    def many(self, word, count):
        """A bulk action on so many jobs of their own, counted."""
        label = f"of={self.id().rsplit('.', 1)[1]}"
        jobs = self.scene.keep("quiet", "good", count, ("Waystation-Delay", "2h"), ("Waystation-Label", label))
        self.view("#/jobs?label=" + label.replace("=", "%3D"), *jobs)
        self.order(word)
        self.browser.wait_text(f"{count} jobs match", within="dialog")
        return jobs, label

    def states(self, jobs):
        return [self.scene.job(job)["state"] for job in jobs]

    def test_what_comes_after_the_count_is_left_alone(self):
        jobs, label = self.many("Cancel…", 3)
        later = self.scene.keep("quiet", "good", 5, ("Waystation-Delay", "2h"), ("Waystation-Label", label))
        self.confirm("Cancel 3 jobs")
        self.browser.wait_text("3 jobs match, 3 cancelled.", within="dialog")
        self.assertEqual(set(self.states(jobs)), {"cancelled"})
        self.assertEqual(set(self.states(later)), {"scheduled"})
        self.confirm("Close")

    def test_more_jobs_than_were_counted_are_asked_for_again(self):
        jobs = self.scene.keep("quiet", "good", 3, ("Waystation-Delay", "2h"), ("Waystation-Label", "of=again"))
        for job in jobs[:2]:
            self.scene.api("POST", f"/v1/jobs/{job}/hold")
        self.view("#/jobs?state=held&label=of%3Dagain", *jobs[:2])
        self.order("Release…")
        self.browser.wait_text("2 jobs match", within="dialog")
        self.scene.api("POST", f"/v1/jobs/{jobs[2]}/hold")
        self.confirm("Release 2 jobs")
        self.browser.wait_text("More match than were counted", within="dialog")
        self.assertEqual(set(self.states(jobs)), {"held"})
        self.confirm("Release 3 jobs")
        self.browser.wait_text("3 jobs match, 3 released", within="dialog")
        self.assertEqual(set(self.states(jobs)), {"scheduled"})
        self.confirm("Close")

    def test_a_run_that_the_daemon_refuses_is_told_and_nothing_is_done(self):
        jobs, _ = self.many("Hold…", 4)
        self.browser.script(
            "window.plain = window.plain || fetch; window.fetch = async (path, given) => path !== '/v1/runs' || given.method !== 'POST'"
            " ? plain(path, given) : new Response('{\"detail\": \"no more today\"}', {status: 503, headers: {'Content-Type': 'application/json'}})")
        self.addCleanup(lambda: self.browser.script("window.fetch = plain"))
        self.confirm("Hold 4 jobs")
        self.browser.wait_text("No more today.", within="dialog")
        self.assertEqual(self.states(jobs).count("held"), 0)
        self.confirm("Close")
        self.closed()

    def test_a_job_that_has_changed_is_shown_anew_before_anything_is_done(self):
        job, = self.waiting(1)
        self.view(f"#/job/{job}", job, "What happened")
        self.order("Drop")
        self.scene.api("POST", f"/v1/jobs/{job}/hold")
        self.confirm("Drop")
        self.browser.wait_text("has changed since it was shown, and nothing was done: it is held now", within="dialog")
        self.assertEqual(self.scene.job(job)["state"], "held")
        self.confirm("Drop")
        self.closed()
        self.assertEqual(self.scene.job(job).get("code"), "job_not_found")

    def test_a_route_that_somebody_else_paused_is_not_paused_unseen(self):
        self.view("#/route/login", "login", "Pause")
        self.addCleanup(self.scene.api, "POST", "/v1/routes/login/resume")
        self.order("Pause")
        self.scene.api("POST", "/v1/routes/login/pause", {"reason": "the other one"})
        self.confirm("Pause")
        self.browser.wait_text("nothing was done: it is paused: the other one", "Do it again if it is still wanted", within="dialog")
        self.assertEqual(self.scene.api("GET", "/v1/routes/login")["pause"]["reason"], "the other one")
        self.confirm("Pause")
        self.closed()

    def test_jobs_that_are_others_than_were_counted_are_left_alone_until_they_were_seen(self):
        jobs, _ = self.many("Hold…", 4)
        self.scene.api("DELETE", f"/v1/jobs/{jobs.pop()}")
        self.confirm("Hold 4 jobs")
        self.browser.wait_text("Fewer match than were counted, so nothing was done yet. 3 jobs match", within="dialog")
        self.assertEqual(self.states(jobs).count("held"), 0)
        self.confirm("Hold 3 jobs")
        self.browser.wait_text("3 jobs match, 3 held", within="dialog")
        self.confirm("Close")

    def test_what_no_option_can_say_is_said_to_the_interface_itself(self):
        jobs = self.scene.keep("down", "x", 2, ("Waystation-Label", "names=a,b"))
        eventually(lambda: all(self.scene.job(job)["state"] == "retrying" for job in jobs), "the jobs wait")
        self.view("#/jobs?label=names%3Da%2Cb", jobs[0], jobs[1])
        line = self.order("Cancel…")
        self.browser.wait_text("2 jobs match", within="dialog")
        self.assertTrue(line.startswith("curl --unix-socket "), line)
        self.assertIn("/v1/runs", line)
        self.follow(line)
        eventually(lambda: {self.scene.job(job)["state"] for job in jobs} == {"cancelled"}, "the command cancelled them")
        self.confirm("Cancel")

    def test_dead_letters_are_retried_by_their_cause_and_those_in_doubt_only_by_name(self):
        cut = self.scene.keep("hooks", "cut", 2)
        eventually(lambda: all(self.scene.job(job)["state"] == "dead" for job in cut), "the jobs are dead")
        self.view("#/", "connection_terminated")
        row = "[...document.querySelectorAll('.deads tr')].find((row) => row.cells[1].textContent === 'connection_terminated')"
        self.browser.wait(lambda: self.browser.script(f"return Boolean({row})"), "they are told of")
        self.assertIn("may have been carried out", self.browser.script(f"return {row}.innerText"))
        self.browser.click(self.browser.script(f"return [...{row}.querySelectorAll('button')].find((one) => one.textContent === 'Retry all…')"))
        self.browser.wait_text("left alone: they may have been carried out", within="dialog")
        self.assertTrue(self.browser.script("return document.querySelector('dialog button[type=submit]').disabled"))
        self.browser.click(self.browser.find("dialog input[type=checkbox]"))
        self.browser.wait_text("2 jobs match.", within="dialog")
        self.assertEqual(
            self.command(), "waystation jobs retry --where state=dead,route=hooks,kind=connection_terminated,upstream=u1,end=outcome_unknown"
            f" --unknown --rate 10/s --socket {self.scene.relay.control}")
        self.confirm("Retry 2 jobs")
        eventually(lambda: all(self.scene.job(job)["attempt_count"] == 2 for job in cut), "they were retried")
        self.browser.wait_text("2 jobs match, 2 retried.", within="dialog")
        self.confirm("Close")

    def test_a_route_is_paused_with_a_reason_and_resumed(self):
        self.view("#/route/quiet", "What holds it back")
        self.order("Pause")
        fields = self.browser.call("POST", "/elements", {"using": "css selector", "value": "dialog input"})
        self.browser.type(fields[0], "2h")
        self.browser.type(fields[1], "it's 'so' & more")
        self.assertEqual(self.browser.script("return document.activeElement.name"), "reason", "the field was not left yet")
        line = self.command()
        self.assertIn("""pause quiet --for 2h --reason 'it'\\''s '\\''so'\\'' & more'""", line)
        self.confirm("Pause")
        self.closed()
        self.browser.wait_text("it's 'so' & more")
        self.assertEqual(self.scene.api("GET", "/v1/routes/quiet")["pause"]["reason"], "it's 'so' & more")
        resume = self.order("Resume")
        self.confirm("Resume")
        self.closed()
        eventually(lambda: not self.scene.api("GET", "/v1/routes/quiet").get("pause"), "the page resumed it")
        self.follow(line)
        self.assertEqual(self.scene.api("GET", "/v1/routes/quiet")["pause"]["reason"], "it's 'so' & more")
        self.follow(resume)
        self.assertFalse(self.scene.api("GET", "/v1/routes/quiet").get("pause"))

    def test_a_breaker_is_kept_open_and_left_to_itself(self):
        def word():
            return self.scene.api("GET", "/v1/routes/quiet")["upstreams"][0]["breaker"]

        self.view("#/route/quiet", "What holds it back")
        line = self.order("Breaker…")
        self.assertIn("breaker quiet/u1 open", line)
        self.confirm("Keep open")
        self.closed()
        eventually(lambda: word() == "forced_open", "the page opened it")
        self.browser.wait_text("forced open")
        self.scene.api("PUT", "/v1/routes/quiet/breaker", {"state": "auto"})
        self.follow(line)
        self.assertEqual(word(), "forced_open")
        self.scene.api("PUT", "/v1/routes/quiet/breaker", {"state": "auto"})

    def test_limits_are_cleared_of_the_requests_that_are_named(self):
        def holds():
            return [hold["requests"] for hold in self.scene.api("GET", "/v1/routes/quiet")["upstreams"][0].get("holds", [])]

        def ask():
            self.scene.relay.ask("GET", "/r/quiet/patient")
            eventually(lambda: holds() == ["GET /patient"], "it waits")

        self.scene.upstream.on("/patient", answer(429, b"", ("Retry-After", "60")))
        ask()
        self.view("#/route/quiet", "it has asked GET /patient to wait until")
        self.order("Clear limits…")
        [field] = self.browser.call("POST", "/elements", {"using": "css selector", "value": "dialog input"})
        self.browser.type(field, "GET /patient" + TAB)
        line = self.command()
        self.assertIn("limits quiet --clear --upstream u1 --class", line)
        self.confirm("Clear")
        self.closed()
        eventually(lambda: not holds(), "the page lifted it")
        ask()
        self.follow(line)
        self.assertEqual(holds(), [])

    def test_the_configuration_is_reloaded_and_a_refusal_is_told(self):
        self.view("#/", "Routes")
        self.browser.script("document.querySelector('.daemon').open = true")
        self.scene.relay.write({**self.scene.routes, "added": self.scene.routes["quiet"]})
        self.assertTrue(self.order("Reload…").startswith("waystation reload"))
        self.confirm("Reload")
        self.closed()
        self.browser.wait_text("added")
        self.scene.relay.write(None, text="{")
        try:
            self.order("Reload…")
            self.confirm("Reload")
            self.browser.wait(lambda: self.browser.text("dialog .told.bad"), "the refusal is told")
            self.confirm("Cancel")
            self.browser.wait_text("The last reload was refused")
        finally:
            self.scene.relay.write(self.scene.routes)
            self.scene.api("POST", "/v1/reload")

    def test_a_command_is_copied(self):
        job, = self.waiting(1)
        self.view(f"#/job/{job}", job, "What to do")
        self.browser.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        self.browser.click(self.browser.find(".commands button"))
        self.browser.wait(lambda: "Copied" in self.browser.text(".commands"), "the command is copied")
        text = self.browser.script_later("const done = arguments[0]; navigator.clipboard.readText().then(done, (error) => done(String(error)))")
        self.assertEqual(text, f"waystation jobs retry {job} --socket {self.scene.relay.control}")

    def test_a_refused_action_says_why_and_changes_nothing(self):
        job, = self.waiting(1)
        self.view(f"#/job/{job}", job, "What happened")
        self.order("Hold")
        # Somebody else was faster.
        self.scene.api("POST", f"/v1/jobs/{job}/cancel")
        self.confirm("Hold")
        self.browser.wait(lambda: "cancelled" in self.browser.text("dialog .told.bad"), "the refusal is told")
        self.confirm("Cancel")
        self.closed()

    def test_a_retry_by_keyboard_alone(self):
        job, = self.waiting(1)
        self.view(f"#/job/{job}", job, "What happened")
        browser = self.browser

        def focused():
            return browser.script(
                "const node = document.activeElement; const look = getComputedStyle(node);"
                "return [node.textContent.trim(), node.matches(':focus-visible') && look.outlineStyle !== 'none' && parseFloat(look.outlineWidth) >= 2]")

        def reach(text, key=TAB):
            for _ in range(60):
                browser.keys(key)
                name, is_visible = focused()
                if name:
                    self.assertTrue(is_visible, f"the focus on {name!r} cannot be seen")
                if name == text:
                    return
            self.fail(f"the keyboard does not reach {text!r}")

        self.assertEqual(browser.script("return document.activeElement.tagName"), "H1", "a view begins at its title")
        reach("Retry")
        browser.keys(ENTER)
        browser.wait(lambda: browser.script("return document.querySelector('dialog').open"), "the dialog is open")
        self.assertTrue(browser.script("return document.querySelector('dialog').contains(document.activeElement)"))
        browser.keys(ESCAPE)
        self.closed()
        self.assertEqual(focused()[0], "Retry", "the focus is back where it was")
        browser.keys(ENTER)
        browser.wait(lambda: browser.script("return document.querySelector('dialog').open"), "the dialog is open")
        reach("Retry")
        browser.keys(ENTER)
        self.closed()
        eventually(lambda: self.scene.job(job)["attempt_count"] == 2, "the job was retried")
        self.assertIn("retried", browser.script("return document.getElementById('news').textContent"))
        # The skip link is the first stop of the page.
        browser.script("document.activeElement.blur(); scrollTo(0, 0)")
        browser.open(browser.url.split("#")[0] + "#/jobs")
        browser.call("POST", "/refresh", {})
        browser.wait_text("Kept jobs")
        browser.script("document.getElementById('skip').focus()")
        browser.keys(ENTER)
        self.assertEqual(browser.script("return document.activeElement.id"), "main")

    def test_the_page_of_a_lower_role_shows_everything_and_offers_nothing(self):
        other = Scene()
        self.addCleanup(other.close)
        listeners = [
            {"name": "jobs", "unix": other.relay.jobs, "mode": "0666", "role": "submit"},
            {"name": "control", "unix": other.relay.control, "mode": "0600", "role": "admin"},
            {"name": "read", "unix": str(other.relay.directory / "read.sock"), "mode": "0600", "role": "read"}]
        other.relay.members["listeners"] = listeners
        other.relay.write(other.routes)
        other.start().trouble()
        port = Port(str(other.relay.directory / "read.sock"))
        self.addCleanup(port.close)
        self.addCleanup(lambda: (self.browser.open(self.port.origin + "/ui/"), self.browser.wait_text("Routes")))
        self.browser.open(port.link)
        self.browser.wait_text("Routes", "Dead letters by cause")
        dead = other.api("GET", "/v1/jobs?state=dead")["jobs"][0]["id"]
        for view, words in ("#/", "Overview"), ("#/jobs", "Kept jobs"), (f"#/job/{dead}", dead), ("#/route/billing", "billing"):
            self.browser.script("location.hash = arguments[0]", view)
            # The view before this one has a title too.
            self.browser.wait(lambda: self.browser.script(
                "const title = viewAt(place()).title; return document.title.startsWith(title) && !refresh.isReading && !refresh.isMoved"
                " && document.querySelector('main h1').textContent.includes(arguments[0])", words), f"{view} is there")
            offered = self.browser.script("return [...document.querySelectorAll('main button:not(.sort)')].map((node) => node.textContent)")
            self.assertEqual(set(offered) - {"Copy", "Show it"}, set(), view)
        self.assertIn("role read", self.browser.text("footer"))


if __name__ == "__main__":
    unittest.main()

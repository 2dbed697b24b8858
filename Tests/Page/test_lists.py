"""A list says how many jobs match, is sorted, and what is chosen in it can be acted on by the keyboard alone."""

import unittest

from browser import DOWN, SHIFT, SPACE
from page import PageTest
from scene import eventually


class Lists(PageTest):
    def kept(self, label, count):
        """Jobs that are not due for long, and their list."""
        jobs = self.scene.keep("quiet", "good", count, ("Waystation-Delay", "2h"), ("Waystation-Label", f"of={label}"))
        self.view(f"#/jobs?label=of%3D{label}", jobs[0] if count < 50 else jobs[-1])
        self.browser.script("scrollTo(0, 0)")
        return jobs

    def count(self, text):
        self.browser.wait(lambda: text in self.browser.script("return [...document.querySelectorAll('#main #none, .note')].map((one) => one.textContent)"), f"{text} is told")

    def states(self, jobs):
        return [self.scene.job(job)["state"] for job in jobs]

    def offered(self, within):
        return self.browser.script(
            "return [...document.querySelectorAll('#main .buttons')].filter((one) => one.firstChild?.textContent.startsWith(arguments[0]))"
            ".flatMap((one) => [...one.querySelectorAll('button.act')]).map((one) => one.textContent)", within)

    def order(self, name, within):
        """Opens an order of the buttons that begin so, and waits until it has counted."""
        self.browser.script(
            "[...document.querySelectorAll('#main .buttons')].find((one) => one.firstChild?.textContent.startsWith(arguments[0]))"
            ".querySelectorAll('button').forEach((one) => one.textContent === arguments[1] && one.click())", within, name)
        self.browser.wait_text("match", within="dialog")

    def test_a_list_says_how_many_match(self):
        self.kept("few", 3)
        self.count("3 jobs")
        self.kept("many", 60)
        self.count("50 of 60 jobs")
        self.press("Next page")
        self.count("10 of 60 jobs")

    def test_a_list_that_is_there_as_a_whole_is_sorted_by_any_column_and_another_by_age(self):
        jobs = self.kept("sort", 4)
        self.scene.api("POST", f"/v1/jobs/{jobs[1]}/hold")
        self.scene.api("POST", f"/v1/jobs/{jobs[2]}/cancel")

        def shown():
            return [row["Job"] for row in self.rows("Kept jobs")]

        self.browser.wait(lambda: "held" in self.browser.text("#main table"), "the hold is shown")
        self.press("State", "#main thead")
        self.browser.wait(lambda: [jobs.index(job) for job in shown()][:2] == [2, 1], "the cancelled one is first")
        self.assertIn("sort=state", self.browser.url)
        self.press("State", "#main thead")
        self.browser.wait(lambda: [jobs.index(job) for job in shown()][2:] == [1, 2], "it is last")
        self.kept("order", 60)
        self.assertEqual(self.browser.script("return [...document.querySelectorAll('#main thead button')].map((one) => one.textContent)"), ["Age"])
        self.press("Age", "#main thead")
        self.browser.wait(lambda: "order=oldest" in self.browser.url and self.browser.script(
            "return document.querySelector('[aria-sort=descending]')?.textContent") == "Age", "the oldest are first")

    def test_jobs_are_chosen_by_the_keyboard_and_only_what_acts_on_them_is_offered(self):
        jobs = self.kept("chosen", 5)
        browser = self.browser
        self.assertEqual(self.offered("All that match"), ["Retry…", "Cancel…", "Hold…", "Drop…"])
        # The newest is the first.
        browser.script("document.querySelector('.pick').focus()")
        browser.keys(SPACE)
        browser.wait_text("1 chosen:")
        browser.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": [
            {"type": kind, "value": key} for kind, key in (("keyDown", SHIFT), ("keyDown", DOWN), ("keyUp", DOWN), ("keyDown", DOWN), ("keyUp", DOWN), ("keyUp", SHIFT))]}]})
        browser.wait_text("3 chosen:")
        self.order("Hold…", "3 chosen")
        self.assertIn("waystation jobs hold " + " ".join(jobs[:1:-1]), self.command())
        self.press("Hold 3 jobs", "dialog form .buttons")
        browser.wait_text("3 jobs match, 3 held", within="dialog")
        self.press("Close", "dialog form .buttons")
        self.assertEqual(self.states(jobs), ["scheduled", "scheduled", "held", "held", "held"])
        browser.wait(lambda: self.offered("3 chosen") == ["Retry…", "Cancel…", "Release…", "Drop…"], "those on hold can be released")
        # A refresh leaves what is chosen.
        browser.script("refresh.soon(true)")
        browser.wait(lambda: browser.script("return !refresh.isReading && !refresh.timer"), "it is read anew")
        self.assertEqual(len(browser.script("return [...document.querySelectorAll('.pick:checked')]")), 3)
        self.press("Choose none")
        self.assertNotIn("chosen:", browser.text("main"))
        self.press("Choose all 5 here")
        browser.wait_text("5 chosen:")
        # A click with Shift takes those between.
        self.press("Choose none")
        browser.script("document.querySelectorAll('.pick')[1].click()")
        browser.script("document.querySelectorAll('.pick')[3].dispatchEvent(new MouseEvent('click', {bubbles: true, shiftKey: true}))")
        browser.wait_text("3 chosen:")

    def test_the_store_says_what_would_change_and_the_command_does_the_same(self):
        jobs = self.kept("dry", 4)
        for job in jobs[:2]:
            self.scene.api("POST", f"/v1/jobs/{job}/hold")
        self.browser.wait(lambda: "Release…" in self.offered("All that match"), "some can be released")
        self.order("Release…", "All that match")
        self.browser.wait_text("4 jobs match, 2 of them are in a state in which this changes nothing.", within="dialog")
        self.assertTrue(self.browser.button("Release 2 jobs", "dialog"))
        self.press("Cancel", "dialog form .buttons")
        self.press("Choose all 4 here")
        self.browser.wait_text("4 chosen:")
        self.order("Retry…", "4 chosen")
        line = self.command()
        self.press("Cancel", "dialog form .buttons")
        done = self.scene.run(line)
        self.assertEqual(done.returncode, 0, done.stderr)
        eventually(lambda: self.states(jobs) == ["succeeded"] * 4, "the command has retried them")

    def test_a_pause_is_ordered_with_every_word_that_was_typed(self):
        self.view("#/route/quiet", "What holds it back")
        self.press("Pause")
        self.browser.type(self.browser.find("dialog input[name=reason]"), "tea & cake")
        self.browser.type(self.browser.find("dialog input[name=for]"), "5m")
        self.browser.wait(lambda: self.command().startswith("waystation pause quiet --for 5m --reason 'tea & cake'"), "the command has both words")
        self.press("Cancel", "dialog form .buttons")


if __name__ == "__main__":
    unittest.main()

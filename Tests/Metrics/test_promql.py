"""The faults that the reader of expressions finds, and the expressions that it lets pass."""

import unittest

from promql import Known, Wrong, shape

KNOWN = Known(
    {"requests_total": {"route", "outcome"}, "jobs": {"route", "state"}, "limit": set(), "up": set(),
     "info": {"version"}, "seconds_bucket": {"route", "le"}, "file_info": {"file"}},
    {("jobs", "state"): {"queued", "dead"}})
TARGET = {"job", "instance"}


class Shapes(unittest.TestCase):
    def assert_shape(self, text, labels):
        self.assertEqual(shape(text, KNOWN), labels, text)

    def assert_wrong(self, text, part):
        with self.assertRaises(Wrong, msg=text) as found:
            shape(text, KNOWN)
        self.assertIn(part, str(found.exception), text)

    def test_a_result_has_the_labels_that_are_left(self):
        self.assert_shape("requests_total", TARGET | {"route", "outcome"})
        self.assert_shape('sum without (outcome) (rate(requests_total{outcome!="x"}[5m]))', TARGET | {"route"})
        self.assert_shape("sum(jobs) by (route)", {"route"})
        self.assert_shape("sum(jobs)", set())
        self.assert_shape("topk(3, jobs)", TARGET | {"route", "state"})
        self.assert_shape("time() - 3 * 4", None)
        self.assert_shape("time() - limit > 300", TARGET)
        self.assert_shape("histogram_quantile(0.9, sum by (route, le) (rate(seconds_bucket[5m])))", {"route"})
        self.assert_shape("limit * on (job, instance) group_left (file) file_info", TARGET | {"file"})
        self.assert_shape('absent(up{job="a"})', {"job"})
        self.assert_shape("absent(up or limit)", set())
        self.assert_shape("max_over_time(limit[5m:1m] offset 1h) and on (job, instance) info", TARGET)
        self.assert_shape('label_replace(limit, "x", "$1", "job", "(.*)")', TARGET | {"x"})

    def test_what_there_is_not_is_found(self):
        self.assert_wrong("request_total", "no metric request_total")
        self.assert_wrong('jobs{rout="a"}', "no label rout")
        self.assert_wrong('jobs{state="ded"}', "no state='ded'")
        self.assert_wrong('jobs{state=~"dead|lost"}', "no state='lost'")
        self.assert_wrong("sum by (upstream) (jobs)", "by (upstream)")
        self.assert_wrong("sum without (kind) (jobs)", "without (kind)")
        self.assert_wrong("histogram_quantile(0.9, sum by (route) (seconds_bucket))", "no label le")
        self.assert_wrong("sum by (route) (sum by (state) (jobs))", "by (route)")

    def test_sides_that_cannot_match_are_found(self):
        self.assert_wrong("jobs / limit", "never are the same")
        self.assert_wrong("jobs and limit", "never are the same")
        self.assert_wrong("jobs and on (version) info", "left side")
        self.assert_wrong("limit * on (job, instance) info", "differ in version")
        self.assert_wrong("jobs * on (job, instance) group_left () info", "differ in version")
        self.assert_wrong("limit * on (job, instance) group_left (digest) file_info", "other side")
        self.assert_wrong("jobs / ignoring (code) jobs", "neither side")
        self.assert_wrong("jobs and 1", "not a number")

    def test_what_is_none_of_it_is_found(self):
        self.assert_wrong("jobs }", "not PromQL")
        self.assert_wrong("jobs $route", "not PromQL")
        self.assert_wrong("(jobs", "in place of )")


if __name__ == "__main__":
    unittest.main()

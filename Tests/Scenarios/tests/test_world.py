"""The code that scenarios are judged and drawn by."""

import asyncio
import pathlib
import sys
import unittest
from xml.etree import ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from world import picture  # noqa: E402
from world.figures import Figure, densest, per_slice, percentile, since_when  # noqa: E402
from world.upstream import Ceiling, Queue  # noqa: E402


class Served:
    """An attempt that notes when it is answered."""

    def __init__(self, clock):
        self.now, self.told = clock, None

    def answer(self, status):
        self.told = (status, self.now())


class Figures(unittest.TestCase):
    def test_a_bound_holds_on_its_side_and_the_control_has_to_be_beyond_another(self):
        most, least = Figure("a", at_most=1.1, fails=3), Figure("b", at_least=0.95, fails=0.5)
        self.assertEqual([most.holds(1.1), most.holds(1.2), least.holds(0.95), least.holds(0.9)], [True, False] * 2)
        missed = [most.is_missed(3), most.is_missed(2), least.is_missed(0.5), least.is_missed(0.6)]
        self.assertEqual(missed, [True, False] * 2)

    def test_what_never_came_to_be_holds_in_no_bound_and_is_missed_by_a_control(self):
        figure = Figure("seconds", at_most=30, fails=30)
        self.assertEqual((figure.holds(None), figure.is_missed(None)), (False, True))

    def test_recovery_counts_from_the_last_bad_slice_and_is_never_where_the_end_is_bad(self):
        wanted = [10] * 6
        self.assertEqual(since_when([10, 0, 5, 10, 0, 10], wanted, 0.95, 1, 1), 4)
        self.assertEqual(since_when([0, 10, 10, 10, 10, 10], wanted, 0.95, 1, 1), 0)
        self.assertIsNone(since_when([10] * 5 + [0], wanted, 0.95, 1, 1))

    def test_the_densest_moments_are_found_wherever_they_begin(self):
        self.assertEqual(densest([0, 0.8, 1.1, 1.2, 1.8, 3], 1), 3)
        self.assertEqual((densest([0, 1, 2], 1), densest([], 1)), (1, 0))

    def test_slices_and_percentiles(self):
        self.assertEqual(per_slice([0, 0.4, 0.5, 1.9, 2.1], 0.5, 2), [2, 1, 0, 1])
        self.assertEqual((percentile(range(100), 0.99), percentile([], 0.5)), (99, None))


class Models(unittest.IsolatedAsyncioTestCase):
    async def serve(self, model, count, seconds):
        loop = asyncio.get_running_loop()
        begin = loop.time()
        clock = lambda: loop.time() - begin  # noqa: E731
        model, attempts = model(clock), [Served(clock) for _ in range(count)]
        for attempt in attempts:
            model(attempt)
        await asyncio.sleep(seconds)
        return [attempt.told for attempt in attempts]

    async def test_a_queue_serves_one_after_the_other_and_none_in_a_stall(self):
        told = await self.serve(lambda clock: Queue(clock, 50, [(0.05, 0.2)]), 4, 0.4)
        self.assertEqual([status for status, _ in told], [200] * 4)
        for (_, at), earliest in zip(told, (0.02, 0.04, 0.22, 0.24)):
            self.assertGreaterEqual(at, earliest - 0.001)

    async def test_a_ceiling_refuses_those_above_it(self):
        told = await self.serve(lambda clock: Ceiling(2, 0.01), 3, 0.1)
        self.assertEqual([status for status, _ in told], [200, 200, 503])


class Pictures(unittest.TestCase):
    def test_a_picture_has_both_columns_and_the_breaker(self):
        record = {
            "end": 2.0, "slice": 0.5, "offered": [50, 50, 50, 50], "good": [50, 0, 0, 50], "attempts": [50, 60, 1, 50],
            "looks": [[0, 0, 0, 256, 3, "closed"], [0.5, 90, 0, 128, 9, "open"], [1.5, 40, 0, 10, 10, "closed"]]}
        result = {"scenario": "outage", "case": {}, "control": False, "record": record}
        root = ElementTree.fromstring(picture.picture(result, {**result, "control": True}))
        shapes = [each.get("class") for each in root.iter() if each.tag.endswith("rect")]
        # One of the legend, and one of each column.
        self.assertEqual(shapes.count("open"), 3)
        lines = [each.get("class") for each in root.iter() if each.tag.endswith("polyline")]
        self.assertEqual([lines.count(name) for name in ("line good", "line attempts", "line window")], [2, 2, 2])

    def test_a_line_has_no_more_points_than_can_be_seen(self):
        points = picture.thinned([(number, number) for number in range(1000)], max)
        self.assertLessEqual(len(points), picture.POINTS)
        self.assertEqual(points[0], (0, 5))


if __name__ == "__main__":
    unittest.main()

import RelayBase
import Testing

@Suite("A histogram of durations")
struct DurationBucketsTests {
    @Test(
        "A duration is in the first bucket whose end it does not exceed",
        arguments: [
            (0, 0), (1_000, 0), (1_001, 1), (2_500, 1), (2_501, 2), (999_999, 9), (60_000_000, 14),
            (60_000_001, 15), (UInt64.max, 15),
        ]
    )
    func place(_ microseconds: UInt64, _ place: Int) {
        #expect(DurationBuckets.latency.index(of: microseconds) == place)
    }

    @Test(
        "The ends of the buckets rise as far as there are some",
        arguments: [
            (DurationBuckets.latency, 15, 1_000), (.lifetime, 15, 100_000), (.commit, 15, 50),
            (.wait, 6, 10_000),
        ]
    )
    func ends(_ scale: DurationBuckets, _ count: Int, _ first: UInt64) {
        #expect(scale.bounds[0] == first)
        for place in 1..<count { #expect(scale.bounds[place - 1] < scale.bounds[place]) }
        for place in count..<15 { #expect(scale.bounds[place] == .max) }
        #expect(scale.index(of: .max) == (count < 15 ? count : 15))
    }

    @Test("Cells count what they are told, and a duration below zero as none")
    func cells() {
        let cells = DurationCells()
        for duration in [Duration.milliseconds(3), .milliseconds(3), .seconds(-1), .seconds(100)] {
            cells.took(duration, .latency)
        }
        let counts = cells.counts
        #expect(counts.count == 4 && counts.microseconds == 100_006_000)
        #expect(counts.buckets[0] == 1 && counts.buckets[2] == 2 && counts.buckets[15] == 1)
    }

    @Test("A quantile lies within its bucket, where its durations count as evenly spread")
    func quantile() throws {
        var counts = DurationCounts()
        #expect(counts.quantile(0.5, .latency) == nil)
        counts.buckets[3] = 100  // from 5 to 10 ms
        #expect(counts.quantile(0.5, .latency) == 7_500)
        #expect(counts.quantile(1, .latency) == 10_000)
        counts.buckets[0] = 300  // to 1 ms
        #expect(counts.quantile(0.75, .latency) == 1_000)
        #expect(try #require(counts.quantile(0.99, .latency)) > 9_000)
        counts.buckets[15] = 10_000  // beyond a minute
        #expect(counts.quantile(0.99, .latency) == 60_000_000)
    }

    @Test("The counts since a moment are those of now less those of then")
    func since() {
        var before = DurationCounts()
        before.buckets[1] = 2
        before.microseconds = 4_000
        var after = before
        after.buckets[1] += 3
        after.buckets[4] += 1
        after.microseconds += 26_000
        let since = after.since(before)
        #expect(since.count == 4 && since.microseconds == 26_000)
        before += since
        #expect(before == after)
    }
}

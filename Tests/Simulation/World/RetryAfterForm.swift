import RelayBase
import RelayTestSupport

/// A `Retry-After` as an upstream writes it, and what it means.
struct RetryAfterForm {
    enum Meaning {
        case nothing
        case seconds(Int64)
        case date(Int64)
    }

    let values: [String]
    let meaning: Meaning
    let coverage: Coverage

    init(_ values: [String], _ meaning: Meaning, _ coverage: Coverage) {
        (self.values, self.meaning, self.coverage) = (values, meaning, coverage)
    }

    /// Nanoseconds to wait when the answer is read at that time of the wall clock; nil for no wait at all.
    func wait(wallSeconds: Int64) -> Int64? {
        let ceiling: Int64 = 315_360_000
        return switch meaning {
        case .nothing: nil
        case .seconds(let seconds): min(seconds, ceiling) * 1_000_000_000
        case .date(let date): min(max(date - wallSeconds, 0), ceiling) * 1_000_000_000
        }
    }

    static func draw(_ draw: inout SplitMix64, wallSeconds: Int64) -> RetryAfterForm {
        switch draw.below(12) {
        case 0...3:
            let seconds = draw.pick([0, 1, 1, 2, 3, 5, 120])
            let text = draw.pick(["\(seconds)", " \(seconds)\t", "000\(seconds)"])
            return RetryAfterForm([text], .seconds(Int64(seconds)), .retryAfterSeconds)
        case 4:
            let huge = [
                "999999999999", "315360001", "100000000000000000", "9223372036854775808",
                "99999999999999999999",
            ]
            return RetryAfterForm([draw.pick(huge)], .seconds(.max / 1_000_000_000), .retryAfterHuge)
        case 5:
            let garbage = [
                "-5", "1.5", "soon", "", "  ", "1s", "+3", "1e3", "0x10", "5, 5", "inf",
                "Sun, 32 Nov 2027 08:49:37 GMT", "Sun, 06 Nov 2027 08:49:37 CET",
                "Sun, 06 Nov 2027 08:49:37 GMT x",
            ]
            return RetryAfterForm([draw.pick(garbage)], .nothing, .retryAfterGarbage)
        case 6:
            let same = draw.pick([["2", "2"], ["1", "1", "01"]])
            return RetryAfterForm(same, .seconds(same.count == 2 ? 2 : 1), .retryAfterTwice)
        case 7:
            let others = draw.pick([["2", "3"], ["1", "soon"], ["", "4"], ["1", "1", "7"]])
            return RetryAfterForm(others, .nothing, .retryAfterContradicts)
        case 8...10:
            let date = wallSeconds + Int64(draw.pick([0, 1, 2, 3, 7, 100_000]))
            return RetryAfterForm([dateText(date, &draw)], .date(date), .retryAfterFutureDate)
        default:
            let date = wallSeconds - Int64(draw.pick([1, 2, 60, 1_000_000]))
            return RetryAfterForm([dateText(date, &draw)], .date(date), .retryAfterPastDate)
        }
    }

    /// One of the three forms of RFC 9110 §5.6.7.
    private static func dateText(_ date: Int64, _ draw: inout SplitMix64) -> String {
        let text = String(decoding: IMFDate.format(date), as: UTF8.self)
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 6, let short = words[0].split(separator: ",").first.map(String.init) else {
            return text
        }
        let long = [
            "Sun": "Sun", "Mon": "Mon", "Tue": "Tues", "Wed": "Wednes", "Thu": "Thurs", "Fri": "Fri",
            "Sat": "Satur",
        ]
        switch draw.below(3) {
        case 0: return text
        case 1:
            return "\(long[short] ?? "")day, \(words[1])-\(words[2])-\(words[3].suffix(2)) \(words[4]) GMT"
        default:
            let day = words[1].hasPrefix("0") ? " \(words[1].dropFirst())" : words[1]
            return "\(short) \(words[2]) \(day) \(words[4]) \(words[3])"
        }
    }
}

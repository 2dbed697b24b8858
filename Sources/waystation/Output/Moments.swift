import Glibc
import RelayBase
import RelayInterface

/// Moments and ages for people, as of one `now`.
struct Moments {
    /// Milliseconds since 1970 UTC.
    var now = Moments.wallMilliseconds()
    let isUTC: Bool

    static func wallMilliseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// As short as it can be told: `15:07:10` today, `Nov 20 15:07` this year, else `2025-11-20`.
    func short(_ text: String?) -> String {
        guard let moment = text.flatMap(UTCTime.milliseconds(parsing:)) else { return "–" }
        if format(moment, "%Y") != format(now, "%Y") { return format(moment, "%Y-%m-%d") }
        return format(moment, isToday(moment) ? "%H:%M:%S" : "%b %e %H:%M")
    }

    /// The time of day with milliseconds, after the day when it is not today's.
    func precise(_ moment: Int64) -> String {
        let digits = String(1_000 + (moment % 1_000 + 1_000) % 1_000).dropFirst()
        return format(moment, isToday(moment) ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S") + "." + digits
    }

    func precise(_ text: String?) -> String {
        told(text) { precise($0) }
    }

    func short(_ moment: WallTime) -> String { short(moment.description) }
    func age(_ moment: WallTime?) -> String { age(moment?.description) }
    func until(_ moment: WallTime?) -> String { until(moment?.description) }

    /// How long ago: `12s`, `4m`, `3h`, `5d`.
    func age(_ text: String?) -> String {
        told(text) { Moments.span(now - $0) }
    }

    /// The same of a route's oldest job, which of very many is known to the minute only: `12s`, `<1m`, `4m`, `3h`.
    func ageOfOldest(_ text: String?) -> String {
        told(text) { $0 % 60_000 == 0 && now - $0 < 60_000 ? "<1m" : Moments.span(now - $0) }
    }

    /// How long until then, `now` when that is past.
    func until(_ text: String?) -> String {
        told(text) { $0 <= now ? "now" : Moments.span($0 - now) }
    }

    /// The same in a sentence: `in 59m`, `now`.
    func coming(_ text: String?) -> String {
        let until = until(text)
        return until == "now" || until == "–" ? until : "in " + until
    }

    private func told(_ text: String?, _ words: (Int64) -> String) -> String {
        text.flatMap(UTCTime.milliseconds(parsing:)).map(words) ?? "–"
    }

    /// A span in its largest unit.
    static func span(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1_000
        switch seconds {
        case ..<60: return "\(seconds)s"
        case ..<3_600: return "\(seconds / 60)m"
        case ..<172_800: return "\(seconds / 3_600)h"
        default: return "\(seconds / 86_400)d"
        }
    }

    private func isToday(_ moment: Int64) -> Bool { format(moment, "%Y-%j") == format(now, "%Y-%j") }

    /// In the words of strftime(3).
    private func format(_ milliseconds: Int64, _ pattern: String) -> String {
        var seconds = time_t(min(max(0, milliseconds), 253_402_300_799_999) / 1_000)
        var parts = unsafe tm()
        _ = unsafe isUTC ? gmtime_r(&seconds, &parts) : localtime_r(&seconds, &parts)
        var buffer = [CChar](repeating: 0, count: 64)
        let count = unsafe strftime(&buffer, buffer.count, pattern, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

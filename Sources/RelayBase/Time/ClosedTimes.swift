import RelayJSON

/// The times at which a route is closed, as they were planned.
package struct ClosedTimes: Sendable, Equatable {
    /// A part of a day, on some of the days.
    package struct Window: Sendable, Equatable {
        package enum Days: Sendable, Equatable {
            /// Bit 0 is Sunday.
            case weekdays(UInt8)
            /// Days since 1970, in their order.
            case dates([Int64])
        }

        package var days: Days
        /// Seconds of the day by the clocks of the zone.
        package var from: Int
        /// Up to 86,400; of the next day where that is not later than `from`.
        package var to: Int
        package var zone: ZoneRules

        package init(days: Days, from: Int, to: Int, zone: ZoneRules) {
            (self.days, self.from, self.to, self.zone) = (days, from, to, zone)
        }

        private func begins(on day: Int64) -> Bool {
            switch days {
            case .weekdays(let bits): return bits >> UInt8(((day + 4) % 7 + 7) % 7) & 1 == 1
            case .dates(let dates):
                var (low, high) = (0, dates.count)
                while low < high {
                    let middle = (low + high) / 2
                    if dates[middle] < day { low = middle + 1 } else { high = middle }
                }
                return low < dates.count && dates[low] == day
            }
        }

        /// Between two moments, in seconds since 1970, where it begins on that day since 1970.
        ///
        /// Of a time that comes twice the first begins it and the second ends it; one that the clocks leap over is when they do.
        fileprivate func span(of day: Int64) -> Range<Int64>? {
            guard begins(on: day) else { return nil }
            var last = day
            // Whole days that follow each other are one, however many.
            if from % 86_400 == to % 86_400 { while last - day < 400, begins(on: last + 1) { last += 1 } }
            let end = (to > from ? last : last + 1) * 86_400 + Int64(to)
            let lower = zone.moment(ofLocal: day * 86_400 + Int64(from), isLast: false)
            let upper = zone.moment(ofLocal: end, isLast: true)
            return lower < upper ? lower..<upper : nil
        }

        /// The day since 1970 that the clocks of the zone show.
        fileprivate func day(_ moment: Int64) -> Int64 {
            let local = moment + Int64(zone.offset(at: moment))
            return (local - (local % 86_400 + 86_400) % 86_400) / 86_400
        }

        /// The end of the time that holds that moment.
        fileprivate func end(around moment: Int64) -> Int64? {
            let today = day(moment)
            return (today - 1...today + 1).compactMap { day in
                span(of: day).flatMap { $0.contains(moment) ? $0.upperBound : nil }
            }.max()
        }

        /// When it begins next.
        fileprivate func begin(after moment: Int64) -> Int64? {
            let today = day(moment)
            switch days {
            case .weekdays:
                // The time of one week may be one that the clocks leap over.
                return (today - 1...today + 15).lazy.compactMap { span(of: $0)?.lowerBound }
                    .first { $0 > moment }
            case .dates(let dates):
                return dates.lazy.filter { $0 >= today - 1 }.compactMap { span(of: $0)?.lowerBound }
                    .first { $0 > moment }
            }
        }
    }

    /// Windows at most, and dates of each.
    package static let most = (windows: 32, dates: 366)

    package var windows: [Window]

    package init(_ windows: [Window]) { self.windows = windows }

    /// Until when it is closed at that second since 1970, across windows that follow each other without a gap; nil where
    /// it is open.
    ///
    /// No window is longer than a day, so that a year's worth of them is found.
    package func end(at moment: Int64) -> Int64? {
        var end = moment
        for _ in 0..<800 {
            guard let next = windows.compactMap({ $0.end(around: end) }).max(), next > end else { break }
            end = next
        }
        return end > moment ? end : nil
    }

    /// When it closes or opens next; nil where it does neither any more.
    package func change(after moment: Int64) -> Int64? {
        end(at: moment) ?? windows.compactMap { $0.begin(after: moment) }.min()
    }

    /// The longest time for which it is closed in the year from that second since 1970 on, as far as that is known.
    package func longest(from moment: Int64) -> Duration {
        var (longest, now) = (Int64(0), moment)
        while now < moment + 366 * 86_400 {
            if let end = end(at: now) { (longest, now) = (max(longest, end - now), end) }
            guard let next = change(after: now) else { break }
            now = next
        }
        return .seconds(longest)
    }

    /// Whether its days of the week leave no time open, as seen from that second since 1970.
    package func neverOpens(from moment: Int64) -> Bool {
        let weekly = windows.filter { if case .weekdays = $0.days { true } else { false } }
        return ClosedTimes(weekly).end(at: moment).map { $0 - moment > 15 * 86_400 } ?? false
    }
}

extension ClosedTimes {
    /// The day since 1970 of a date such as `2026-12-24`; nil where there is none.
    package static func day(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
            let day = number(bytes[8..<10]),
            CivilDate(year: year, month: month, day: day, hour: 0, minute: 0, second: 0).isValid
        else { return nil }
        return CivilDate.daysSince1970(year: year, month: month, day: day)
    }

    /// The seconds of a time of day such as `22:00`, up to `24:00`; nil where it is none.
    package static func time(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"), let hour = number(bytes[0..<2]),
            let minute = number(bytes[3..<5]), minute < 60, hour * 60 + minute <= 1_440
        else { return nil }
        return (hour * 60 + minute) * 60
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        digits.allSatisfy(\.isDigit) ? digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } : nil
    }
}

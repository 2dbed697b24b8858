/// The offsets of a time zone from UTC, as data: those on record, and the rule for what comes after them.
package struct ZoneRules: Sendable, Equatable {
    /// So many seconds east of UTC from that second since 1970 on.
    struct Change: Sendable, Equatable {
        var at: Int64
        var offset: Int
    }

    /// Before the first change.
    var first = 0
    /// In the order of their moments.
    var changes: [Change] = []
    /// The rule after the last change; nil where its offset stays.
    var rule: YearRule?

    package static let utc = ZoneRules()

    /// Seconds east of UTC, at that second since 1970.
    package func offset(at seconds: Int64) -> Int {
        guard let last = changes.last, seconds < last.at else {
            return rule?.offset(at: seconds) ?? changes.last?.offset ?? first
        }
        var (low, high) = (0, changes.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].at <= seconds { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? first : changes[low - 1].offset
    }

    /// The moment at which the clocks of the zone show that, given as if they showed UTC.
    ///
    /// Of a time that comes twice it is the first one, or the last; of one that does not exist it is the moment at which
    /// the clocks leap over it.
    func moment(ofLocal local: Int64, isLast: Bool) -> Int64 {
        let (before, after) = (offset(at: local - 172_800), offset(at: local + 172_800))
        let (early, late) = (local - Int64(max(before, after)), local - Int64(min(before, after)))
        let shows = { (moment: Int64) in moment + Int64(offset(at: moment)) == local }
        switch (shows(early), shows(late)) {
        case (true, true): return isLast ? late : early
        case (true, false): return early
        case (false, true): return late
        case (false, false): break
        }
        // The clocks leap in between.
        var (low, high) = (early, late)
        while low < high {
            let middle = low + (high - low) / 2
            if offset(at: middle) == before { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension ZoneRules {
    /// The rule of each year after those on record.
    struct YearRule: Sendable, Equatable {
        var standard: Int
        /// Nil where the clocks are never changed.
        var summer: Summer?

        struct Summer: Sendable, Equatable {
            var offset: Int
            var begins: YearDay
            var ends: YearDay
        }

        func offset(at seconds: Int64) -> Int {
            guard let summer else { return standard }
            let year = CivilDate(secondsSince1970: bounded(seconds + Int64(standard))).year
            let begins = summer.begins.seconds(in: year) - Int64(standard)
            let ends = summer.ends.seconds(in: year) - Int64(summer.offset)
            let isSummer =
                begins < ends ? begins <= seconds && seconds < ends : seconds < ends || begins <= seconds
            return isSummer ? summer.offset : standard
        }

        /// A moment of the years 1 to 9999.
        private func bounded(_ seconds: Int64) -> Int64 {
            min(max(seconds, -62_135_596_800), UTCTime.lastSecond)
        }
    }

    /// A moment of a year, by the clocks as they are before it.
    struct YearDay: Sendable, Equatable {
        enum Day: Sendable, Equatable {
            /// `M3.5.0`: the last Sunday of March; 0 is Sunday, and week 5 the last.
            case week(month: Int, week: Int, weekday: Int)
            /// `J60`: the first of March, whether there is a 29th of February or not.
            case withoutLeapDay(Int)
            /// `59`: so many days after the first of January.
            case afterFirst(Int)
        }

        var day: Day
        /// Seconds after the day has begun, which may be on another day.
        var time: Int

        /// Seconds since 1970, as if the clocks showed UTC.
        func seconds(in year: Int) -> Int64 {
            let first = CivilDate.daysSince1970(year: year, month: 1, day: 1)
            let number: Int64
            switch day {
            case .afterFirst(let days): number = first + Int64(days)
            case .withoutLeapDay(let day):
                let isLeap = CivilDate.daysInMonth(2, year: year) == 29
                number = first + Int64(day - 1) + (isLeap && day >= 60 ? 1 : 0)
            case .week(let month, let week, let weekday):
                let date = CivilDate(year: year, month: month, day: 1, hour: 0, minute: 0, second: 0)
                var day = 1 + (weekday - date.weekday + 7) % 7 + (week - 1) * 7
                if day > CivilDate.daysInMonth(month, year: year) { day -= 7 }
                number = CivilDate.daysSince1970(year: year, month: month, day: day)
            }
            return number * 86_400 + Int64(time)
        }
    }
}

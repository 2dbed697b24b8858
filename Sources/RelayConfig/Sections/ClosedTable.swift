import RelayBase
import RelayJSON

/// One window of `closed` as the file has it.
private struct ClosedDraft {
    enum Weekday: String, CaseIterable {
        case sunday, monday, tuesday, wednesday, thursday, friday, saturday

        /// Bit 0 is Sunday.
        var bit: UInt8 { UInt8(1) << UInt8(Weekday.allCases.firstIndex(of: self) ?? 0) }
    }

    var days: [Weekday]?
    var dates: [Int64]?
    var from = 0
    var to = 86_400
    var zone = (name: "UTC", rules: ZoneRules.utc)

    var window: ClosedTimes.Window {
        let weekdays = days?.reduce(0) { $0 | $1.bit } ?? 127
        return ClosedTimes.Window(
            days: dates.map { .dates($0.sorted()) } ?? .weekdays(weekdays),
            from: from,
            to: to,
            zone: zone.rules
        )
    }
}

// The `closed` of a route.
extension ConfigurationTable {
    static var closedTimes: ValueKind<ClosedTimes> {
        let list = ValueKind<[ClosedDraft]>.list(
            closedWindow.kind,
            minimum: 1,
            maximum: ClosedTimes.most.windows
        )
        return ValueKind(list.shape) { node, _, reading in
            guard let drafts = list.read(node, nil, &reading) else { return nil }
            let times = ClosedTimes(drafts.map(\.window))
            if !reading.hasErrors, times.neverOpens(from: reading.wallSeconds) {
                reading.error(
                    "the windows leave no time in which the route is open",
                    at: node.range,
                    hint: "leave some out; to stop a route for good: waystation pause ROUTE"
                )
            }
            return times
        }
    }

    private static var closedWindow: Section<ClosedDraft> {
        Section(
            "closed_window",
            "A part of a day, on some days. In the hour of a year that comes twice a window begins the first time and ends "
                + "the second; where a window begins or ends in the hour that does not exist, it does so when the clocks leap "
                + "over it. Windows that follow each other without a gap are one.",
            of: ClosedDraft()
        ) {
            Field("days", .list(.word(), minimum: 1, maximum: 7), \.days) {
                "The days of the week on which it begins; without them, and without dates, every day."
            }
            Field("dates", .list(date, minimum: 1, maximum: ClosedTimes.most.dates), \.dates) {
                "The dates on which it begins."
            }
            Field("from", timeOfDay(upTo: 86_340), \.from) { "When it begins, by the clocks of the zone." }
            Field("to", timeOfDay(upTo: 86_400), \.to) {
                "When it ends: of the next day where that is not later than \"from\"."
            }
            Field("zone", zone, \.zone) {
                "The time zone, by its name in the system's tz database (package tzdata), which is read when the "
                    + "configuration is."
            }
        } check: { draft, node, reading in
            if draft.days != nil, draft.dates != nil {
                reading.error(
                    "a window is on days of the week or on dates",
                    at: node.location("dates"),
                    hint: "make two windows of it"
                )
            }
            guard draft.from % 86_400 == draft.to % 86_400, node["from"] != nil, node["to"] != nil,
                draft.to != 86_400
            else { return }
            reading.error(
                "the window ends when it begins",
                at: node.location("to"),
                hint: "leave both out for the whole day"
            )
        }
    }

    private static var date: ValueKind<Int64> {
        .text("a date such as \"2026-12-24\"", pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$") {
            text throws(Refusal) in
            guard let day = ClosedTimes.day(text) else {
                throw Refusal("there is no such date", hint: "write it such as \"2026-12-24\"")
            }
            return day
        }
    }

    private static func timeOfDay(upTo last: Int) -> ValueKind<Int> {
        let end = last == 86_400 ? "|^24:00$" : ""
        return .text("a time of day such as \"22:00\"", pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$\(end)") {
            text throws(Refusal) in
            guard let time = ClosedTimes.time(text), time <= last else {
                let end = last == 86_400 ? "24:00" : "23:59"
                throw Refusal("there is no such time of day", hint: "write it from \"00:00\" to \"\(end)\"")
            }
            return time
        }
        .writing { time in
            let two = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
            return .string("\(two(time / 3_600)):\(two(time / 60 % 60))")
        }
    }

    private static var zone: ValueKind<(name: String, rules: ZoneRules)> {
        let pattern = "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,3}$"
        let shape = Shape.text(
            TextShape("the name of a time zone such as \"Europe/Berlin\"", pattern: pattern)
        )
        let kind = ValueKind<(name: String, rules: ZoneRules)>(shape) { node, _, reading in
            guard let name = node.text else {
                reading.refuse(node, expected: shape)
                return nil
            }
            if name == "UTC" { return (name, .utc) }
            guard let file = reading.accounts.zoneFile(name) else {
                reading.error(
                    "this machine knows no time zone \"\(printable(name))\"",
                    at: node.range,
                    hint:
                        "install the package tzdata, or correct the name, such as \"Europe/Berlin\" or \"UTC\""
                )
                return nil
            }
            do throws(Refusal) {
                return (name, try ZoneRules(parsing: file))
            } catch {
                reading.error(
                    "the file of the time zone cannot be used: \(error.message)",
                    at: node.range,
                    hint: error.hint ?? "install the package tzdata anew"
                )
                return nil
            }
        }
        return kind.writing { .string($0.name) }
    }
}

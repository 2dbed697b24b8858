import RelayBase
package import RelayJobs

extension ActionRun {
    private static let layout: UInt64 = 1

    /// To do nothing is safe: which jobs it was for is not known any more.
    package static func unreadable(_ number: Int64) -> ActionRun {
        var run = ActionRun(.retry, JobFilter(), by: nil, at: 0)
        run.number = number
        run.end(
            .failed,
            failure: "the record of this run is damaged: look at the jobs, and begin another",
            at: 0
        )
        return run
    }

    package var sealed: [UInt8] {
        var writer = RecordWriter()
        writer.add(Self.layout)
        writer.add(action.rawValue)
        writer.add(filter)
        writer.add(rate?.text)
        writer.add(why)
        writer.add(by)
        writer.add(began)
        writer.add(total.map(Int64.init))
        writer.add(scope.last.position)
        writer.add(scope.line)
        writer.add(cursor?.position)
        for number in [
            count.matched, count.changed, count.asked, count.expunged, count.spared, count.superseded,
        ] { writer.add(UInt64(number)) }
        writer.add(next)
        writer.add(state.rawValue)
        writer.add(ended)
        writer.add(endedBy)
        writer.add(failure)
        writer.add(version)
        let nodes = [by?.node.text, endedBy?.node.text, filter.node.text, filter.holder]
        if nodes.contains(where: { $0 != nil }) { for node in nodes { writer.add(node) } }
        return writer.sealed(at: number)
    }

    package init(sealed bytes: [UInt8], _ number: Int64) throws(RecordReader.Damage) {
        var reader = try RecordReader(sealed: bytes, at: number)
        guard try reader.number() == Self.layout, let action = JobAction(rawValue: try reader.text()) else {
            throw RecordReader.Damage()
        }
        let filter = try reader.filter()
        let rate = try reader.optionalText().flatMap { ActionRate($0) }
        let why = try reader.optionalText()
        let by = try reader.principal()
        self.init(action, filter, by: by, at: try reader.signed())
        (self.number, self.rate, self.why) = (number, rate, why)
        total = try reader.optionalSigned().map { Int(clamping: $0) }
        let last = JobCursor(position: try reader.signed())
        scope = Scope(last: last, line: try reader.signed())
        cursor = try reader.optionalSigned().map { JobCursor(position: $0) }
        count.matched = try reader.integer()
        count.changed = try reader.integer()
        count.asked = try reader.integer()
        count.expunged = try reader.integer()
        count.spared = try reader.integer()
        count.superseded = try reader.integer()
        next = try reader.signed()
        guard let state = State(rawValue: try reader.text()) else { throw RecordReader.Damage() }
        self.state = state
        ended = try reader.optionalSigned()
        endedBy = try reader.principal()
        failure = try reader.optionalText()
        version = try reader.number()
        guard !reader.isAtEnd else { return }
        let (own, other) = (NodeName(try reader.optionalText()), NodeName(try reader.optionalText()))
        self.by?.node = own
        endedBy?.node = other
        self.filter.node = NodeName(try reader.optionalText())
        if !reader.isAtEnd { self.filter.holder = try reader.optionalText() }
    }
}

extension RecordWriter {
    fileprivate mutating func add(_ value: Int64?) {
        add(value != nil)
        if let value { add(value) }
    }

    fileprivate mutating func add(_ principal: Principal?) {
        add(principal.map { Int64($0.user) })
        if let principal { add(principal.name) }
    }

    /// All of it but the paused routes, which each page is told anew.
    fileprivate mutating func add(_ filter: JobFilter) {
        add(UInt64(filter.ids.count))
        for id in filter.ids { add(id.description) }
        add(filter.route)
        add(filter.states.reduce(UInt64(0)) { $0 | 1 << UInt64($1.rawValue) })
        add(filter.reason.map { Int64($0.rawValue) })
        add(filter.end?.rawValue)
        add(filter.failureKind?.rawValue)
        add(filter.failureStatus.map { Int64($0.rawValue) })
        add(filter.upstream)
        add(filter.label)
        add(filter.user.map(Int64.init))
        add(filter.createdFrom)
        add(filter.createdBefore)
        add(filter.version.map { Int64(bitPattern: $0) })
        add(filter.sparesUncertain)
        add(filter.sparesSuperseded)
    }
}

extension RecordReader {
    fileprivate mutating func integer() throws(Damage) -> Int { Int(clamping: try number()) }

    fileprivate mutating func optionalSigned() throws(Damage) -> Int64? {
        try flag() ? try signed() : nil
    }

    fileprivate mutating func principal() throws(Damage) -> Principal? {
        guard let user = try optionalSigned() else { return nil }
        return Principal(UInt32(truncatingIfNeeded: user), name: try optionalText())
    }

    fileprivate mutating func filter() throws(Damage) -> JobFilter {
        var filter = JobFilter()
        for _ in 0..<(try count()) {
            guard let id = JobID(text: try text()) else { throw Damage() }
            filter.ids.append(id)
        }
        filter.route = try optionalText()
        let states = try number()
        filter.states = Set(JobState.allCases.filter { states >> UInt64($0.rawValue) & 1 == 1 })
        if let reason = try optionalSigned() {
            guard let known = UInt8(exactly: reason).flatMap(WaitReason.init) else { throw Damage() }
            filter.reason = known
        }
        filter.end = try optionalText().map { EndReason(rawValue: $0) }
        filter.failureKind = try optionalText().map { FailureKind(rawValue: $0) }
        filter.failureStatus = try optionalSigned().map { Status(rawValue: UInt16(clamping: $0)) }
        filter.upstream = try optionalText()
        filter.label = try optionalText()
        filter.user = try optionalSigned().map { UInt32(truncatingIfNeeded: $0) }
        filter.createdFrom = try optionalSigned()
        filter.createdBefore = try optionalSigned()
        filter.version = try optionalSigned().map { UInt64(bitPattern: $0) }
        filter.sparesUncertain = try flag()
        filter.sparesSuperseded = try flag()
        return filter
    }
}

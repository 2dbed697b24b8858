package import RelayBase
package import RelayJobs

extension Attempt {
    private static let layout: UInt64 = 1

    /// `key` is the record's place; its number is the low part of that.
    package func sealed(at key: Int64) -> [UInt8] {
        var writer = RecordWriter()
        add(to: &writer)
        return writer.sealed(at: key)
    }

    package func add(to writer: inout RecordWriter) {
        writer.add(Self.layout)
        writer.add(upstream)
        writer.add(exchange?.address)
        writer.add(beganAt)
        writer.add(duration)
        writer.add(exchange?.nameLookup ?? .zero)
        writer.add(exchange?.connect ?? .zero)
        writer.add(exchange?.firstByte)
        writer.add(sent.rawValue)
        writer.add(UInt64(status?.rawValue ?? 0))
        writer.add(failure?.kind.rawValue)
        writer.add(failure?.detail)
        writer.add(rule)
        writer.add(next?.name)
        writer.add(next?.wait)
        writer.add(isSpent)
        writer.add(UInt64(heldBack.count))
        for held in heldBack {
            writer.add(held.rule)
            writer.add(held.reason.text)
        }
        // Behind the rest, so that records from before them are read as they are.
        let wasResent = exchange?.wasResent ?? false
        let words = [next?.target, failure?.apiCode, failure?.apiTitle]
        let isPastDeadline = failure?.isPastDeadline ?? false
        let blamed = failure?.blamed
        if wasResent || isPastDeadline || resentBy != nil || blamed != nil || lookUp != nil
            || words.contains(where: { $0 != nil })
        {
            writer.add(wasResent)
            for word in words { writer.add(word) }
            writer.add(isPastDeadline)
            if resentBy != nil || blamed != nil || lookUp != nil { writer.add(resentBy ?? "") }
            if blamed != nil || lookUp != nil { writer.add(blamed?.rawValue ?? "") }
            if let lookUp { writer.add(lookUp.rawValue) }
        }
    }

    package init(sealed bytes: [UInt8], at key: Int64) throws(RecordReader.Damage) {
        var reader = try RecordReader(sealed: bytes, at: key)
        try self.init(number: Int(key & AttemptKey.numbers), from: &reader)
    }

    /// Takes all that is left.
    package init(number: Int, from reader: inout RecordReader) throws(RecordReader.Damage) {
        guard try reader.number() == Self.layout else { throw RecordReader.Damage() }
        let upstream = try reader.text()
        var exchange = Exchange(address: try reader.optionalText())
        self.init(number: number, upstream: upstream, beganAt: try reader.signed())
        duration = try reader.optionalDuration() ?? .zero
        exchange.nameLookup = try reader.optionalDuration() ?? .zero
        exchange.connect = try reader.optionalDuration() ?? .zero
        exchange.firstByte = try reader.optionalDuration()
        guard let sent = Sent(rawValue: try reader.text()) else { throw RecordReader.Damage() }
        let code = try reader.number()
        status = code == 0 ? nil : Status(rawValue: UInt16(truncatingIfNeeded: code))
        let kind = try reader.optionalText().map(FailureKind.init(rawValue:))
        let detail = try reader.optionalText()
        failure = kind.map { Failure($0, sent: sent, detail ?? $0.rawValue, status: status) }
        rule = try reader.optionalText()
        let decision = try reader.optionalText()
        let wait = try reader.optionalDuration()
        // Whether it counts follows from its failure.
        _ = try reader.flag()
        for _ in 0..<(try reader.count()) {
            heldBack.append(HeldBack(rule: try reader.text(), reason: .recorded(try reader.text())))
        }
        if !reader.isAtEnd { exchange.wasResent = try reader.flag() }
        var target: String?
        if !reader.isAtEnd {
            target = try reader.optionalText()
            // Read also where there is no failure to put them into.
            let (code, title) = (try reader.optionalText(), try reader.optionalText())
            let isPastDeadline = try reader.flag()
            failure?.apiCode = code
            failure?.apiTitle = title
            failure?.isPastDeadline = isPastDeadline
        }
        if !reader.isAtEnd {
            let rule = try reader.text()
            resentBy = rule.isEmpty ? nil : rule
        }
        if !reader.isAtEnd {
            let cause = FailureCause(rawValue: try reader.text())
            failure?.blamed = cause
        }
        if !reader.isAtEnd { lookUp = LookUp(rawValue: try reader.text()) }
        next = decision.flatMap { Next(name: $0, wait: wait, target: target) }
        if exchange.isKnown { self.exchange = exchange }
        failure?.exchange = self.exchange
    }
}

extension Exchange {
    /// Whether a record says anything of it: an attempt that dialled nothing has none.
    fileprivate var isKnown: Bool {
        address != nil || nameLookup > .zero || connect > .zero || firstByte != nil || wasResent
    }
}

extension Attempt.Next {
    /// A `retry`'s, or that before a question.
    fileprivate var wait: Duration? {
        switch self {
        case .retry(let wait), .verify(let wait), .follow(let wait, _): wait
        default: nil
        }
    }

    /// The upstream or the stand-in that the action names.
    fileprivate var target: String? {
        switch self {
        case .failover(let upstream): upstream
        case .follow(_, let address): address
        case .respond(let source), .respondAndKeep(let source): source.rawValue
        case .retry, .refreshCredentials, .quickRecovery, .verify, .hedge, .fail, .deadLetter, .pauseRoute,
            .hold:
            nil
        }
    }

    /// Nil for what no action of this version is called.
    fileprivate init?(name: String, wait: Duration?, target: String?) {
        switch name {
        case "retry": self = .retry(after: wait ?? .zero)
        case "verify": self = .verify(after: wait ?? .zero)
        case "follow": self = .follow(after: wait ?? .zero, at: target)
        case "failover": self = .failover(to: target)
        case "respond", "respond_and_keep":
            guard let source = target.flatMap(StandIn.init(rawValue:)) else { return nil }
            self = name == "respond" ? .respond(source) : .respondAndKeep(source)
        default:
            let plain: [Attempt.Next] = [
                .refreshCredentials, .quickRecovery, .hedge, .fail, .deadLetter, .pauseRoute, .hold,
            ]
            guard let found = plain.first(where: { $0.name == name }) else { return nil }
            self = found
        }
    }
}

/// The key of an attempt's row: the job's position above, the attempt's number below.
package enum AttemptKey {
    package static let numbers: Int64 = 0xFFFF

    /// A job keeps its first 65,535 attempts; later ones take the place of the last.
    package static func make(_ position: Int64, _ number: Int) -> Int64 {
        position << 16 | min(Int64(number), numbers)
    }
}

extension StoredAnswer {
    private static let layout: UInt64 = 1

    /// Everything but a body that stands beside it.
    package func sealedHead(at position: Int64) -> [UInt8] {
        var writer = RecordWriter()
        addHead(to: &writer)
        return writer.sealed(at: position)
    }

    package func addHead(to writer: inout RecordWriter) {
        writer.add(Self.layout)
        writer.add(UInt64(status.rawValue))
        writer.add(source.rawValue)
        writer.add(fields)
        if case .file(let file) = body {
            writer.add(true)
            writer.add(file)
        } else {
            writer.add(false)
        }
    }

    package init(sealedHead bytes: [UInt8], body: [UInt8]?, at position: Int64) throws(RecordReader.Damage) {
        var reader = try RecordReader(sealed: bytes, at: position)
        try self.init(headFrom: &reader, body: body)
    }

    package init(headFrom reader: inout RecordReader, body: [UInt8]?) throws(RecordReader.Damage) {
        guard try reader.number() == Self.layout else { throw RecordReader.Damage() }
        let status = Status(rawValue: UInt16(truncatingIfNeeded: try reader.number()))
        guard let source = AnswerSource(rawValue: try reader.text()) else { throw RecordReader.Damage() }
        let fields = try reader.fields()
        let file = try reader.flag() ? try reader.bodyFile() : nil
        self.init(
            status: status,
            fields: fields,
            body: file.map { .file($0) } ?? body.map { .bytes($0) } ?? .expunged,
            source: source
        )
    }
}

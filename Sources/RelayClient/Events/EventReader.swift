import RelayBase

/// Reads events over one connection after the other.
struct EventReader {
    private let client: RelayClient
    /// The reader's own, so that it takes none of the client's.
    private let pool: ExchangePool
    private var last: String?
    private var answer: StreamedAnswer?
    private var lines = LineBuffer()
    /// The signs that were read and not taken, last first.
    private var ready: [Sign] = []
    private var allowance: ReconnectAllowance
    /// Whether there was a connection before.
    private var isAgain = false

    /// The relay says something every 15 seconds.
    private static let silence: Duration = .seconds(45)

    init(client: RelayClient, after last: String?) {
        self.client = client
        self.last = last
        pool = ExchangePool(limit: 1, life: client.life)
        allowance = ReconnectAllowance(client.clock)
    }

    enum Sign {
        /// A connection was made: what happened before it may be missing.
        case connected
        case notice(RelayEventNotice)
    }

    mutating func notice() async throws(RelayClientError) -> RelayEventNotice {
        while true {
            if case .notice(let notice) = try await next() { return notice }
        }
    }

    mutating func next() async throws(RelayClientError) -> Sign {
        while true {
            if let sign = ready.popLast() { return sign }
            do throws(RelayClientError) {
                if answer == nil { try await connect() } else { try await read() }
            } catch {
                answer = nil
                guard allowance.forgives(error) else { throw error }
                try await allowance.sleep()
            }
        }
    }

    private mutating func connect() async throws(RelayClientError) {
        var fields = HeaderFields()
        fields.append("Accept", "application/x-ndjson")
        if let last { fields.append("Last-Event-ID", last) }
        let request = try ClientRequest(method: .get, target: "/v1/events", fields: fields, body: [])
        let canceller = Canceller()
        let (path, timeout) = (client.socketPath, client.timeout)
        let answer = try await pool.run(canceller, .waiting) { () throws(RelayClientError) in
            let answer = try StreamedAnswer(
                request,
                socketPath: path,
                by: StreamedAnswer.deadline(timeout),
                canceller: canceller
            )
            guard answer.status == 200 else {
                let body = try answer.remainder(within: timeout, limit: 65_536)
                throw .refused(answer.status, answer.fields, body)
            }
            return answer
        }
        // Nobody knows after which event the old connection broke when none came over it.
        if isAgain, last == nil { ready.append(.notice(.gap(lost: nil))) }
        ready.append(.connected)
        isAgain = true
        lines = LineBuffer()
        self.answer = answer
        allowance.wasAnswered()
    }

    private mutating func read() async throws(RelayClientError) {
        guard let answer else { return }
        let piece = try await pool.run(answer.canceller, .waiting) { () throws(RelayClientError) in
            try answer.next(within: EventReader.silence)
        }
        guard let piece else { throw .lost("of its events") }
        var signs: [Sign] = []
        for line in try lines.take(piece) {
            let (notice, id) = try RelayEventNotice.read(line)
            if let id { last = id }
            if let notice { signs.append(.notice(notice)) }
        }
        ready = signs.reversed()
    }
}

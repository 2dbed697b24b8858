import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix
import RelayRoute

/// A line of a stream whose request is passed through: the stream takes its answer as a caller's connection would.
///
/// Before anything else than a plain answer happens it becomes the ordinary job that `Submission` makes of it.
@safe final class PassedLine {
    /// Bytes of a line that is read here: its request has room in the output, however it is written.
    private static let largest = 40_960

    let stream: LineStream
    private let connection: Connection
    private let server: LoopServer
    /// Its place among those of the stream that are under way.
    @safe @exclusivity(unchecked) var position = 0
    /// As it came.
    @safe @exclusivity(unchecked) private(set) var bytes: [UInt8] = []
    /// Its caller's name for it, as a place in `bytes`.
    @safe @exclusivity(unchecked) private(set) var id = 0..<0
    @safe @exclusivity(unchecked) private(set) var number = 0
    @safe @exclusivity(unchecked) private var route = 0..<0
    @safe @exclusivity(unchecked) private var fields = 0
    @safe @exclusivity(unchecked) private(set) var exchange: UnsafeMutablePointer<PassThroughExchange>?
    /// The sender that carries it as long as it is not answered.
    @safe @exclusivity(unchecked) private var sender: (any PassThroughSender)?
    /// The ordinary job that it has become.
    private var job: AdmittedJob?
    private var run: RequestRun?
    private var task: Task<Void, Never>?

    init(_ stream: LineStream) {
        self.stream = stream
        connection = stream.connection
        server = stream.connection.server
    }

    /// Sends the line's request on at once.
    ///
    /// - Returns: false, having done nothing, where it is not plain, or something would have to be waited for.
    func begin(_ line: [UInt8]) -> Bool {
        let passThrough = server.passThrough
        connection.ordinaryReason = .shape
        guard passThrough.isOn, line.count <= Self.largest else { return false }
        if connection.skipsPassThrough > 0 {
            connection.skipsPassThrough -= 1
            connection.ordinaryReason = .fields
            return false
        }
        guard passThrough.line.read(line.span) else { return false }
        bytes = line
        (id, route, fields) = (passThrough.line.id, passThrough.line.route, passThrough.line.fields)
        let request = unsafe passThrough.line.request.bytes
        guard let first = unsafe request.baseAddress?.assumingMemoryBound(to: UInt8.self),
            unsafe passThrough.begin(self, on: connection, first, request.count)
        else {
            bytes = []
            return false
        }
        return true
    }

    /// It is over, and another may take its place.
    private func clear() {
        (exchange, sender, job, run, task) = (nil, nil, nil, nil, nil)
        bytes = []
    }
}

extension PassedLine: PassThroughCaller {
    var keepsContent: Bool { true }
    /// The stream's own fields were looked at.
    var mayBeBrowser: Bool { false }
    /// An outcome holds its answer's content.
    var pieces: (any PieceReceiver)? { nil }

    func hasMemory(for bytes: Int) -> Bool { bytes <= MemoryAccount.free }

    /// A slash in the name of a route or a blank in a path would make another request of it.
    func means(_ line: PassThroughLine) -> Bool { line.route == route && line.fields == fields }

    func begunPassing(_ exchange: UnsafeMutablePointer<PassThroughExchange>, _ sender: any PassThroughSender)
    {
        unsafe self.exchange = exchange
        self.sender = sender
        number = stream.begunPassing()
    }

    /// A relay that stops still tells how what was sent has ended.
    var takesPlainAnswer: Bool { connection.phase == .busy }

    func answered(_ answer: PassThroughAnswer, by sender: any PassThroughSender) -> Bool {
        guard let exchange else { return false }
        self.sender = nil
        let passThrough = server.passThrough
        _ = unsafe passThrough.end(exchange, answer, sender, connection.client)
        let isNext = stream.isNext(number)
        let outcome = unsafe passThrough.outcome(exchange, answer, self, isKept: !isNext)
        #if DEBUG
        if passThrough.mode == .check { unsafe checkOutcome(exchange, answer, outcome, sender) }
        #endif
        unsafe passThrough.over(exchange, connection.share)
        let number = number
        clear()
        stream.answered(self, number, outcome)
        return false
    }

    func promotePassing() { sender?.promote(.caller) }

    /// Nobody wants its outcome any more.
    func cancel() {
        if let task { task.cancel() } else { run?.cancel() }
    }
}

// The ordinary job that is made of one that was sent.
extension PassedLine: AnswerReceiver {
    func promoted(
        _ sending: any RelayRoute.Sending,
        _ reason: PromotionReason
    ) -> (OutboundRequest, any AnswerReceiver)? {
        guard let exchange else { return nil }
        let (passThrough, entry) = unsafe (server.passThrough, exchange.pointee.entry.route.entry)
        entry.memory.meter.promoted(reason, shard: server.relay.ports.shard)
        sender = nil
        self.exchange = nil
        guard let (job, adopted) = unsafe rebuilt(exchange, unsafe exchange.pointee.grant, sending) else {
            unsafe passThrough.broke(exchange, connection)
            let id = id.isEmpty ? nil : String(decoding: bytes[id], as: UTF8.self)
            finish(StreamOutcome.refused(PassThrough.broken, line: number, id: id))
            return nil
        }
        self.job = job
        adopted.execution.ticket = stream.ticket(of: number)
        run = unsafe passThrough.handOver(exchange, adopted, reason)
        bytes = []
        return (adopted.outbound, self)
    }

    /// The job that the ordinary path would have made of the line by now; nil where it would have refused it.
    func rebuilt(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ grant: AttemptGrant?,
        _ sending: any RelayRoute.Sending
    ) -> (job: AdmittedJob, adopted: PassThrough.Adopted)? {
        let line = StreamedJob(bytes)
        guard let submission = try? line.submission.get(), let terms = try? submission.terms() else {
            return nil
        }
        let wish = PassThrough.Wish(
            method: submission.method,
            target: submission.target,
            terms: terms,
            body: submission.content
        )
        let adopted = unsafe server.passThrough.adopted(exchange, wish, connection, grant, sending)
        return adopted.map { adopted in
            (
                AdmittedJob(line: number, id: line.id, admission: adopted.admission, body: adopted.body),
                adopted
            )
        }
    }

    func received(_ result: PromptResult) {
        guard let run else { return }
        switch run.tell(result, self) {
        case .sent: break
        case .waits: spawn(run)
        case .ended: finish(run.end(), of: run)
        }
    }

    private func spawn(_ run: RequestRun) {
        let bound = LoopBound((self, run), connection.loop)
        task = connection.loop.spawn {
            let (line, run) = bound.value
            line.finish(await run.finish(), of: run)
        }
        if connection.phase == .closed { task?.cancel() }
    }

    private func finish(_ outcome: Outcome, of run: RequestRun) {
        run.letGo()
        guard let job else { return }
        finish(connection.phase == .busy ? StreamOutcome.ended(outcome, job) : nil)
    }

    private func finish(_ document: AnswerDocument?) {
        let number = number
        clear()
        stream.ended(self, number, document)
    }
}

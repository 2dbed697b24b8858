import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayPosix

/// Jobs in, outcomes out, on one connection: each line runs as a task of its own, and no failure ends the stream.
///
/// Nothing is read while so many jobs are without an outcome as may be, or while the caller leaves outcomes in the
/// socket: memory is bounded by the jobs under way, their answers, one line and one piece. An answer keeps its room until
/// its last piece is with the socket.
///
/// Confined to the loop.
final class LineStream {
    unowned let connection: Connection
    /// How the outcomes are delimited; HTTP/1.0 knows no chunks.
    let framing: AnswerWriter.Framing
    private let lineLimit: Int
    var splitter: LineSplitter
    var order: JobOrderMachine<AnswerDocument?>
    let answerOrder: AnswerOrder
    /// Lines that are passed through, and what others were, for the next.
    var underWay: [PassedLine] = []
    var resting: [PassedLine] = []
    /// Somebody sends outcomes, and those that come meanwhile.
    private(set) var isWriting = false
    /// Why no more lines are read, although the body is not over: what the first line that is not read is told.
    var ending: Problem?
    /// The body has ended as it should.
    var isRead = false
    /// The reader waits for bytes.
    var isWaiting = false
    var isDraining = false
    /// Whether the body was read from since `ending` was set.
    var hasLooked = false
    /// A broken body's complete lines come before the break.
    var breakBehind: Problem?
    /// Steps of the reader since it let others have their turn.
    var steps = 0
    /// Resumed when an outcome went out.
    var capacityFreed: CheckedContinuation<Void, Never>?
    lazy var timer = LoopTimer { [weak self] in self?.timeIsUp() }

    init(_ head: RequestHead, on connection: Connection, lineLimit: Int) throws(Problem) {
        let options = try StreamOptions(head)
        framing = head.minorVersion == 1 ? .chunked : .untilClose
        self.connection = connection
        self.lineLimit = lineLimit
        splitter = LineSplitter(limit: lineLimit)
        order = JobOrderMachine(limit: options.maxInFlight, order: options.order)
        answerOrder = AnswerOrder(order: options.order)
    }

    /// Serves the whole stream; returns when every line has its outcome, or the caller is gone.
    func serve() async {
        sendHead()
        let stream = LoopBound(self, connection.loop)
        await withDiscardingTaskGroup { jobs in
            // Jobs that came together go on disk together.
            var together: [AdmittedJob] = []
            while true {
                let reading = await nextLine(waits: together.isEmpty)
                if case .line(let line) = reading, !pass(line), let job = await admit(line) {
                    if job.admission.isDurable {
                        together.append(job)
                    } else {
                        connection.countOrdinary(job.admission)
                        jobs.addTask { await stream.value.run(job) }
                    }
                }
                let lines = together.first.map { order.begun - $0.line + 1 } ?? 0
                // One that fills the stream with other lines must not keep its own jobs from the disk.
                if case .line = reading, lines < StreamOptions.mostInFlight { continue }
                if !together.isEmpty { jobs.addTask { [together] in await stream.value.keep(together) } }
                together = []
                if case .end = reading { break }
            }
        }
        await passedLines()
        connection.loop.cancel(timer)
        if let ending, !isRead {
            // Without its last chunk the answer shows as cut short.
            connection.keepsAlive = false
            let line = order.begun + 1
            await connection.send(StreamOutcome.refused(ending, line: line, id: nil), framing)
        } else if framing == .chunked {
            connection.sendLastChunk()
        }
        _ = await connection.drainOutput()
    }

    private func sendHead() {
        if framing == .untilClose || connection.server.isDraining { connection.keepsAlive = false }
        connection.put(Answer(200, .empty, type: "application/x-ndjson"), framing, hasBody: false)
    }

    /// Makes a job of a line; a line that cannot be one has its outcome at once.
    private func admit(_ line: LineSplitter.Line) async -> AdmittedJob? {
        // Lines are counted from 1.
        let number = order.began().index + 1
        var id: String?
        do throws(Problem) {
            guard case .line(let bytes) = line else {
                throw Problem(
                    .contentTooLarge,
                    "the line is longer than \(lineLimit) bytes (1 MiB, or limits.max_request_body when that is less)"
                )
            }
            let job = StreamedJob(bytes)
            id = job.id
            let submission = try job.submission.get()
            let admission = try connection.server.engine.admit(
                submission,
                fields: submission.fields,
                client: connection.client,
                share: connection.share
            )
            return AdmittedJob(line: number, id: id, admission: admission, body: submission.content)
        } catch {
            connection.server.problems.count(error)
            await report(StreamOutcome.refused(error, line: number, id: id), of: number)
            return nil
        }
    }

    private func run(_ job: AdmittedJob) async {
        let server = connection.server
        let outcome = await server.engine.run(
            job.admission,
            body: job.body,
            relay: server.relay,
            ticket: ticket(of: job.line),
            keeper: StandInKeeper.made(
                job.admission,
                server.durable,
                server.relay.ports,
                countsBytes: false
            )
        )
        await report(connection.phase == .busy ? StreamOutcome.ended(outcome, job) : nil, of: job.line)
    }

    /// The outcome of a line that is kept on disk is that it is.
    private func keep(_ jobs: [AdmittedJob]) async {
        let intake = connection.server.intake(countsBytes: false)
        let outcomes: [Result<Acceptance.Accepted, Problem>]
        if jobs.count == 1, let job = jobs.first {
            outcomes = [
                await Result(of: { () async throws(Problem) in
                    try await intake.keep(job.admission, job.content)
                })
            ]
        } else {
            outcomes = await intake.keep(
                jobs.map { .success(KeptJob($0.admission, $0.content)) }
            )
        }
        for (job, outcome) in zip(jobs, outcomes) {
            connection.server.problems.count(outcome)
            await report(StreamOutcome.kept(outcome, line: job.line, id: job.id), of: job.line)
        }
    }

    private func report(_ outcome: AnswerDocument?, of line: Int) async {
        order.ended(outcome, at: line - 1)
        await write()
        if order.isIdle, isWaiting { startIdleTime() }
    }

    /// Sends what may go out, one after the other, as fast as the caller takes it; whoever comes meanwhile leaves it to
    /// who does so already.
    func write() async {
        guard !isWriting else { return }
        isWriting = true
        while true {
            if connection.phase == .busy, !connection.unsent.isEmpty { _ = await connection.drainOutput() }
            guard let (index, outcome) = order.take() else { break }
            if let outcome, connection.phase == .busy { await connection.send(outcome, framing) }
            answerOrder.left(index)
            capacityFreed.take()?.resume()
        }
        isWriting = false
        capacityFreed.take()?.resume()
    }
}

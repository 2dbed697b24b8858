import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix
import RelayRoute

/// The rest of an answer whose head is out.
struct Streaming {
    let source: any BodySource
    /// The same, where it can be had without a task.
    var prompt: (any PromptBody)?
    let framing: AnswerWriter.Framing
    let endsAtDrain: Bool
}

extension Connection {
    var mayKeepAlive: Bool {
        keepsAlive && !server.isDraining && request?.decoder.isComplete ?? true
    }

    /// Writes an answer as far as that needs no waiting.
    ///
    /// - Returns: a body that has to be streamed behind the head.
    func write(_ answer: Answer, isHead: Bool) -> Streaming? {
        guard phase == .busy else {
            if case .stream(let body) = answer.body { body.cancel() }
            return nil
        }
        let framing = framing(answer, isHead: isHead)
        let hasBody = !isHead && framing != .none
        if hasBody && framing == .untilClose || !mayKeepAlive { keepsAlive = false }
        var prompt: (any PromptBody)?
        if case .stream(let body) = answer.body { prompt = body as? any PromptBody }
        let taken = put(answer, framing, hasBody: hasBody, prompt)
        let source: any BodySource
        switch answer.body {
        case .empty: return nil
        case .bytes(let bytes):
            guard hasBody, taken < bytes.count else { return nil }
            source = ChunkedBytes(bytes, from: taken)
        case .stream(let body): source = body
        }
        guard hasBody else {
            source.cancel()
            return nil
        }
        return Streaming(source: source, prompt: prompt, framing: framing, endsAtDrain: answer.endsAtDrain)
    }

    /// Bodies up to so many bytes are copied behind the head, so that one plain write sends both.
    static let copiedBody = 16_384

    /// The head, and with it the body that is at hand; of a `prompt` one what has come of it.
    ///
    /// - Returns: how many bytes of the body are out, or kept for that; of one that is not large, all of them.
    @discardableResult
    func put(
        _ answer: Answer,
        _ framing: AnswerWriter.Framing,
        hasBody: Bool,
        _ prompt: (any PromptBody)? = nil
    ) -> Int {
        listener.cells.count(answer.status)
        let writer = AnswerWriter(server: server, keepsAlive: keepsAlive)
        return server.output.compose { output in
            writer.append(answer.head, framing, to: &output)
            guard hasBody, case .bytes(let bytes) = answer.body else {
                if hasBody, framing != .chunked, let prompt {
                    output.withSpan { sendArrived($0, prompt) }
                } else {
                    output.withSpan { send($0) }
                }
                return 0
            }
            if bytes.count > Self.copiedBody { return output.withSpan { send($0, lent: bytes.span) } }
            output.append(bytes)
            output.withSpan { send($0) }
            return bytes.count
        }
    }

    /// Writes that a job is kept, as `write` would its answer, from where it is composed.
    func write(_ kept: AcceptedAnswer, _ admission: Admission, isHead: Bool) {
        guard phase == .busy else { return }
        if !mayKeepAlive { keepsAlive = false }
        let own = kept.own
        listener.cells.count(own.status)
        let writer = AnswerWriter(server: server, keepsAlive: keepsAlive)
        server.output.compose { output in
            // Its length stands in the head, so that the head is composed behind it, and sent before it.
            kept.append(admission, to: &output)
            let length = output.count
            writer.append(own, .length(UInt64(length)), to: &output)
            output.withSpan { bytes in
                let head = bytes.extracting(length...)
                if isHead { send(head) } else { _ = send(head, lent: bytes.extracting(..<length)) }
            }
        }
    }

    private func sendArrived(_ head: Span<UInt8>, _ body: any PromptBody) {
        var isOut = false
        body.lendArrived { arrived in
            isOut = true
            return send(head, lent: arrived)
        }
        if !isOut { send(head) }
    }

    /// The relay's own answer to HEAD tells the length that a GET would bring; an upstream's says so itself.
    func framing(_ answer: Answer, isHead: Bool) -> AnswerWriter.Framing {
        if answer.status.forbidsContent { return .none }
        if isHead, case .passed = answer.head { return .none }
        switch answer.body {
        case .empty: return .length(0)
        case .bytes(let bytes): return .length(UInt64(bytes.count))
        case .stream(let source):
            if let length = source.length { return .length(length) }
            return request?.head.minorVersion ?? 1 == 1 ? .chunked : .untilClose
        }
    }

    /// Recovery ended with the first byte: a break from here on shows as an answer cut short.
    func stream(_ streaming: Streaming) async {
        yieldsAtDrain = streaming.endsAtDrain
        defer { yieldsAtDrain = false }
        let isPassed = await withCheckedContinuation { waiter in
            if !passPieces(of: streaming, waiter: waiter) { waiter.resume(returning: false) }
        }
        if isPassed { return }
        let events = streaming.source as? HeldBody
        if events != nil { request?.streaming = streaming }
        var rest: UInt64? = if case .length(let length) = streaming.framing { length } else { nil }
        do throws(Failure) {
            while await drainOutput() {
                guard let piece = try await streaming.source.next() else {
                    answerEnded(.whole)
                    if streaming.framing == .chunked { sendLastChunk() }
                    return
                }
                rest = rest.map { $0 - min($0, UInt64(piece.count)) }
                // Before its caller has all of it, so that whoever asks then is told.
                if rest == 0 { answerEnded(.whole) }
                send(piece, streaming.framing)
                events?.sent(piece.count)
            }
            streaming.source.cancel()
        } catch {
            if phase != .closed { answerEnded(error.kind == .cancelled ? .unwanted : .broke(error)) }
            if error.kind == .cancelled { tellCut(error) }
            if error.kind == .cancelled || !tellBreak(error, in: streaming) { abort() }
        }
    }

    /// Sends a document piece by piece, each when the socket has taken what came before it.
    func send(_ document: AnswerDocument, _ framing: AnswerWriter.Framing) async {
        var document = document
        while let piece = document.next() {
            guard await drainOutput() else { return }
            send(piece, framing)
        }
    }

    func send(_ piece: [UInt8], _ framing: AnswerWriter.Framing) {
        // An empty chunk would be the last one.
        guard framing == .chunked, !piece.isEmpty else { return send(piece.span) }
        server.output.compose { output in
            HeadWriter.appendChunkHeader(piece.count, to: &output)
            output.append(piece)
            HeadWriter.appendLineEnd(to: &output)
            output.withSpan { send($0) }
        }
    }

    func sendLastChunk() {
        server.output.compose { output in
            HeadWriter.appendLastChunk(to: &output)
            output.withSpan { send($0) }
        }
    }
}

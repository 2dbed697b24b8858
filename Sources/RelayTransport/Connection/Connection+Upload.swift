import RelayBase
import RelayHTTP
import RelayPosix

extension Connection {
    /// Sends a body piece by piece from a task of its own, so that the answer can come, time can run out and
    /// the caller can be cancelled while a piece is being waited for.
    func startUpload(_ source: any BodySource) {
        upload = source
        let box = LoopBound(self, loop)
        let serial = serial
        loop.spawn { await box.value.send(source, serial) }
    }

    /// Gives up the rest of the body, wherever its task is.
    func stopUpload() {
        guard let source = upload else { return }
        upload = nil
        source.cancel()
        resumeUpload()
    }

    /// Lets the uploading task go on: there is room, or nothing more to send.
    func resumeUpload() {
        guard let waiter = unsafe uploadWaiter else { return }
        unsafe uploadWaiter = nil
        unsafe waiter.resume()
    }

    private func isUploading(_ serial: UInt64) -> Bool {
        self.serial == serial && upload != nil && (phase == .exchanging || phase == .reading)
    }

    private func send(_ source: any BodySource, _ serial: UInt64) async {
        var rest = source.length
        while isUploading(serial) {
            if !output.isEmpty {
                unsafe await withUnsafeContinuation { unsafe uploadWaiter = $0 }
                continue
            }
            let piece: [UInt8]?
            do throws(Failure) {
                piece = try await source.next()
            } catch {
                // After a pause anything may have happened to the request.
                if isUploading(serial) { sourceFailed(error) }
                return
            }
            guard isUploading(serial) else { return }
            let wait = loop.now &- lastProgress
            lastProgress = loop.now
            if let piece, transfer?.isSourceTooSlow(piece.count, after: wait) ?? false {
                return stalled("came at \(paceText)")
            }
            guard let piece else { return endUpload(rest) }
            guard rest.map({ UInt64(piece.count) <= $0 }) ?? true else { return lengthIsWrong("longer") }
            rest = rest.map { $0 - UInt64(piece.count) }
            send(piece, chunked: rest == nil)
            arm()
        }
    }

    private func send(_ piece: consuming [UInt8], chunked: Bool) {
        guard !piece.isEmpty else { return }
        guard chunked else { return transmit([UInt8]().span, piece) }
        pool.output.compose { output in
            HeadWriter.appendChunkHeader(piece.count, to: &output)
            // The piece is ours alone, so the line end grows it instead of copying it.
            piece.append(contentsOf: [0x0D, 0x0A])
            output.withSpan { transmit($0, piece) }
        }
    }

    private func endUpload(_ rest: UInt64?) {
        guard rest ?? 0 == 0 else { return lengthIsWrong("shorter") }
        upload = nil
        if rest == nil {
            pool.output.compose { output in
                HeadWriter.appendLastChunk(to: &output)
                output.withSpan { transmit($0, []) }
            }
        }
        if output.isEmpty { contentIsOut() }
        if phase == .exchanging { arm() }
    }

    /// The request's content does not come as it has to.
    func stalled(_ how: String) {
        stopUpload()
        fail(.httpRequestError, "the request body \(how)")
    }

    private func sourceFailed(_ failure: Failure) {
        upload = nil
        var failure = failure
        failure.sent = hasWritten ? .unknown : .neverSent
        failure.exchange = exchange()
        fail(failure)
    }

    private func lengthIsWrong(_ comparison: String) {
        fail(.preparation, "the request body is \(comparison) than its announced length")
    }
}

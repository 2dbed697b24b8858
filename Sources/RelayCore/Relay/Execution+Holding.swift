import RelayBase
import RelayRoute

// The head of a streamed answer waits until something of the content is there: a failure before that is one of the
// attempt, of which its caller knows nothing.
extension Execution {
    @inline(never)
    func hold(_ content: any BodySource, _ inbound: InboundResponse) async {
        let fields = inbound.response.fields
        let held = HeldBody(content, ContentScanner.Kind(fields))
        guard let commit = context.route.policy.response.stream?.commit else {
            return machine.collected(.stream(held), moment)
        }
        let meter = context.memory.meter
        let wanted = min(commit.bytes, content.length.map { Int(clamping: $0) } ?? .max)
        guard reserveAtOnce(wanted) else {
            meter.released(.memory)
            return machine.collected(.stream(held), moment)
        }
        content.bound(by: deadline)
        do throws(Failure) {
            let end = commit.time.map { ports.time.now().advanced(by: $0) }
            let release = try await held.hold(commit, until: end, ports.time)
            count(held.held, of: wanted)
            if release == .whole {
                if commit.events > 0, held.hasNoEvent, isEndedByClose(content, fields) {
                    throw Execution.eventless
                }
                meter.released(.whole)
                return machine.collected(.bytes(held.takeBeginning()), moment)
            }
            meter.released(release)
            // Like any other stream it may take as long as it goes on.
            content.bound(by: .distantFuture)
            if max(wanted, held.held) > MemoryAccount.free { held.keep(reservation.take()) }
            machine.collected(.stream(held), moment)
        } catch {
            if error.kind != .cancelled { meter.released(.failed) }
            var failure = error
            failure.detail += "; its head was held until then (response.stream.commit_after)"
            machine.collectingFailed(failure, moment)
        }
    }

    /// Whether nothing but the end of the connection has told that all is there.
    private func isEndedByClose(_ content: any BodySource, _ fields: HeaderFields) -> Bool {
        content.length == nil && !fields.contains(.transferEncoding)
    }

    private static let eventless = Failure(
        .httpResponseIncomplete,
        sent: .unknown,
        "the connection was closed before the first event of an answer of which nothing else tells the end"
    )
}

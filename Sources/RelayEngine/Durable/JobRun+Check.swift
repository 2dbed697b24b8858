#if DEBUG
import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import Synchronization

// Mode `check`: what was made in passing is made by the ordinary classes, too, and compared. Messages hold credentials
// and content, so a difference is told by its member alone.
extension JobRun {
    package func rebuilt() -> OutboundRequest? {
        guard let passed = passed.withLock({ $0 }) else { return nil }
        return try? adopted(passed, nil, NothingSent()).1
    }

    func check(
        _ passed: Passed,
        _ delivery: Delivery,
        _ answer: PassThroughAnswer,
        by sender: any PassThroughSender
    ) {
        let route = passed.context.route
        let bytes = unsafe Span(_unsafeStart: answer.base, count: answer.body.upperBound)
        guard let (execution, request) = try? adopted(passed, nil, NothingSent()),
            let inbound = sender.inbound(bytes, to: request, answer),
            execution.ends(with: inbound),
            let wanted = execution.delivery.settlementNow(of: claim, on: route, stop),
            let told = delivery.settlementNow(of: claim, on: route, stop)
        else { fatalError("pass-through took a delivery that the ordinary path does not end with") }
        if let member = told.difference(from: wanted) {
            fatalError("pass-through made another \(member) of a delivery than the ordinary path")
        }
    }
}

/// Nothing is sent by it.
private struct NothingSent: Sending {
    func cancel() {}
}

extension Settlement {
    /// The first member that differs, times aside.
    fileprivate func difference(from other: Settlement) -> String? {
        if ending != other.ending { return "ending" }
        if isUncertain != other.isUncertain || failureKind != other.failureKind { return "failure" }
        if dropsBody != other.dropsBody { return "dropsBody" }
        if attempts.map(\.facts) != other.attempts.map(\.facts) { return "attempt" }
        if answer?.status != other.answer?.status { return "status" }
        if answer?.source != other.answer?.source { return "source" }
        if answer?.fields.lines != other.answer?.fields.lines { return "field" }
        return answer?.body.bytes == other.answer?.body.bytes ? nil : "content"
    }
}

extension Attempt {
    fileprivate var facts: [String] {
        [
            "\(number)", upstream, "\(beganAt)", "\(String(describing: status))", "\(failure == nil)",
            exchange?.address ?? "", "\(exchange?.wasReused == true)", "\(exchange?.missedPins == true)",
            "\(String(describing: exchange?.firstByte))", rule ?? "", next?.name ?? "",
        ]
    }
}

extension HeaderFields {
    fileprivate var lines: [[UInt8]] {
        entries.map { entry in
            let (name, value) = (Int(entry.nameStart), Int(entry.valueStart))
            return Array(storage[name..<name + Int(entry.nameCount)]) + [0x3A]
                + Array(storage[value..<value + Int(entry.valueCount)])
        }
    }
}

extension StoredBody {
    fileprivate var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
}
#endif

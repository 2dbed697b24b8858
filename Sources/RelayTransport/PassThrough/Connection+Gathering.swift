import RelayBase
import RelayHTTP
import RelayRoute

// An answer that has to be there as a whole before it may be passed on, and comes in pieces.
extension Connection {
    /// Bytes of such an answer that are waited for; a larger one makes the request an ordinary one.
    private static let most = 81_920

    /// Keeps what has come of it, where there is room for all of it.
    ///
    /// - Returns: false where it is not waited for.
    func gather(_ answer: PassThroughAnswer, _ bytes: UnsafeRawBufferPointer, _ passing: Passing) -> Bool {
        let total = answer.body.lowerBound + answer.length
        guard !answer.isChunked, bytes.count < total, total <= Self.most,
            passing.policy.collects(answer.status, length: answer.length),
            passing.receiver.hasMemory(for: total)
        else { return false }
        headAt = lastProgress
        // From here on it is a matter of pace, as of any content.
        deadline = .max
        transfer = Transfer(passing.policy.floor)
        awaited = total
        headBytes.reserveCapacity(total)
        unsafe headBytes.append(contentsOf: bytes)
        return true
    }

    /// Adds what has come now.
    ///
    /// - Returns: all of it once it is there.
    func gather(more bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        unsafe headBytes.append(contentsOf: bytes)
        if passing != nil, headBytes.count < awaited { return nil }
        return takeGathered()
    }

    func takeGathered() -> [UInt8] {
        var gathered: [UInt8] = []
        swap(&gathered, &headBytes)
        return gathered
    }
}

import Glibc
import RelayBase
import RelayPosix

/// The result of reading from an upstream.
enum WireRead {
    case bytes(Int)
    case end
    case wouldBlock
    case failed(WireFault)
}

/// The result of writing to an upstream.
enum WireWritten {
    /// How many bytes were taken; with TLS, how many were sealed into records.
    case bytes(Int)
    case wouldBlock
    case failed(WireFault)
}

/// Why bytes stopped flowing, in the vocabulary of failures; the detail is safe to show.
struct WireFault {
    var kind: FailureKind
    var detail: String
}

extension WireFault {
    init(_ errno: Errno) {
        self.init(kind: .connectionTerminated, detail: "the connection broke: \(errno)")
    }

    /// Why a socket could not be connected (connect(2), unix(7)).
    init(connecting errno: Errno) {
        let kind: FailureKind =
            switch errno.rawValue {
            case ECONNREFUSED: .connectionRefused
            case ETIMEDOUT: .connectionTimeout
            case ECONNRESET, ECONNABORTED, EPIPE: .connectionTerminated
            case _ where errno.isExhaustion: .connectionLimitReached
            default: .destinationUnavailable
            }
        self.init(kind: kind, detail: errno.description)
    }
}

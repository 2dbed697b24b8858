/// Why an attempt or a job failed; the one vocabulary of configuration, `Proxy-Status`, journal and CLI.
///
/// Names are those of RFC 9209 §2.3 where one exists. A route's rules may add kinds of their own.
public struct FailureKind: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The kind as configuration, journal and messages write it: lower case, words joined by `_`.
    public let rawValue: String
    /// One bit for each ``FailureGroup`` that the kind belongs to.
    private let groups: UInt8

    /// A kind by its name; one that the relay does not know is a program's own.
    public init(rawValue: String) {
        self.rawValue = rawValue
        groups = FailureKind.known.first { $0.rawValue == rawValue }?.groups ?? 0
    }
    /// A kind by its name as it is written in the source.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// A kind that the relay itself reports.
    package init(_ own: Own) {
        rawValue = own.rawValue.name
        groups = own.rawValue.note.split(separator: " ").reduce(0) { bits, name in
            guard let group = FailureGroup(rawValue: String(name)) else {
                preconditionFailure("\(name) is no group of failure kinds")
            }
            return bits | group.bit
        }
    }

    /// Whether both have one name.
    public static func == (one: FailureKind, other: FailureKind) -> Bool { one.rawValue == other.rawValue }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    fileprivate func belongs(to group: FailureGroup) -> Bool { groups & group.bit != 0 }

    /// The name look-up took too long.
    public static let dnsTimeout = FailureKind(.dnsTimeout)
    /// The name does not exist, or the name servers failed.
    public static let dnsError = FailureKind(.dnsError)
    /// No address of the destination could be reached.
    public static let destinationUnavailable = FailureKind(.destinationUnavailable)
    /// The destination's addresses may not be dialled: they are not public, and the upstream does not allow
    /// them.
    public static let destinationIPProhibited = FailureKind(.destinationIPProhibited)
    /// The destination refused the connection.
    public static let connectionRefused = FailureKind(.connectionRefused)
    /// The connection ended before the answer began.
    public static let connectionTerminated = FailureKind(.connectionTerminated)
    /// Connecting, with its name look-up and TLS handshake, took longer than ``Timeouts/connect``.
    public static let connectionTimeout = FailureKind(.connectionTimeout)
    /// The upstream sent nothing for longer than ``Timeouts/idle``.
    public static let connectionReadTimeout = FailureKind(.connectionReadTimeout)
    /// The upstream took nothing for longer than ``Timeouts/idle``.
    public static let connectionWriteTimeout = FailureKind(.connectionWriteTimeout)
    /// There is no room for another connection.
    public static let connectionLimitReached = FailureKind(.connectionLimitReached)
    /// The TLS handshake failed.
    public static let tlsProtocolError = FailureKind(.tlsProtocolError)
    /// The upstream's certificate is not trusted, or its chain holds none of the pinned keys.
    public static let tlsCertificateError = FailureKind(.tlsCertificateError)
    /// The upstream ended the TLS handshake with an alert.
    public static let tlsAlertReceived = FailureKind(.tlsAlertReceived)
    /// The answer ended before it was complete.
    public static let httpResponseIncomplete = FailureKind(.httpResponseIncomplete)
    /// The answer was not there in the time of the attempt, ``Timeouts/attempt``.
    public static let httpResponseTimeout = FailureKind(.httpResponseTimeout)
    /// The answer is not HTTP, or its status is outside 200–599.
    public static let httpProtocolError = FailureKind(.httpProtocolError)
    /// The answer's content is larger than ``ResponseLimits/body``.
    public static let httpResponseBodySize = FailureKind(.httpResponseBodySize)
    /// The answer's head is larger than ``ResponseLimits/head``, or has more fields than
    /// ``ResponseLimits/fieldCount``.
    public static let httpResponseHeaderSectionSize = FailureKind(.httpResponseHeaderSectionSize)
    /// The answer's content could not be decoded, or grew more than ``ResponseLimits/expansion`` allows.
    public static let httpResponseContentCoding = FailureKind(.httpResponseContentCoding)

    /// The answer's status is none that counts as a success.
    public static let httpStatus = FailureKind(.httpStatus)
    /// The answer is an error document of the upstream, whatever its status.
    public static let apiError = FailureKind(.apiError)
    /// The answer's status counts as a success, and its content did not pass validation.
    public static let invalidResponse = FailureKind(.invalidResponse)
    /// The answer could not be turned into the request's value.
    public static let decoding = FailureKind(.decoding)
    /// The answer counts as a success and is empty where a value is wanted.
    public static let emptyResponse = FailureKind(.emptyResponse)
    /// A step of preparation failed; the attempt was not sent, and no rule is asked.
    public static let preparation = FailureKind(.preparation)
    /// The program has too much to do to take the request.
    public static let overloaded = FailureKind(.overloaded)
    /// The upstream's circuit breaker is open for requests like this one.
    public static let breakerOpen = FailureKind(.breakerOpen)
    /// The upstream has asked for patience, or the route's own limit is reached, for longer than the job can wait.
    public static let rateLimited = FailureKind(.rateLimited)
    /// The network is constrained, and the request or its route sends nothing then.
    public static let networkConstrained = FailureKind(.networkConstrained)
    /// The route is closed at this time, as planned.
    public static let routeClosed = FailureKind(.routeClosed)
    /// The operation that the upstream had begun for the request has failed.
    public static let operationFailed = FailureKind(.operationFailed)
    /// The upstream had begun an operation for the request, and how that ends cannot be learnt.
    public static let operationLost = FailureKind(.operationLost)
    /// The address of an operation of the upstream, or of its result, is none that the route may ask.
    public static let followRefused = FailureKind(.followRefused)
    /// A credential could not be fetched.
    public static let credentialsFailed = FailureKind(.credentialsFailed)
    /// The job's time was up.
    public static let deadlineExceeded = FailureKind(.deadlineExceeded)
    /// The task that waited was cancelled; offered to no rule.
    public static let cancelled = FailureKind(.cancelled)
    /// The daemon's caller hung up; offered to no rule.
    public static let clientGone = FailureKind(.clientGone)
    /// The request's own content did not come in time, was too large or malformed; offered to no rule.
    public static let httpRequestError = FailureKind(.httpRequestError)
    /// The daemon ended without warning while the attempt of a kept job was under way; offered to no rule.
    public static let interrupted = FailureKind(.interrupted)

    // Failures of the store and not of the job: they end a run before any rule is read.
    /// The body of a durable job is no longer what was stored.
    package static let storedBodyCorrupt = FailureKind(.storedBodyCorrupt)
    /// The body of a durable job could not be read now.
    package static let storedBodyUnread = FailureKind(.storedBodyUnread)
    /// An attempt of a durable job could not go on record, and was not sent.
    package static let attemptUnrecorded = FailureKind(.attemptUnrecorded)

    /// Every kind the relay itself can report, in the order of the documentation.
    package static let known = Own.allCases.map { FailureKind($0) }
}

/// A family of kinds that a rule's `on` may name as one.
public enum FailureGroup: String, CaseIterable, Sendable {
    /// The failures to reach the upstream: look-up, connect, reset, no room for a connection.
    case connection
    /// The steps that took too long: look-up, connect, read, write, the answer.
    case timeout
    /// The name look-up.
    case dns
    /// TLS: handshake, certificate, alert.
    case tls
    /// Answers that are not the HTTP that was asked for: broken, incomplete, too large, wrongly coded.
    case `protocol`

    /// Whether the kind belongs to the group.
    public func contains(_ kind: FailureKind) -> Bool { kind.belongs(to: self) }

    fileprivate var bit: UInt8 {
        switch self {
        case .connection: 1
        case .timeout: 2
        case .dns: 4
        case .tls: 8
        case .protocol: 16
        }
    }
}

extension FailureKind: CustomStringConvertible {
    /// The name, as configuration and journal write it.
    public var description: String { rawValue }
}

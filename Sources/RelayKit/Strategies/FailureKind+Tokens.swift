public import RelayRoute

// The kinds by their own names: `[.emptyResponse]` is `[.kind(.emptyResponse)]`.
extension FailureMatcher.Token {
    /// The name look-up took too long.
    public static let dnsTimeout = FailureMatcher.Token.kind(.dnsTimeout)
    /// The name does not exist, or the name servers failed.
    public static let dnsError = FailureMatcher.Token.kind(.dnsError)
    /// No address of the destination could be reached.
    public static let destinationUnavailable = FailureMatcher.Token.kind(.destinationUnavailable)
    /// The destination's addresses may not be dialled: they are not public, and the upstream does not allow
    /// them.
    public static let destinationIPProhibited = FailureMatcher.Token.kind(.destinationIPProhibited)
    /// The destination refused the connection.
    public static let connectionRefused = FailureMatcher.Token.kind(.connectionRefused)
    /// The connection ended before the answer began.
    public static let connectionTerminated = FailureMatcher.Token.kind(.connectionTerminated)
    /// Connecting, with its name look-up and TLS handshake, took longer than ``Timeouts/connect``.
    public static let connectionTimeout = FailureMatcher.Token.kind(.connectionTimeout)
    /// The upstream sent nothing for longer than ``Timeouts/idle``.
    public static let connectionReadTimeout = FailureMatcher.Token.kind(.connectionReadTimeout)
    /// The upstream took nothing for longer than ``Timeouts/idle``.
    public static let connectionWriteTimeout = FailureMatcher.Token.kind(.connectionWriteTimeout)
    /// There is no room for another connection.
    public static let connectionLimitReached = FailureMatcher.Token.kind(.connectionLimitReached)
    /// The TLS handshake failed.
    public static let tlsProtocolError = FailureMatcher.Token.kind(.tlsProtocolError)
    /// The upstream's certificate is not trusted, or its chain holds none of the pinned keys.
    public static let tlsCertificateError = FailureMatcher.Token.kind(.tlsCertificateError)
    /// The upstream ended the TLS handshake with an alert.
    public static let tlsAlertReceived = FailureMatcher.Token.kind(.tlsAlertReceived)
    /// The answer ended before it was complete.
    public static let httpResponseIncomplete = FailureMatcher.Token.kind(.httpResponseIncomplete)
    /// The answer was not there in the time of the attempt, ``Timeouts/attempt``.
    public static let httpResponseTimeout = FailureMatcher.Token.kind(.httpResponseTimeout)
    /// The answer is not HTTP, or its status is outside 200–599.
    public static let httpProtocolError = FailureMatcher.Token.kind(.httpProtocolError)
    /// The answer's content is larger than ``ResponseLimits/body``.
    public static let httpResponseBodySize = FailureMatcher.Token.kind(.httpResponseBodySize)
    /// The answer's head is larger than ``ResponseLimits/head``, or has more fields than
    /// ``ResponseLimits/fieldCount``.
    public static let httpResponseHeaderSectionSize = FailureMatcher.Token.kind(
        .httpResponseHeaderSectionSize
    )
    /// The answer's content could not be decoded, or grew more than ``ResponseLimits/expansion`` allows.
    public static let httpResponseContentCoding = FailureMatcher.Token.kind(.httpResponseContentCoding)
    /// The answer's status is none that counts as a success.
    public static let httpStatus = FailureMatcher.Token.kind(.httpStatus)
    /// The answer is an error document of the upstream, whatever its status.
    public static let apiError = FailureMatcher.Token.kind(.apiError)
    /// The answer's status counts as a success, and its content did not pass validation.
    public static let invalidResponse = FailureMatcher.Token.kind(.invalidResponse)
    /// The answer could not be turned into the request's value.
    public static let decoding = FailureMatcher.Token.kind(.decoding)
    /// The answer counts as a success and is empty where a value is wanted.
    public static let emptyResponse = FailureMatcher.Token.kind(.emptyResponse)
    /// The program has too much to do to take the request.
    public static let overloaded = FailureMatcher.Token.kind(.overloaded)
    /// The route is closed at this time, as planned.
    public static let routeClosed = FailureMatcher.Token.kind(.routeClosed)
    /// The upstream's circuit breaker is open for requests like this one.
    public static let breakerOpen = FailureMatcher.Token.kind(.breakerOpen)
    /// The upstream has asked for patience, or the route's own limit is reached, for longer than the job can wait.
    public static let rateLimited = FailureMatcher.Token.kind(.rateLimited)
    /// The network is constrained, and the request or its route sends nothing then.
    public static let networkConstrained = FailureMatcher.Token.kind(.networkConstrained)
    /// The operation that the upstream had begun for the request has failed.
    public static let operationFailed = FailureMatcher.Token.kind(.operationFailed)
    /// The upstream had begun an operation for the request, and how that ends cannot be learnt.
    public static let operationLost = FailureMatcher.Token.kind(.operationLost)
    /// The address of an operation of the upstream, or of its result, is none that the route may ask.
    public static let followRefused = FailureMatcher.Token.kind(.followRefused)
    /// A credential could not be fetched.
    public static let credentialsFailed = FailureMatcher.Token.kind(.credentialsFailed)
    /// The job's time was up.
    public static let deadlineExceeded = FailureMatcher.Token.kind(.deadlineExceeded)
}

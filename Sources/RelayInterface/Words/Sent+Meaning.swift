package import RelayBase

extension Sent {
    /// How far the request got, and whether it may be repeated.
    package var meaning: String {
        switch self {
        case .neverSent:
            """
            No byte of the request reached the wire.
            Do: Repeating it is always safe; it costs none of the job's attempts, but one of the rule's.
            """
        case .unknown:
            """
            Bytes were sent and no complete answer came, so the upstream may have acted.
            Do: It is repeated when the method is idempotent, the request has an idempotency key, or the rule says \
            methods any.
            """
        case .refused:
            """
            The upstream answered that it did not carry the request out: 4xx, or 503 with Retry-After, or what \
            treat_as_status of the route makes one.
            Do: Repeating it is safe; what happens next is what the route's rules say.
            """
        case .answered:
            """
            The upstream gave a complete answer that does not say it refused, so it may have acted.
            Do: After a failure it is repeated when the method is idempotent, the request has an idempotency key, or \
            the rule says methods any.
            """
        }
    }
}

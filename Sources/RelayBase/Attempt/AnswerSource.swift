/// The source of an answer.
public enum AnswerSource: String, CaseIterable, Sendable {
    /// The upstream.
    case upstream
    /// The upstream, when it was asked what became of a request in doubt.
    case verified
    /// The upstream, at the end of the operation that the request had begun.
    case followed
    /// The upstream, which has begun an operation that goes on: the request's time was over before the operation was.
    case begun
    /// A rule of the route, as its fallback.
    case fallback
    /// A rule of the route or the request itself, as a placeholder.
    case placeholder
    /// The upstream, some time ago: its last good answer to the same request.
    case stale
}

extension AnswerSource {
    /// Whether the upstream gave it now, and no stand-in.
    package var isUpstreams: Bool {
        switch self {
        case .upstream, .verified, .followed, .begun: true
        case .fallback, .placeholder, .stale: false
        }
    }
}

/// An answer that stands in for the upstream's.
public enum StandIn: String, CaseIterable, Sendable {
    /// An answer that is as good as the upstream's.
    case fallback
    /// An answer that only keeps the caller going.
    case placeholder
    /// The last good answer to the same request.
    case stale
}

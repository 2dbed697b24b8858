/// The source of an answer.
public enum AnswerSource: String, CaseIterable, Sendable {
    /// The upstream.
    case upstream
    /// The upstream, when it was asked what became of a request in doubt.
    case verified
    /// A rule of the route, as its fallback.
    case fallback
    /// A rule of the route or the request itself, as a placeholder.
    case placeholder
    /// The upstream, some time ago: its last good answer to the same request.
    case stale
}

extension AnswerSource {
    /// Whether the upstream gave it now, and no stand-in.
    package var isUpstreams: Bool { self == .upstream || self == .verified }
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

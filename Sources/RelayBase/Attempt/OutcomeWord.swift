/// How a job came out that is over, in the word of documents and of the field `Waystation-Outcome`.
package enum OutcomeWord: String, CaseIterable, Sendable {
    case success
    case failure
    case fallback
    case placeholder
    case stale

    /// `source` is who made the answer; nil where it is not kept.
    package init(_ source: AnswerSource?, isFailure: Bool) {
        guard !isFailure else {
            self = .failure
            return
        }
        self =
            switch source {
            case .upstream, .verified, .followed, .begun, nil: .success
            case .fallback: .fallback
            case .placeholder: .placeholder
            case .stale: .stale
            }
    }
}

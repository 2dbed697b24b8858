package import RelayBase

extension AnswerSource {
    /// The maker of the answer.
    package var meaning: String {
        switch self {
        case .upstream:
            """
            The answer is the upstream's.
            Do: No action is needed.
            """
        case .verified:
            """
            The answer is the upstream's to the question what became of the request, as verify of the route says: the \
            request was carried out, and its own answer was lost.
            Do: No action is needed.
            """
        case .followed:
            """
            The answer is the upstream's at the end of the operation that the request had begun, as follow of the route \
            says.
            Do: No action is needed.
            """
        case .begun:
            """
            The answer is the upstream's, which has begun an operation that goes on: the request's time was over before the \
            operation was.
            Do: Ask the upstream about it at the Location of the answer; have such requests kept, which waits for the end.
            """
        case .fallback:
            """
            A rule with respond gave an answer that is as good as the upstream's.
            Do: See the attempts for why the upstream did not answer.
            """
        case .placeholder:
            """
            A rule with respond gave an answer that only keeps the caller going.
            Do: See the attempts for why the upstream did not answer.
            """
        case .stale:
            """
            The answer is the last good one to the same request.
            Do: See the attempts for why the upstream did not answer.
            """
        }
    }
}

extension OutcomeWord {
    /// How the request came out; nil of a stand-in, which is told as the source of the answer.
    package var meaning: String? {
        switch self {
        case .success:
            """
            The upstream did what was asked, as the route understands it.
            Do: No action is needed.
            """
        case .failure:
            """
            The upstream did not do what was asked, as the route understands it, and nothing stood in for it.
            Do: See the attempts: waystation explain JOB
            """
        case .fallback, .placeholder, .stale: nil
        }
    }
}

extension Word {
    /// The source of an answer that no job has.
    static let ownSources: KeyValuePairs<String, String> = [
        "relay": """
        The answer is the relay's own: a problem document with a code.
        Do: Explain its code: waystation explain CODE
        """
    ]

    /// The outcome of a request that is kept.
    static let acceptances: KeyValuePairs<String, String> = [
        "accepted": """
        The job is on disk; its document tells how it ends.
        Do: See it: waystation explain JOB
        """
    ]
}

import RelayBase
import RelayJobs
import RelayRoute

extension Word {
    /// The words of a kind, in the order of the manual; those of faults and of the configuration have their tables
    /// where they are read.
    package static func all(_ kind: Kind) -> [Word] {
        switch kind {
        case .problem: problems
        case .state: JobState.allCases.map { Word(kind, $0.name, $0.meaning) }
        case .reason: WaitReason.allCases.map { Word(kind, $0.name, $0.meaning) } + table(kind, blockers)
        case .end: ends.map { Word(kind, $0.key.rawValue, $0.value) }
        case .failure: FailureKind.Own.allCases.map { Word(kind, $0.rawValue) }
        case .sent: words(kind, Sent.self, \.meaning)
        case .routeState:
            RouteCondition.allCases.reversed().map { Word(kind, $0.rawValue, $0.meaning) }
                + table(kind, routeStates)
        case .daemonState: table(kind, daemonStates)
        case .storeState: table(kind, storeStates)
        case .credentialState: words(kind, CredentialState.self, \.meaning)
        case .trouble: TroubleKind.allCases.map(\.word)
        case .source: words(kind, AnswerSource.self, \.meaning) + table(kind, ownSources)
        case .outcome: words(kind, OutcomeWord.self, \.meaning) + table(kind, acceptances)
        case .action: words(kind, Attempt.Next.Word.self, \.meaning)
        case .rule: table(kind, rules)
        case .jobAction: words(kind, JobAction.self, \.meaning)
        case .role: words(kind, Role.self, \.meaning)
        case .lookUp: words(kind, LookUp.self, \.meaning)
        case .endpointStep: words(kind, EndpointStep.self, \.meaning)
        case .endpointResult: words(kind, EndpointResult.self, \.meaning)
        case .cause: words(kind, FailureCause.self, \.meaning)
        case .breaker: table(kind, breakerStates)
        case .run: table(kind, runStates)
        case .delivery: table(kind, deliveries)
        case .ordinaryPath: ordinaryPaths
        case .group: groups
        case .event: EventKind.allCases.map { Word($0) }
        case .fault, .key: []
        }
    }

    /// Codes of problems by their status.
    private static var problems: [Word] {
        ProblemCode.allCases.enumerated()
            .sorted { ($0.element.status.rawValue, $0.offset) < ($1.element.status.rawValue, $1.offset) }
            .map(\.element.word)
    }

    private static func table(_ kind: Kind, _ rows: KeyValuePairs<String, String>) -> [Word] {
        rows.map { Word(kind, $0.key, $0.value) }
    }

    private static func words<Name: RawRepresentable<String> & CaseIterable>(
        _ kind: Kind,
        _ names: Name.Type,
        _ row: (Name) -> String?
    ) -> [Word] {
        names.allCases.compactMap { name in row(name).map { Word(kind, name.rawValue, $0) } }
    }
}

import RelayBase

extension Word {
    /// Groups of kinds, which the configuration names in `on`.
    static var groups: [Word] {
        FailureGroup.allCases.map { group in
            let kinds = FailureKind.known.filter(group.contains).map(\.rawValue).joined(separator: ", ")
            return Word(
                .group,
                group.rawValue,
                "A rule on it acts on \(kinds).",
                remedy: "Explain the kind of the attempt: waystation explain KIND"
            )
        } + otherGroups.map { Word(.group, $0.key, $0.value) }
    }

    /// The words of `on` that are no groups of kinds.
    private static let otherGroups: KeyValuePairs<String, String> = [
        "any": """
        A rule on it acts on every failure but those that no rule is asked about.
        Do: Put it below the rules that know better, since rules are read from the top.
        """,
        "exhausted": """
        A rule on it acts when the rules above it, the attempts or the time are spent.
        Do: Use it for the last resort, such as a failover or a stand-in.
        """,
    ]
}

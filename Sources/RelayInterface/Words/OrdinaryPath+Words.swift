import RelayRoute

extension Word {
    /// The reasons why a request took the ordinary path, or went on with it.
    static var ordinaryPaths: [Word] {
        OrdinaryReason.allCases.map { ordinary($0.rawValue, $0.sentence) }
            + PromotionReason.allCases.map { ordinary($0.rawValue, $0.sentence, " any more") }
    }

    private static func ordinary(_ name: String, _ sentence: String, _ more: String = "") -> Word {
        Word(
            .ordinaryPath,
            name,
            "A request is not passed through\(more): \(sentence).",
            remedy: "No action is needed; it only costs the relay more."
        )
    }
}

package import RelayBase

// The faults of a policy that a configuration and a program can have alike.
extension Timeouts {
    /// The reason why no attempt could take as long as it may; nil where one can.
    package var fault: String? {
        guard attempt > total else { return nil }
        let (longest, all) = (DurationText.text(attempt), DurationText.text(total))
        return "timeouts.attempt (\(longest)) is longer than timeouts.total (\(all))"
    }
}

extension PublicKeyPins {
    /// The reason why the pins are for none of the https upstreams, which are at `hosts`; nil where they are for one.
    package func fault(hosts: [String]) -> Refusal? {
        if hosts.isEmpty { return Refusal("the route has no https upstream to pin") }
        guard let host, !hosts.contains(where: applies) else { return nil }
        return Refusal(
            "no https upstream of the route is at \"\(printable(host))\"",
            hint: nearestWord(to: host, among: hosts).map { "did you mean \"\($0)\"?" }
        )
    }
}

extension FailureMatcher {
    /// The advice for a word that names no failure of a route with those kinds; nil where no word is near.
    package static func meant(by word: String, kinds: [String]) -> String? {
        nearestWord(to: word, among: kinds + FailureGroup.allCases.map(\.rawValue) + ["any", "exhausted"])
            .map { "did you mean \"\($0)\"?" }
    }
}

extension FieldName {
    /// - Throws: when no message can carry a field of that name, or the relay writes it itself.
    package init(setting name: String) throws(Refusal) {
        guard let field = FieldName(name), name.utf8.count <= 256 else {
            throw Refusal("not a valid header name")
        }
        if field.isOfTheRelay {
            throw Refusal(
                "the header \"\(printable(name))\" is written by the relay itself",
                hint: "remove it"
            )
        }
        self = field
    }
}

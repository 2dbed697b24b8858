import RelayBase
import RelayJSON
import RelayRoute

/// The rules that hold for a route: its own, or those it takes over from the defaults.
struct RuleList {
    let list: JSONNode?
    /// Where the list stands.
    let path: [String]
    /// The words that stand for a hint where the rules are those of the defaults; nil where they are the route's own.
    let taking: String?

    init(of route: JSONNode, _ reading: ReadContext) {
        if let own = route["recovery"]?.value {
            (list, path, taking) = (own, reading.path + ["recovery"], nil)
        } else {
            list = reading.root["defaults"]?.value["recovery"]?.value
            path = ["defaults", "recovery"]
            taking = reading.path.last.map { "route \"\($0)\" takes this rule over" }
        }
    }

    var elements: [JSONNode] { list?.elements ?? [] }

    /// A rule, or a place in it.
    func location(_ index: Int, _ tokens: String...) -> JSONNode.Location {
        JSONNode.Location(node: elements[index], path: path + ["\(index)"], tokens: tokens)
    }
}

extension JSONNode {
    /// Actions that mean something else to durable jobs than to requests that wait for their answer.
    private static let durableActions = ["dead_letter", "pause_route", "hold"]

    private var hasDurableAction: Bool { JSONNode.durableActions.contains { self[$0] != nil } }

    /// Whether a rule only tells what it would do.
    var reports: Bool { self["mode"]?.value.text == ControlMode.report.rawValue }

    /// The action of a rule that ends a request that waits for its answer with its failure.
    var failingAction: String? {
        if reports { return nil }
        return (["fail"] + JSONNode.durableActions).first { self[$0] != nil }
    }

    /// Whether a rule ends every failure it matches, of whatever request.
    var isFinal: Bool { failingAction != nil }

    /// Whether a rule responds with what was kept: it passes on where nothing is.
    var isStale: Bool { self["respond"]?.value["as"]?.value.text == "stale" }

    /// Whether a rule responds, and with more than what may have been kept.
    var isAnswer: Bool { self["respond"] != nil && !isStale && !reports }

    /// Whether a rule answers a request and keeps it.
    var keeps: Bool { self["respond"]?.value["and"]?.value.text == "keep" && !reports }

    /// The failures on which a rule acts, as far as they are words that are known.
    private var words: [String] { self["on"]?.value.elements.compactMap(\.text) ?? [] }

    var matchesAny: Bool { words.contains("any") }

    func matches(_ failure: Failure) -> Bool {
        FailureMatcher(words.compactMap(FailureMatcher.token)).matches(failure, isExhausted: false)
    }

    /// Whether `rule` still acts below this one, which ends everything: for jobs that it does not answer.
    func passes(to rule: JSONNode) -> Bool {
        if isFinal { return false }
        return keeps ? rule["respond"] == nil : rule.hasDurableAction
    }
}

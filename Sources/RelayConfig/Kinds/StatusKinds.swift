import RelayBase
import RelayJSON
import RelayRoute

extension ValueKind where Value == StatusSet {
    /// `["2xx", "302"]`.
    static var statuses: ValueKind {
        let word = ValueKind<FailureMatcher.Token>.text(
            "a status or class such as \"302\" or \"2xx\"",
            pattern: "^[2-5]([0-9]{2}|xx)$"
        ) { text throws(Refusal) in
            switch FailureMatcher.token(text) {
            case .status(let status): return .status(status)
            case .statusClass(let statusClass): return .statusClass(statusClass)
            default:
                throw Refusal(
                    "expected a status from \"200\" to \"599\", or \"2xx\", \"3xx\", \"4xx\", \"5xx\""
                )
            }
        }
        return ValueKind<[FailureMatcher.Token]>.list(word, minimum: 1)
            .map(StatusSet.init(tokens:), back: { _ in [] })
            .writing { set in .array(set.words.map { .string($0) }) }
    }

    /// `"any"` or a list.
    static var statusesOrAny: ValueKind {
        let list = ValueKind.statuses
        let kind = ValueKind(.either(.word(["any"]), list.shape)) { node, current, reading in
            node.text == "any" ? .any : list.read(node, current, &reading)
        }
        return kind.writing { $0.isAny ? .string("any") : list.write($0) }
    }
}

extension StatusSet {
    fileprivate init(tokens: [FailureMatcher.Token]) {
        self.init()
        for token in tokens {
            switch token {
            case .status(let status): codes.append(status.rawValue)
            case .statusClass(let statusClass): classes.append(statusClass)
            default: break
            }
        }
    }

    fileprivate var words: [String] { classes.map { "\($0.rawValue)xx" } + codes.map { "\($0)" } }
}

extension ValueKind where Value == FailureMatcher {
    /// The words of `on`; whether a kind exists is known only when the whole route is.
    static var failures: ValueKind {
        let word = ValueKind<FailureMatcher.Token>.text(
            "a status, a class such as \"5xx\", a failure kind, \"connection\", \"timeout\", \"dns\", \"tls\", "
                + "\"protocol\", \"any\" or \"exhausted\"",
            pattern: "^([2-5]([0-9]{2}|xx)|[a-z][a-z0-9_]*)$"
        ) { text throws(Refusal) in
            guard let token = FailureMatcher.token(text) else {
                throw Refusal(
                    "expected a status from \"200\" to \"599\", or \"2xx\", \"3xx\", \"4xx\", \"5xx\""
                )
            }
            return token
        }
        return ValueKind<[FailureMatcher.Token]>.list(word, minimum: 1, maximum: 100)
            .compactMap { FailureMatcher($0) }
    }
}

extension ValueKind where Value == FailureKind {
    /// The name of a kind of failure that the route defines.
    static var kindName: ValueKind {
        .text("a kind such as \"busy\"", pattern: "^[a-z][a-z0-9_]*$") { text throws(Refusal) in
            let isName = text.utf8.allSatisfy { $0.isSmallLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
            guard isName, text.utf8.count <= 64, text.utf8.first?.isSmallLetter == true else {
                throw Refusal(
                    "a kind has only lower-case letters, digits and \"_\", and begins with a letter"
                )
            }
            if case .kind(let kind) = FailureMatcher.token(text) { return kind }
            throw Refusal("\"\(text)\" already means something else in \"on\"", hint: "choose another name")
        }
    }
}

import RelayBase
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayJSON

/// The parameters of a call, read strictly: one that is unknown, stands twice or is malformed is refused by name.
struct Query {
    private let path: String
    private let pairs: [(name: String, value: String)]

    /// - Throws: `bad_target` for a parameter that is none of these or stands twice.
    init(_ target: String, _ parameters: [any QueryParameter]) throws(Problem) {
        let known = parameters.map(\.name)
        path = String(target.prefix { $0 != "?" })
        var pairs: [(name: String, value: String)] = []
        guard let mark = target.firstIndex(of: "?") else {
            self.pairs = []
            return
        }
        for item in target[target.index(after: mark)...].split(separator: "&") {
            let name = try Query.decoded(item.prefix { $0 != "=" })
            guard known.contains(name) else {
                let list =
                    known.isEmpty ? "it has none" : "it reads \(known.joined(separator: ", "))"
                throw Problem(
                    .badTarget,
                    "\(path.prefix(128)) has no parameter \"\(name.prefix(64))\"; \(list)",
                    didYouMean: nearestWord(to: name, among: known)
                )
            }
            guard !pairs.contains(where: { $0.name == name }) else {
                throw Problem(.badTarget, "\(name) may stand once, and stands twice")
            }
            pairs.append((name, try Query.decoded(item.drop { $0 != "=" }.dropFirst())))
        }
        self.pairs = pairs
    }

    subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    subscript(parameter: Parameter<String?>) -> String? { self[parameter.name] }

    /// The same call with another value of one parameter, as a target.
    func target(replacing name: String, with value: String) -> String {
        let kept = pairs.filter { $0.name != name } + [(name, value)]
        return path + "?"
            + kept.map { "\($0.name)=\(percentEncoded($0.value))" }.joined(separator: "&")
    }

    func value<Value>(_ parameter: Parameter<Value>) throws(Problem) -> Value {
        try parameter.read(self[parameter.name])
    }

    /// Undoes percent-encoding, and `+` for a blank.
    private static func decoded(_ text: Substring) throws(Problem) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexadecimalValue,
                    let low = rest.popFirst()?.hexadecimalValue
                else {
                    throw Problem(.badTarget, "a parameter is not percent-encoded as it should be")
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Problem(.badTarget, "a parameter is not UTF-8")
        }
        return text
    }
}

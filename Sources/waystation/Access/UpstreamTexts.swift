import RelayBase
import RelayJSON
import RelayPosix
import Synchronization

/// Texts that upstreams wrote, which a command that an agent calls keeps out of what it says itself.
///
/// In place of each stands a mark, `untrusted 1`; the text goes as a line of JSON to who runs the command, where the
/// environment says so. An agent takes what a tool says for the tool's words, and upstreams may write anything.
final class UpstreamTexts: Sendable {
    /// The command finds the file for them there.
    static let descriptor: Int32 = 8
    /// The variable of the environment that says that there is one.
    static let variable = "WAYSTATION_UNTRUSTED"
    /// Those of this process; nil where a person reads.
    static let current = environment(variable) == nil ? nil : UpstreamTexts()

    /// Members of documents that hold what an upstream wrote.
    private static let names = ["api_code", "api_title", "operation"]
    /// Before the code of an error document in a sentence of the relay.
    private static let codeBegins = " with an error document (code "
    /// Different texts that are handed on.
    private static let most = 100

    private let texts = Mutex<[String]>([])
    private let hand: @Sendable ([UInt8]) -> Bool

    /// `hand` takes a line, and says whether it could.
    init(_ hand: @escaping @Sendable ([UInt8]) -> Bool = { writeAll($0, to: UpstreamTexts.descriptor) }) {
        self.hand = hand
    }

    /// A document as it is told: without the texts where a person does not read it.
    static func told(_ bytes: [UInt8], _ document: JSONValue) -> (bytes: [UInt8], JSONValue) {
        guard let current else { return (bytes, document) }
        let told = current.withoutTexts(document)
        return (told.encoded(), told)
    }

    /// The document with a mark in place of each text.
    func withoutTexts(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): .array(elements.map(withoutTexts))
        case .object(let members):
            .object(
                members.map { member in
                    guard Self.names.contains(member.name), case .string(let text) = member.value else {
                        return .init(member.name, withoutTexts(member.value))
                    }
                    return .init(member.name, .string(mark(text)))
                }
            )
        case .string(let text): .string(withoutCodes(text))
        case .null, .bool, .number: value
        }
    }

    private func withoutCodes(_ text: String) -> String {
        var parts = text.parts(between: Self.codeBegins)[...]
        var result = String(parts.removeFirst())
        for part in parts {
            let end = part.firstIndex(of: ")") ?? part.endIndex
            result += Self.codeBegins + mark(String(part[..<end])) + part[end...]
        }
        return result
    }

    private func mark(_ text: String) -> String {
        let number: Int? = texts.withLock { texts in
            if let index = texts.firstIndex(of: text) { return index + 1 }
            guard texts.count < Self.most, hand(JSONValue.string(text).encoded() + [UInt8(ascii: "\n")])
            else { return nil }
            texts.append(text)
            return texts.count
        }
        return number.map { "untrusted \($0)" } ?? "untrusted, left out"
    }
}

import RelayBase
import RelayClient
import RelayInterface
import RelayJSON

/// The meaning of a word that is not a job's id.
enum WordExplanation {
    /// Tells what the interface's words mean.
    static func show(_ meanings: [Word], _ format: OutputFormat) {
        switch format {
        case .table: Output.standard.write(meanings.map(\.page).joined(separator: "\n"))
        case .json:
            var json = JSONObjectWriter()
            json.member("word", meanings[0].name)
            json.array("meanings") { list in
                for meaning in meanings { list.object { meaning.write(into: &$0) } }
            }
            Output.standard.write(json.bytes + [UInt8(ascii: "\n")])
        }
    }

    /// A word that is none of the interface's: a kind that the configuration of the daemon names, or a slip.
    static func ofConfiguration(_ word: String, _ arguments: Arguments) throws(CommandFailure) -> [Word] {
        let names: [String]
        let unasked: String?
        do throws(CommandFailure) {
            (names, unasked) = (try routes(with: word, .control(arguments)), nil)
        } catch {
            (names, unasked) = ([], error.message)
        }
        guard !names.isEmpty else { throw unknown(word, unasked) }
        let routes = names.map(safe).joined(separator: ", ")
        return [
            Word(
                .failure,
                safe(word),
                "A kind that the configuration names, on the route\(names.count == 1 ? "" : "s") \(routes).",
                causes: "An answer that fits error_types, or fail of success, of the route.",
                remedy:
                    "See the attempt's detail, and the routes in the configuration; the upstream's documentation says more."
            )
        ]
    }

    /// The routes whose configuration names the kind.
    private static func routes(with kind: String, _ daemon: DaemonAccess) throws(CommandFailure) -> [String] {
        let (_, document) = try daemon.document(.get, "/v1/routes")
        return (document["routes"]?.elements ?? []).filter { route in
            (route["own_kinds"]?.elements ?? []).contains { $0.text == kind }
        }.compactMap { $0["name"]?.text }
    }

    /// `unasked` is why the daemon was not asked for the kinds of its configuration.
    private static func unknown(_ word: String, _ unasked: String?) -> CommandFailure {
        let near = Glossary.nearest(to: word).map { "; did you mean \"\($0)\"?" } ?? ""
        let kinds =
            unasked.flatMap { near.isEmpty ? $0 : nil }
            .map { "A kind of the configuration's own? That could not be asked: \($0)\n" } ?? ""
        return CommandFailure(
            .usage,
            "\"\(safe(word))\" is not a job id, and no word of the relay's outputs\(near)",
            advice: kinds + "A job's id has 26 digits and letters, as in the answer's Waystation-Job field."
        )
    }
}

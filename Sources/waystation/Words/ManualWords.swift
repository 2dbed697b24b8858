import RelayBase
import RelayInterface
import RelayJobs

/// The words of waystationd-api(7): the lists of the page between the comments that name their kinds.
enum ManualWords {
    private static let opening = ".\\\" Printed by Tests/documents --write: "
    private static let closing = ".\\\" End of the print."

    /// The page with its lists made anew.
    static func filled(_ page: String) throws(CommandFailure) -> String {
        var lines: [Substring] = []
        var isInside = false
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == closing[...] { isInside = false }
            if !isInside { lines.append(line) }
            guard line.hasPrefix(opening) else { continue }
            let name = String(line.dropFirst(opening.count))
            isInside = true
            if name == "options of a job" {
                lines += options { [".It Ql options.\($0.member)", ".Pq Ql \($0.field) :"] }
            } else if name == "options of send" {
                lines += options { [".It Fl -\($0.flag) Ar value"] }
            } else if name == Word.Kind.event.rawValue {
                lines += [".Bl -tag -width Ds"] + events + [".El"]
            } else if let kind = Word.Kind(rawValue: name) {
                lines += list(Glossary.words(kind)).map { $0[...] }
            } else {
                throw CommandFailure(.failed, "there is no such kind of words: \(line)")
            }
        }
        guard !isInside else { throw CommandFailure(.failed, "a list of words has no end") }
        return lines.joined(separator: "\n")
    }

    /// Lines of mdoc(7).
    private static func list(_ words: [Word]) -> [String] {
        var lines = [".Bl -tag -width Ds"]
        for word in words {
            lines.append(".It Cm \(word.name)" + (word.status.map { " Pq \($0)" } ?? ""))
            lines += sentences(word.text)
            if let causes = word.causes { lines += sentences("Causes: \(causes)") }
            lines += sentences("Do: \(word.remedy)")
        }
        return lines + [".El"]
    }

    /// The types of events, each with the members of its data.
    private static var events: [Substring] {
        EventKind.allCases.flatMap { event in
            let data = event.rawValue.line("Data: ").map { " Data: \($0)" } ?? ""
            return [".It Ql \(event.type)"] + sentences(event.rawValue.sentence + data)
        }.map { $0[...] }
    }

    /// The entries of the options of a job, each after the lines that name it.
    private static func options(_ names: (JobOption) -> [String]) -> [Substring] {
        JobOption.all.flatMap { option in
            names(option)
                + sentences(
                    "\(option.sentence) \(option.details.isEmpty ? "" : option.details + " ")The value \(option.value.demand)."
                )
        }.map { $0[...] }
    }

    /// Each sentence begins a line, as the formatter wants it.
    private static func sentences(_ text: String) -> [String] {
        let escaped = text.parts(between: "\\").joined(separator: "\\e")
        let lines = escaped.parts(between: ". ").joined(separator: ".\n").split(separator: "\n").map {
            TextFill.lines(String($0), columns: 120, indent: 0, hanging: 0)
        }
        // A dot or a quote at its beginning makes a line a request.
        return lines.joined().split(separator: "\n").map { line in
            (line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" : "") + line
        }
    }
}

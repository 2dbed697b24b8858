import RelayBase
import RelayInterface
import RelayJSON

extension Word {
    /// For people, indented under its title.
    var page: String {
        let title = "\(name): \(kind.rawValue)\(status.map { ", status \($0)" } ?? "")\n"
        let parts = [text] + (causes.map { ["Causes: \($0)"] } ?? []) + ["Do: \(remedy)"]
        return title + parts.map { TextFill.lines($0, columns: 78, indent: 2, hanging: 2) }.joined()
    }

    func write(into json: inout JSONObjectWriter) {
        json.member("type", kind.rawValue)
        if let status { json.member("status", status) }
        json.member("meaning", text)
        if let causes { json.member("causes", causes) }
        json.member("remedy", remedy)
    }

    /// The clauses of the remedy that end with a command, such as `if it has: waystation jobs drop JOB`.
    var commands: [String] {
        remedy.parts(between: "; ").filter { $0.contains(text: "waystation ") }
            .map { $0.prefix(1).lowercased() + $0.dropFirst() }
    }
}

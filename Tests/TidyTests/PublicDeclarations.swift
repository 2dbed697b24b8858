/// Finds the public declarations of a source that have no documentation comment, by its lines alone: the tree is
/// formatted, so a scope's members stand four columns further in than the scope.
struct PublicDeclarations {
    /// Lines of undocumented declarations, counted from 1.
    private(set) var undocumented: [Int] = []

    private enum Scope {
        /// Its cases are public.
        case `enum`
        /// Its requirements are public.
        case `protocol`
    }

    init(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var scopes: [(column: Int, kind: Scope)] = []
        for (index, line) in lines.enumerated() {
            let column = line.prefix { $0 == " " }.count
            let code = Self.withoutAttributes(line.dropFirst(column))
            if code.isEmpty || code.hasPrefix("//") { continue }
            while let scope = scopes.last, column <= scope.column { scopes.removeLast() }
            let inner = scopes.last.flatMap { column == $0.column + 4 ? $0.kind : nil }
            if Self.isPublic(code, in: inner), !Self.isDocumented(lines, index) {
                undocumented.append(index + 1)
            }
            if code.hasPrefix("public enum ") || code.hasPrefix("public indirect enum ") {
                scopes.append((column, .enum))
            } else if code.hasPrefix("public protocol ") {
                scopes.append((column, .protocol))
            }
        }
    }

    private static func isPublic(_ code: Substring, in scope: Scope?) -> Bool {
        let words = code.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        guard let first = words.first else { return false }
        if first == "public" {
            return words.dropFirst().first.map { $0 != "import" && $0 != "extension" } ?? false
        }
        switch scope {
        case .enum: return first == "case"
        case .protocol:
            return ["func", "var", "init", "static", "mutating", "subscript", "associatedtype"].contains(
                first
            )
        case nil: return false
        }
    }

    /// The attributes of a declaration may stand between it and its comment.
    private static func isDocumented(_ lines: [Substring], _ index: Int) -> Bool {
        var above = index
        while above > 0 {
            above -= 1
            let code = lines[above].drop { $0 == " " }
            if code.hasPrefix("@"), withoutAttributes(code).isEmpty { continue }
            return code.hasPrefix("///")
        }
        return false
    }

    /// The bracket that closes the first one; a message of an attribute may have some of its own.
    private static func closing(_ code: Substring) -> Substring.Index? {
        var depth = 0
        for index in code.indices {
            if code[index] == "(" { depth += 1 }
            if code[index] == ")" { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    /// The code after `@discardableResult`, `@available(…)` and their like.
    static func withoutAttributes(_ code: Substring) -> Substring {
        var rest = code
        while rest.hasPrefix("@") {
            rest = rest.dropFirst().drop { $0.isLetter || $0.isNumber || $0 == "_" }
            if rest.hasPrefix("(") {
                guard let end = closing(rest) else { return "" }
                rest = rest[rest.index(after: end)...]
            }
            rest = rest.drop { $0 == " " }
        }
        return rest
    }
}

/// A script without what only its authors read: comments on lines of their own, and blanks that part nothing.
///
/// The content of a text, a template or a pattern is left as it is. A line's end stays where a statement may end.
struct LeanScript {
    private(set) var bytes: [UInt8] = []

    private let source: [UInt8]
    private var at = 0
    /// The nestings that are open: a template, an expression in one, or any other brace.
    private var open: [Nesting] = [.block(declares: false)]

    /// Of a block, whether what is under way in it declares names.
    private enum Nesting: Equatable {
        case template
        case block(declares: Bool)
    }

    /// Where a blank beside it parts nothing.
    private static let marks = Set("=+-*/<>!&|?:;,(){}[]%\"'`".utf8)
    /// The bytes after which a line's end means nothing, and those that no statement begins with: each statement but a
    /// block ends in `;`.
    private static let goesOn = Set(",({[=?:&|;}".utf8)
    private static let comesAfter = Set(")]}?:&|.,".utf8)
    /// The bytes that a pattern comes after; after any other a slash divides.
    private static let beforePattern = Set("(,=:[!&|?{};\n".utf8)
    private static let beforeStatement = Set("{};\n".utf8)
    private static let declarations = [Array("const ".utf8), Array("let ".utf8)]

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 10 }

    init(_ script: [UInt8]) {
        source = Array(
            script.split(separator: UInt8(ascii: "\n"))
                .filter { !$0.drop { $0 == UInt8(ascii: " ") }.starts(with: "//".utf8) }.joined(separator: [
                    10
                ])
        )
        while at < source.count {
            if open.last == .template { template() } else { code() }
        }
        bytes.append(UInt8(ascii: "\n"))
    }

    private mutating func take(_ count: Int = 1) {
        bytes += source[at..<min(at + count, source.count)]
        at += count
    }

    private func isIdentifier(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private mutating func template() {
        switch source[at] {
        case UInt8(ascii: "\\"): take(2)
        case UInt8(ascii: "`"):
            open.removeLast()
            take()
        case UInt8(ascii: "$") where at + 1 < source.count && source[at + 1] == UInt8(ascii: "{"):
            open.append(.block(declares: false))
            take(2)
        default: take()
        }
    }

    private mutating func code() {
        let byte = source[at]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): text(until: byte)
        case UInt8(ascii: "/") where Self.beforePattern.contains(bytes.last ?? 10): pattern()
        case UInt8(ascii: "`"):
            open.append(.template)
            take()
        case UInt8(ascii: "{"), UInt8(ascii: "("), UInt8(ascii: "["):
            open.append(.block(declares: false))
            take()
        case UInt8(ascii: ";"): end()
        case UInt8(ascii: "}"):
            _ = open.popLast()
            // Neither the last statement of a block nor the last of a list needs an end.
            if bytes.last == UInt8(ascii: ";") || bytes.last == UInt8(ascii: ",") { bytes.removeLast() }
            take()
        case UInt8(ascii: "]"), UInt8(ascii: ")"):
            _ = open.popLast()
            if bytes.last == UInt8(ascii: ",") { bytes.removeLast() }
            take()
        case UInt8(ascii: "c"), UInt8(ascii: "l"):
            guard !isIdentifier(bytes.last), let length = declaration(from: at) else { return take() }
            if Self.beforeStatement.contains(bytes.last ?? 10), !open.isEmpty {
                open[open.count - 1] = .block(declares: true)
            }
            // A name that never changes does not change under `let` either.
            bytes += "let".utf8
            at += length - 1
        case _ where Self.isBlank(byte): blank()
        default: take()
        }
    }

    /// The length of the word that declares names, with its blank.
    private func declaration(from start: Int) -> Int? {
        Self.declarations.first { source[start...].starts(with: $0) }?.count
    }

    /// Declarations that follow one another are one.
    private mutating func end() {
        let next = source[(at + 1)...].firstIndex { !Self.isBlank($0) } ?? source.count
        if open.last == .block(declares: true), let length = declaration(from: next) {
            bytes.append(UInt8(ascii: ","))
            at = next + length
            return
        }
        if !open.isEmpty { open[open.count - 1] = .block(declares: false) }
        take()
    }

    private mutating func text(until end: UInt8) {
        take()
        while at < source.count, source[at] != end { take(source[at] == UInt8(ascii: "\\") ? 2 : 1) }
        take()
    }

    private mutating func pattern() {
        var isClass = false
        take()
        while at < source.count, source[at] != UInt8(ascii: "/") || isClass {
            if source[at] == UInt8(ascii: "[") { isClass = true }
            if source[at] == UInt8(ascii: "]") { isClass = false }
            take(source[at] == UInt8(ascii: "\\") ? 2 : 1)
        }
        take()
    }

    private mutating func blank() {
        let start = at
        while at < source.count, Self.isBlank(source[at]) { at += 1 }
        guard at < source.count, let last = bytes.last else { return }
        let next = source[at]
        if source[start..<at].contains(10) {
            let isArrow = bytes.suffix(2).elementsEqual("=>".utf8)
            if !isArrow, !Self.goesOn.contains(last), !Self.comesAfter.contains(next) { bytes.append(10) }
        } else if !Self.marks.contains(last) && !Self.marks.contains(next)
            || last == next && "+-/".utf8.contains(next)
        {
            bytes.append(UInt8(ascii: " "))
        }
    }
}

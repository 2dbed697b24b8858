internal import CPage
import RelayBase
import RelayEngine

/// One of the documents that show the relay in a browser, as they were built into the program.
enum PageDocument: CaseIterable {
    case page
    case script
    case style
    /// The meanings of the words of the interface.
    case words
    case icon

    var path: String {
        switch self {
        case .page: "/ui/"
        case .script: "/ui/page.js"
        case .style: "/ui/page.css"
        case .words: "/ui/words.json"
        case .icon: "/ui/icon.svg"
        }
    }

    private var type: StaticString {
        switch self {
        case .page: "text/html; charset=utf-8"
        case .script: "text/javascript; charset=utf-8"
        case .style: "text/css; charset=utf-8"
        case .words: "application/json"
        case .icon: "image/svg+xml"
        }
    }

    var bytes: [UInt8] { Self.contents[self]?.bytes ?? [] }

    /// Of the content alone, so that a browser keeps what a restart has not changed.
    var tag: String { Self.contents[self]?.tag ?? "\"\"" }

    private static let contents: [PageDocument: (bytes: [UInt8], tag: String)] = {
        var contents: [PageDocument: (bytes: [UInt8], tag: String)] = [:]
        for document in allCases {
            let embedded =
                switch document {
                case .page: unsafe embedded_page_html()
                case .script: unsafe embedded_page_js()
                case .style: unsafe embedded_page_css()
                case .words: unsafe embedded_words_json()
                case .icon: unsafe embedded_icon_svg()
                }
            let source = unsafe Array(UnsafeBufferPointer(start: embedded.bytes, count: embedded.count))
            let bytes =
                switch document {
                case .script: LeanScript(source).bytes
                case .style: leanStyle(source)
                // No text of JSON has a line's end.
                case .words: source.filter { $0 != UInt8(ascii: "\n") }
                case .page, .icon: source
                }
            // FNV-1a: two documents of one path differ by more than chance could make up for.
            let digest = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
                ($0 ^ UInt64($1)) &* 0x100_0000_01b3
            }
            contents[document] = (bytes, "\"\(String(digest, radix: 16))\"")
        }
        return contents
    }()

    /// Without the blanks that only its authors read.
    private static func leanStyle(_ bytes: [UInt8]) -> [UInt8] {
        let marks = Set("{};,\n".utf8)
        var lean: [UInt8] = []
        for byte in bytes where byte != UInt8(ascii: "\n") {
            // A blank before a colon parts two selectors.
            let after = lean.last ?? UInt8(ascii: ";")
            if byte == UInt8(ascii: " "), marks.contains(after) || after == UInt8(ascii: ":") { continue }
            if marks.contains(byte), after == UInt8(ascii: " ") { lean.removeLast() }
            if byte == UInt8(ascii: "}"), lean.last == UInt8(ascii: ";") { lean.removeLast() }
            lean.append(byte)
        }
        return lean
    }

    /// The places that the page may load from, send to and be shown in: nothing but the relay that served it.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    /// The document, or 304 for whoever has it.
    func answer(to fields: HeaderFields) -> Answer {
        let known = EntityTags(fields, .ifNoneMatch)
        let isKnown = known.has(tag)
        var answer = Answer(
            isKnown ? 304 : 200,
            isKnown ? [] : bytes,
            type: type,
            fields: [
                ("ETag", tag), ("Content-Security-Policy", PageDocument.policy),
                ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                ("Cross-Origin-Opener-Policy", "same-origin"),
                ("Cross-Origin-Resource-Policy", "same-origin"),
            ]
        )
        // A browser asks each time whether it has the one of this program.
        answer.cache = "no-cache"
        return answer
    }

    /// Names below the page's folder are read against it.
    static let redirect = Answer(308, [], fields: [("Location", "/ui/")])
}

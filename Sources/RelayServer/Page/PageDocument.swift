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

    /// As it was built in.
    private var embedded: EmbeddedDocument {
        switch self {
        case .page: unsafe embedded_page_html()
        case .script: unsafe embedded_page_js()
        case .style: unsafe embedded_page_css()
        case .words: unsafe embedded_words_json()
        case .icon: unsafe embedded_icon_svg()
        }
    }

    var compressed: [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: embedded.bytes, count: embedded.count))
    }

    var inflated: [UInt8] {
        let document = unsafe embedded
        let size = unsafe inflated_count(document)
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            guard unsafe inflate_document(document, buffer.baseAddress) else {
                preconditionFailure("zlib has no memory")
            }
            count = size
        }
    }

    /// Of the content alone, so that a browser keeps what a restart has not changed; another for each coding.
    func tag(isCompressed: Bool) -> String {
        // FNV-1a: two documents of one path differ by more than chance could make up for.
        let digest = compressed.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return "\"\(String(digest, radix: 16))\(isCompressed ? "-gz" : "")\""
    }

    /// The places that the page may load from, send to and be shown in: nothing but the relay that served it.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    /// The document, or 304 for whoever has it.
    func answer(to fields: HeaderFields) -> Answer {
        let codings = AcceptedTypes(fields, .acceptEncoding)
        let isCompressed = (codings.quality(naming: "gzip") ?? codings.quality(naming: "*") ?? 0) > 0
        let tag = tag(isCompressed: isCompressed)
        let isKnown = EntityTags(fields, .ifNoneMatch).has(tag)
        var answer = Answer(
            isKnown ? 304 : 200,
            isKnown ? [] : isCompressed ? compressed : inflated,
            type: type,
            fields: (isCompressed ? [("Content-Encoding", "gzip")] : []) + [
                ("ETag", tag), ("Vary", "Accept-Encoding"), ("Content-Security-Policy", PageDocument.policy),
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

import RelayBase
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayJSON
import RelayRoute
import Testing

@testable import RelayServer

@Suite("The page as it is served")
struct PageTests {
    private func fields(_ answer: Answer) -> [String: String] {
        guard case .own(let own) = answer.head else { return [:] }
        return Dictionary(own.fields.map { ($0.name.description, $0.value) }) { first, _ in first }
    }

    @Test("Each document says what it is and what it may do", arguments: PageDocument.allCases)
    func document(document: PageDocument) throws {
        let answer = document.answer(to: HeaderFields())
        #expect(answer.status == 200 && answer.cache.description == "no-cache")
        let fields = fields(answer)
        #expect(
            fields["Content-Security-Policy"]
                == "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        #expect(fields["X-Content-Type-Options"] == "nosniff" && fields["Referrer-Policy"] == "no-referrer")
        #expect(APICall.Resource(path: document.path) != nil)
    }

    @Test("A client with the document is told so, and any other gets it", arguments: PageDocument.allCases)
    func known(document: PageDocument) throws {
        for isCompressed in [false, true] {
            let tag = document.tag(isCompressed: isCompressed)
            var fields = HeaderFields()
            if isCompressed { fields.append(.acceptEncoding, "gzip") }
            fields.append(.ifNoneMatch, tag)
            let answer = document.answer(to: fields)
            #expect(answer.status == 304 && self.fields(answer)["ETag"] == tag)
            fields.set(.ifNoneMatch, document.tag(isCompressed: !isCompressed))
            #expect(document.answer(to: fields).status == 200)
            #expect(PageDocument.allCases.filter { $0.tag(isCompressed: isCompressed) == tag } == [document])
        }
    }

    @Test(
        "A client that reads gzip gets a document compressed, and any other gets the same bytes plain",
        arguments: [
            (nil, false), ("gzip", true), ("gzip, deflate, br, zstd", true), ("GZIP ; q=0.1", true),
            ("*", true),
            ("br", false), ("gzip;q=0", false), ("*;q=0", false), ("gzip;q=0, *", false), ("identity", false),
            ("", false),
        ] as [(String?, Bool)]
    )
    func coding(accepted: String?, isCompressed: Bool) throws {
        for document in PageDocument.allCases {
            var fields = HeaderFields()
            if let accepted { fields.append(.acceptEncoding, accepted) }
            let answer = document.answer(to: fields)
            guard case .bytes(let bytes) = answer.body else { return #expect(Bool(false), "no bytes") }
            #expect(bytes == (isCompressed ? document.compressed : document.inflated))
            #expect(self.fields(answer)["Content-Encoding"] == (isCompressed ? "gzip" : nil))
            #expect(self.fields(answer)["Vary"] == "Accept-Encoding")
        }
    }

    @Test("All that is served is small, and holds nothing from elsewhere and nothing inline")
    func size() {
        #expect(PageDocument.allCases.map(\.inflated.count).reduce(0, +) < 150_000)
        #expect(PageDocument.allCases.map(\.compressed.count).reduce(0, +) < 50_000)
        // Neither a name nor a time is in them: the command makes the same of the same files.
        #expect(PageDocument.allCases.allSatisfy { $0.compressed.prefix(8) == [31, 139, 8, 0, 0, 0, 0, 0] })
        let html = String(decoding: PageDocument.page.inflated, as: UTF8.self)
        for word in ["http:", "https:", "<style", "style=", "onclick", "javascript:", "//"] {
            #expect(!html.contains(word), "\(word)")
        }
        let script = String(decoding: PageDocument.script.inflated, as: UTF8.self)
        #expect(script.hasPrefix("\"use strict\";"))
        for word in [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "import(",
        ] {
            #expect(!script.contains(word), "\(word)")
        }
    }

    @Test(
        "It takes the role read, and is never on a port",
        arguments: ["/ui", "/ui/", "/ui/page.js", "/ui/words.json"]
    )
    func roles(path: String) throws {
        _ = try APICall(head(path, ["Host: a"]), role: .read)
        let low = #expect(throws: Problem.self) { try APICall(head(path, ["Host: a"]), role: .submit) }
        #expect(low?.code == .notAllowed)
        let port = #expect(throws: Problem.self) {
            try APICall(head(path, ["Host: a"]), role: .admin, isUnix: false)
        }
        #expect(port?.code == .pathNotFound)
        #expect(throws: Problem.self) { try APICall(head(path, ["Host: a"], method: "POST"), role: .admin) }
    }

    @Test("A served port tells its role, and answers 404 for the page")
    func served() throws {
        let loop = try ServedLoop(role: .operate)
        #expect(try loop.ask("GET", "/v1/version").json["role"]?.text == "operate")
        #expect(try loop.ask("GET", "/ui/").status == "404")
    }
}

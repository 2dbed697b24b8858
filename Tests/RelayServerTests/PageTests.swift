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
        guard case .bytes(let bytes) = answer.body else { return #expect(Bool(false), "no bytes") }
        #expect(!bytes.isEmpty)
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
        var fields = HeaderFields()
        fields.append(.ifNoneMatch, document.tag)
        let answer = document.answer(to: fields)
        #expect(answer.status == 304 && self.fields(answer)["ETag"] == document.tag)
        fields.set(.ifNoneMatch, "\"another\"")
        #expect(document.answer(to: fields).status == 200)
        #expect(PageDocument.allCases.filter { $0.tag == document.tag } == [document])
    }

    @Test("All that is served is smaller than 100 KiB, and holds nothing from elsewhere and nothing inline")
    func size() {
        #expect(PageDocument.allCases.map(\.bytes.count).reduce(0, +) < 102_400)
        let html = String(decoding: PageDocument.page.bytes, as: UTF8.self)
        for word in ["http:", "https:", "<style", "style=", "onclick", "javascript:", "//"] {
            #expect(!html.contains(word), "\(word)")
        }
        let script = String(decoding: PageDocument.script.bytes, as: UTF8.self)
        #expect(script.hasPrefix("\"use strict\";"))
        for word in [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "import(",
        ] {
            #expect(!script.contains(word), "\(word)")
        }
    }

    @Test(
        "A script loses the blanks that part nothing, and no text of it changes",
        arguments: [
            ("// why\nlet a = b + +c;\n\n  f( a , 1 )\n", "let a=b+ +c;f(a,1)\n"),
            ("a = \"b = c // d\\\" e\"  ;\n", "a=\"b = c // d\\\" e\";\n"),
            ("`x = ${ f(`y , ${ z }`) } , w`\n", "`x = ${f(`y , ${z}`)} , w`\n"),
            ("x = /[ /]  \\/ y/ . test(a / b)\n", "x=/[ /]  \\/ y/. test(a/b)\n"),
            ("if (a) return b\nelse c\n", "if(a)return b\nelse c\n"),
            (
                "const f = x =>\n  [x, y,\n];\nif (a) {\n  g();\n}\nh.const = \"const a\";\n",
                "let f=x=>[x,y];if(a){g()}h.const=\"const a\";\n"
            ),
            ("let { a } = b\n\n.c\n", "let{a}=b.c\n"),
            (
                "const a = 1;\n// why\nconst { b } = a;\nlet c;\nf();\nlet d;\n",
                "let a=1,{b}=a,c;f();let d;\n"
            ),
            (
                "for (const a of b) f(a);\nconst c = () => {\n  const d = 1;\n};\nconst e = 2;\n",
                "for(let a of b)f(a);let c=()=>{let d=1},e=2;\n"
            ),
            ("return \"a\" + `b`;\nreturn `c`\n", "return\"a\"+`b`;return`c`\n"),
        ]
    )
    func lean(source: String, lean: String) {
        #expect(String(decoding: LeanScript(Array(source.utf8)).bytes, as: UTF8.self) == lean)
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

import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport
import Testing

@Suite("Where a redirect leads")
struct RedirectTests {
    private static let https = Origin.tcp(host: "one.example", port: 443, isTLS: true)

    private func target(
        _ locations: [String],
        base: String = "/api/x/y?q=1",
        at origin: Origin = RedirectTests.https
    ) -> String? {
        var fields = HeaderFields()
        for location in locations { fields.append("Location", location) }
        let response = HTTPResponse(status: 302, fields: fields)
        return Redirect(response, to: .get, sentTo: base, at: origin)?.target
    }

    @Test(
        "A reference is resolved against the request's own target",
        arguments: [
            ("/z", "/z"), ("z", "/api/x/z"), ("?p=2", "/api/x/y?p=2"), ("", "/api/x/y?q=1"),
            ("#top", "/api/x/y?q=1"), ("z#top", "/api/x/z"), ("z?p#top", "/api/x/z?p"), ("z/", "/api/x/z/"),
            ("./z", "/api/x/z"), (".", "/api/x/"), ("..", "/api/"), ("../z", "/api/z"),
            ("../../../../z", "/z"), ("/../../z", "/z"), ("%2e%2e/z", "/api/z"), ("/a/%2E./b", "/b"),
            ("/a/b/.%2e/.", "/a/"), ("/a//b", "/a//b"), ("z?../..", "/api/x/z?../.."),
            ("https://one.example/z", "/z"), ("HTTPS://One.Example:443/z?p", "/z?p"),
            ("https://one.example", "/"), ("https://one.example?p", "/?p"), ("//one.example/z", "/z"),
            ("//one.example:443", "/"), ("/go?to=https://two.example/", "/go?to=https://two.example/"),
            ("/..//two.example/z", "//two.example/z"), (".//two.example/z", "/api/x//two.example/z"),
        ]
    )
    func resolved(location: String, expected: String) {
        #expect(target([location]) == expected)
    }

    @Test(
        "Another origin, however it is spelled, and what is no reference lead nowhere",
        arguments: [
            "http://one.example/z", "https://two.example/z", "https://one.example:444/z",
            "https://one.example:0443/z", "https://one.example:/z", "//two.example/z", "//", "///z",
            "https:///z", "https://user@one.example/z", "https://:@one.example/z",
            "https://one.example@two.example/", "https://one.example.two.example/", "https://one.example./z",
            "https://one.example%00.two.example/", "https:z", "https:/z", "ftp://one.example/z",
            "javascript:alert(1)", "data:,x", "unix:/run/x", ":z", "https://[::1]/z",
            #"\\two.example\z"#, #"/\two.example/z"#, #"https://one.example\@two.example/"#, "/a b", "/a\tb",
            "/\u{7F}", "/\u{E9}", "/z\u{0}", "/z\r\nX-Injected: 1", "/" + String(repeating: "a", count: 8192),
        ]
    )
    func refused(location: String) {
        #expect(target([location]) == nil)
    }

    @Test(
        "No Location and two of them, equal or not, lead nowhere",
        arguments: [[], ["/z", "/z"], ["/y", "/z"]]
    )
    func oneField(locations: [String]) {
        #expect(target(locations) == nil)
    }

    @Test("The longest reference that is read is 8192 bytes")
    func longest() {
        let path = "/" + String(repeating: "a", count: 8191)
        #expect(target([path]) == path)
    }

    @Test(
        "An address is compared as it is written, brackets and port included",
        arguments: [
            ("http://[::1]:8080/z", "/z"), ("//[::1]:8080/z", "/z"), ("http://[::1]/z", nil),
            ("http://::1:8080/z", nil), ("http://[0:0:0:0:0:0:0:1]:8080/z", nil),
            ("https://[::1]:8080/z", nil), ("http://[::1]:80801/z", nil), ("http://[::1/z", nil),
        ] as [(String, String?)]
    )
    func address(location: String, expected: String?) {
        #expect(target([location], at: .tcp(host: "::1", port: 8080, isTLS: false)) == expected)
    }

    @Test(
        "Behind a Unix socket only a path stays at home",
        arguments: [("/z", "/z"), ("z", "/api/x/z"), ("http://localhost/z", nil), ("//localhost/z", nil)]
            as [(String, String?)]
    )
    func unix(location: String, expected: String?) {
        #expect(target([location], at: .unix(path: "/run/u")) == expected)
    }

    @Test(
        "301, 302 and 303 turn a POST into a GET without content; 307 and 308 repeat the request",
        arguments: [
            (301, .get, .get, true), (301, .post, .get, false), (301, .put, .put, true),
            (302, .head, .head, true), (302, .post, .get, false), (302, .delete, .delete, true),
            (303, .get, .get, false), (303, .head, .head, true), (303, .post, .get, false),
            (303, .put, .get, false), (303, .delete, .get, false), (307, .get, .get, true),
            (307, .post, .post, true), (308, .post, .post, true), (308, .patch, .patch, true),
        ] as [(UInt16, Method, Method, Bool)]
    )
    func methods(status: UInt16, method: Method, expected: Method, keepsBody: Bool) {
        var fields = HeaderFields()
        fields.append("Location", "/z")
        let response = HTTPResponse(status: Status(rawValue: status), fields: fields)
        let redirect = Redirect(response, to: method, sentTo: "/", at: RedirectTests.https)
        #expect(redirect?.method == expected && redirect?.keepsBody == keepsBody)
    }

    @Test(
        "Other statuses are answers, Location or not",
        arguments: [200, 201, 300, 304, 305, 306, 309, 399, 400, 503] as [UInt16]
    )
    func answers(status: UInt16) {
        var fields = HeaderFields()
        fields.append("Location", "/z")
        let response = HTTPResponse(status: Status(rawValue: status), fields: fields)
        #expect(Redirect(response, to: .get, sentTo: "/", at: RedirectTests.https) == nil)
    }
}

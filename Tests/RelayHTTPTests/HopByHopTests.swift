import RelayBase
import RelayHTTP
import Testing

@Suite("Hop-by-hop removal")
struct HopByHopTests {
    private static func names(_ pairs: [(String, String)]) -> [String] {
        var fields = HeaderFields()
        for (name, value) in pairs { fields.append(name, value) }
        return fields.removingHopByHop().pairs.map(\.name)
    }

    @Test("takes away what is meant for one connection and nothing else")
    func removesKnown() {
        let kept = Self.names([
            ("Host", "h"), ("Connection", "close"), ("KEEP-ALIVE", "5"), ("Proxy-Connection", "x"),
            ("Proxy-Authenticate", "Basic"), ("Proxy-Authorization", "Basic x"), ("te", "trailers"),
            ("Trailer", "A"), ("Transfer-Encoding", "chunked"), ("Upgrade", "h2c"), ("Upgraded", "kept"),
            ("X-Upgrade", "kept"), ("Proxy-Status", "kept"), ("ta", "kept"), ("Content-Length", "5"),
        ])
        #expect(kept == ["Host", "Upgraded", "X-Upgrade", "Proxy-Status", "ta", "Content-Length"])
    }

    @Test("takes away what Connection lists, in every Connection field")
    func removesListed() {
        let kept = Self.names([
            ("X-One", "1"), ("Connection", " x-one ,, X-TWO"), ("x-two", "2"), ("x-three", "3"),
            ("X-On", "kept"),
            ("connection", "X-Three"), ("x-ONE", "again"),
        ])
        #expect(kept == ["X-On"])
    }

    @Test("leaves end-to-end fields alone though Connection lists them")
    func keepsEndToEnd() {
        let kept = Self.names([
            (
                "Connection",
                "host, content-length, authorization, cookie, idempotency-key, x-forwarded-for, via"
            ),
            ("Host", "h"), ("Content-Length", "5"), ("Authorization", "a"), ("Cookie", "c"),
            ("Idempotency-Key", "k"),
            ("X-Forwarded-For", "f"), ("Via", "v"),
        ])
        #expect(
            kept == [
                "Host", "Content-Length", "Authorization", "Cookie", "Idempotency-Key", "X-Forwarded-For",
                "Via",
            ]
        )
    }

    @Test("keeps everything where there is nothing to take")
    func keepsAll() {
        #expect(Self.names([("A", "1"), ("B", "2")]) == ["A", "B"])
        #expect(Self.names([]).isEmpty)
    }
}

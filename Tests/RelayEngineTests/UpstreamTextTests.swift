import Testing

@testable import RelayEngine

@Suite("An upstream's own words are shown without what may be a secret")
struct QuotationTests {
    @Test(
        "Left out",
        arguments: [
            ("Unknown card 4111111111111111", "Unknown card ***"),
            ("Unknown card 4111 1111 1111 1111.", "Unknown card *** *** *** ***."),
            ("IBAN DE89 3704 0044 0532 0130 00 is wrong", "IBAN *** *** *** *** *** *** is wrong"),
            ("no client abcd1234", "no client ***"),
            ("no client QWxhZGRpbjpvcGVu", "no client ***"),
            ("no client dGVzdA==xYz", "no client ***"),
            ("no client deadbeef", "no client ***"),
            ("no client DEADBEEF", "no client ***"),
            ("no client JBSWYDPEHPKPXPQR", "no client ***"),
            ("no client ghp_abcdEFGHijkl", "no client ***"),
            ("no client ab12:cd34:ef56", "no client ***"),
            ("(sk_live_51Habc)", "(***)"),
            ("no user jane@example.org here", "no user *** here"),
            ("no user j@x", "no user ***"),
            ("see https://login.example/reset/abc", "see ***"),
            ("the password is swordfish", "the password is ***"),
            ("Invalid password: swordfish", "Invalid password: ***"),
            (
                "Invalid passphrase \"correct horse battery\" given",
                "Invalid passphrase \"*** *** ***\" given"
            ),
            ("correct-horse-battery-staple", "***"),
            ("api_key=ab1 is bad", "*** is bad"),
            ("api_key = ab1 is bad", "api_key = *** is bad"),
            ("Authorization: Bearer abc", "Authorization: Bearer ***"),
            ("PIN 1234 is wrong", "PIN *** is wrong"),
            ("Tokens x1, y2 expired", "Tokens ***, *** expired"),
            ("pass\u{200B}word Tr0ub4dor&3 is wrong", "password *** is wrong"),
            ("key=ab1 is bad", "*** is bad"),
        ]
    )
    func masked(title: String, shown: String) { #expect(UpstreamText.text(title) == shown) }

    @Test(
        "Shown",
        arguments: [
            "The card was declined.", "Insufficient funds", "Rate limit exceeded: try again in 30 seconds",
            "The token has expired", "Token is invalid", "Bearer token required", "Invalid API key.",
            "Duplicate key violates unique constraint", "user_id is missing",
            "Self-service isn't allowed here",
            "the upstream's database is read-only", "Please send at most 100 items (you sent 250)",
            "HTTP/2 is not supported", "ORDER REJECTED", "Der Schlüssel wurde gesperrt", "口座番号が正しくありません",
            "Customer 17: no such order", "don't", "",
        ]
    )
    func plain(title: String) { #expect(UpstreamText.text(title) == title) }

    @Test("A title is quoted whatever it is made of")
    func anything() {
        var entropy = SystemRandomNumberGenerator()
        let alphabet = Array("ab1 ::=@'\"-.,token\u{301}é口\u{0} \n")
        for _ in 0..<2_000 {
            let title = String(
                (0..<Int.random(in: 0...40, using: &entropy)).compactMap { _ in alphabet.randomElement() }
            )
            let shown = UpstreamText.text(title)
            #expect(
                !shown.contains(where: \.isNewline) && UpstreamText.text(shown).count <= 202,
                "\(title.debugDescription)"
            )
        }
    }

    @Test("One line, cut between words")
    func cut() {
        #expect(UpstreamText.text(" two\r\n lines\u{7}\u{202E} ") == "two lines")
        let long = UpstreamText.text(String(repeating: "again and ", count: 50))
        #expect(long.count <= 202 && long.hasSuffix("and …"))
    }
}

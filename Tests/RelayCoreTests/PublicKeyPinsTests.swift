import RelayBase
import RelayRoute
import RelayTestSupport
import Testing

@Suite("Pinned keys")
struct PublicKeyPinsTests {
    private static let mine = [UInt8](repeating: 1, count: 32)
    private static let backup = [UInt8](repeating: 2, count: 32)
    private static let foreign = [UInt8](repeating: 3, count: 32)

    @Test(
        "Pins are for their own host, and for those below it where they say so, by whole labels",
        .clauses("T-90", "T-91", "T-94", "X-14"),
        arguments: [
            ("apple.com", "apple.com", true, true), ("apple.com", "www.apple.com", false, true),
            ("apple.com", "a.b.apple.com", false, true),
            ("apple.com", "notapple.com", false, false), ("apple.com", "not-apple.com", false, false),
            ("apple.com", "apple.com.evil.net", false, false),
            ("apple.com", "www.apple.com.evil.net", false, false), ("apple.com", "apple.co", false, false),
            ("apple.com", "com", false, false), ("apple.com", "xapple.com.", false, false),
            ("apple.com", "", false, false), ("www.apple.com", "apple.com", false, false),
            ("www.apple.com", "mail.apple.com", false, false),
            ("apple.com", "APPLE.com", true, true), ("Apple.COM", "www.aPPle.com", false, true),
            ("apple.com", "apple.com.", true, true), ("apple.com.", "www.apple.com", false, true),
            ("localhost", "localhost", true, true), ("127.0.0.1", "127.0.0.1", true, true),
            ("0.0.1", "127.0.0.1", false, false), ("0.0.1", "::ffff:127.0.0.1", false, false),
            ("::1", "::1", true, true), ("1", "::1", false, false), ("fe80::A", "FE80::a", true, true),
        ]
    )
    func hosts(pinned: String, asked: String, alone: Bool, withSubdomains: Bool) {
        var pins = PublicKeyPins(keys: [Self.mine, Self.backup], host: pinned)
        #expect(pins.applies(to: asked) == alone)
        pins.includesSubdomains = true
        #expect(pins.applies(to: asked) == withSubdomains)
        let verdict = pins.verdict(host: asked, chain: [Self.foreign], wallSeconds: 0)
        #expect(verdict == (withSubdomains ? .block : .notPinned))
    }

    @Test("Pins without a host are for every host", arguments: ["apple.com", "127.0.0.1", "::1"])
    func everyHost(asked: String) {
        let pins = PublicKeyPins(keys: [Self.mine, Self.backup])
        #expect(pins.verdict(host: asked, chain: [Self.foreign], wallSeconds: 0) == .block)
    }

    @Test(
        "One pinned key anywhere in the chain is enough; none is refused, or reported where that is all",
        .clauses("T-93", "T-97"),
        arguments: [
            ([mine], true), ([foreign, mine], true), ([foreign, foreign, backup], true),
            ([backup, mine], true),
            ([foreign], false), ([], false), ([[]], false), ([Array(mine.dropLast())], false),
            ([mine + [1]], false),
        ]
    )
    func chains(chain: [[UInt8]], matches: Bool) {
        var pins = PublicKeyPins(keys: [Self.mine, Self.backup], host: "apple.com")
        #expect(pins.verdict(host: "apple.com", chain: chain, wallSeconds: 0) == (matches ? .allow : .block))
        pins.isEnforced = false
        #expect(pins.verdict(host: "apple.com", chain: chain, wallSeconds: 0) == (matches ? .allow : .report))
    }

    @Test(
        "Keys that are no digests match nothing",
        arguments: [[], [[]], [[1]], [[UInt8](repeating: 1, count: 33)]]
    )
    func brokenKeys(keys: [[UInt8]]) {
        let pins = PublicKeyPins(keys: keys)
        #expect(pins.verdict(host: "apple.com", chain: keys + [[]], wallSeconds: 0) == .block)
    }

    @Test(
        "Pins count until their second, and from then on no more",
        .clauses("T-92"),
        arguments: [
            (1_000, 999, true), (1_000, 1_000, false), (1_000, .max, false), (0, 0, false), (0, -1, true),
            (nil, .max, true), (nil, 0, true),
        ] as [(Int64?, Int64, Bool)]
    )
    func expiry(until: Int64?, now: Int64, counts: Bool) {
        var pins = PublicKeyPins(keys: [Self.mine, Self.backup], host: "apple.com")
        pins.until = until
        let verdict = pins.verdict(host: "apple.com", chain: [Self.foreign], wallSeconds: now)
        #expect(verdict == (counts ? .block : .notPinned))
        let own = pins.verdict(host: "apple.com", chain: [Self.mine], wallSeconds: now)
        #expect(own == (counts ? .allow : .notPinned))
    }

    @Test("Digests are taken as openssl prints them")
    func base64() throws {
        let text = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
        let pins = try PublicKeyPins(base64: [text], host: "bank.example")
        #expect(pins.keys == [[UInt8](repeating: 1, count: 32)] && pins.host == "bank.example")
    }

    @Test(
        "A text that is no digest is refused by its place, with what to write",
        arguments: [
            ("", nil), ("AQ==", nil), ("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE", nil),
            ("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQF=", nil),
            ("sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=", "slashes"),
            (String(repeating: "01", count: 32), "hexadecimal"),
        ] as [(String, String?)]
    )
    func malformed(text: String, hint: String?) {
        let good = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
        let refused = #expect(throws: Refusal.self) { try PublicKeyPins(base64: [good, text]) }
        #expect(refused?.message.contains("digest 2 of 2") == true)
        #expect(hint.map { refused?.hint?.contains($0) == true } ?? (refused?.hint == nil))
    }
}

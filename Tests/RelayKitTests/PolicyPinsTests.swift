import RelayKit
import RelayTestSupport
import Testing

@Suite("Pins of a policy")
struct PolicyPinsTests {
    private static let one = [UInt8](repeating: 1, count: 32)
    private static let two = [UInt8](repeating: 2, count: 32)

    private func refusal(_ url: String, _ pins: PublicKeyPins) -> Refusal? {
        var tls = TLSSettings()
        tls.pins = pins
        do {
            let pinned = try Upstream(url, name: "pinned", use: .failoverOnly, tls: tls)
            return RelayKitTests.refusal { $0.upstreams.append(pinned) }
        } catch { return error }
    }

    @Test("Whole keys, two of them, for an https upstream of the policy are taken")
    func taken() {
        for host in [nil, "bank.example", "BANK.example.", "one.example"] {
            let pins = PublicKeyPins(keys: [Self.one, Self.two], host: host)
            #expect(refusal("https://bank.example/", pins) == nil)
        }
        var below = PublicKeyPins(keys: [Self.one, Self.two], host: "example")
        #expect(refusal("https://bank.example/", below) != nil)
        below.includesSubdomains = true
        #expect(refusal("https://bank.example/", below) == nil)
    }

    @Test(
        "Keys that are no digests, or too few of them, are refused",
        arguments: [
            ([], "no key"), ([one], "second key"), ([one, one], "second key"),
            ([one, []], "32 bytes"), ([one, [1]], "32 bytes"), ([one, two, one + [0]], "32 bytes"),
        ] as [([[UInt8]], String)]
    )
    func keys(keys: [[UInt8]], reason: String) {
        var pins = PublicKeyPins(keys: keys)
        let refused = refusal("https://bank.example/", pins)
        #expect(refused?.message.contains(reason) == true && refused?.message.contains("\"pinned\"") == true)
        pins.isEnforced = false
        #expect((refusal("https://bank.example/", pins) == nil) == (reason == "second key"))
    }

    @Test("Pins for an upstream without TLS, and for a host that is none of the policy's, are refused")
    func places() {
        let pins = PublicKeyPins(keys: [Self.one, Self.two])
        #expect(refusal("http://bank.example/", pins)?.message.contains("not https") == true)
        let other = PublicKeyPins(keys: [Self.one, Self.two], host: "bnak.example")
        let refused = refusal("https://bank.example/", other)
        #expect(refused?.message.contains("\"bnak.example\"") == true)
        #expect(refused?.hint == "did you mean \"bank.example\"?")
    }
}

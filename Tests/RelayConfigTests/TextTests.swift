import RelayBase
import RelayConfig
import RelayRoute
import Testing

@Suite("Quantities, addresses and words as text")
struct TextTests {
    @Test(
        "A duration is whole numbers with units, from large to small",
        arguments: [
            ("250ms", Duration.milliseconds(250), "250ms"), ("1h30m", .seconds(5400), "1h30m"),
            ("3d", .seconds(259_200), "3d"), ("90s", .seconds(90), "1m30s"), ("0s", .zero, "0s"),
            ("1d1h1m1s1ms", .milliseconds(90_061_001), "1d1h1m1s1ms"),
            ("1500ms", .milliseconds(1500), "1s500ms"), ("1m30s5ms", .milliseconds(90_005), "1m30s5ms"),
        ]
    )
    func durations(_ text: String, _ duration: Duration, _ shortest: String) {
        #expect(DurationText.parse(text) == duration)
        #expect(DurationText.text(duration) == shortest)
        #expect(DurationText.parse(shortest) == duration)
    }

    @Test(
        "Anything else is no duration",
        arguments: [
            "", "10", "s", "1.5s", "-1s", "+1s", "1 s", " 1s", "1s ", "1S", "1s1h", "1s1s", "1us", "1min",
            "1h30", "1s1m", "1y", "1µs", "99999999999999999999s",
            "٣s", "99999999999999d", "999999999999d", "10001d", "1e3s",
        ]
    )
    func noDurations(_ text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(
        "A size is a whole number with a binary unit",
        arguments: [
            ("0B", 0, "0B"), ("512B", 512, "512B"), ("256KiB", 262_144, "256KiB"),
            ("1024KiB", 1 << 20, "1MiB"),
            ("2GiB", 2 << 30, "2GiB"), ("1025B", 1025, "1025B"),
        ]
    )
    func sizes(_ text: String, _ bytes: Int, _ shortest: String) {
        #expect(SizeText.parse(text) == bytes)
        #expect(SizeText.text(bytes) == shortest)
    }

    @Test(
        "Anything else is no size",
        arguments: [
            "", "1", "MiB", "1MB", "1mib", "1.5MiB", "-1B", "1 MiB", "999999999999999GiB",
            "9999999999999999B",
        ]
    )
    func noSizes(_ text: String) {
        #expect(SizeText.parse(text) == nil)
    }

    @Test(
        "An address has one meaning",
        arguments: [
            ("192.0.2.1", [192, 0, 2, 1]), ("0.0.0.0", [0, 0, 0, 0]),
            ("::", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            ("::1", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
            ("1::", [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            ("2001:DB8::a:0", [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0]),
            ("::ffff:192.0.2.1", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1]),
            ("1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]),
            ("1:2:3:4:5:6:7::", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0]),
            ("::2:3:4:5:6:7:8", [0, 0, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]),
        ] as [(String, [UInt8])]
    )
    func addresses(_ text: String, _ bytes: [UInt8]) {
        #expect(AddressText.parse(text) == bytes)
    }

    @Test(
        "Anything else is no address",
        arguments: [
            "", ".", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", "+1.2.3.4", "0x1.2.3.4", ":",
            ":::",
            "1:2", "::1::", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8::", "::12345", "::g",
            "::1%lo",
            ":1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:", "1.2.3.4::", "::1.2.3", "[::1]",
        ]
    )
    func noAddresses(_ text: String) {
        #expect(AddressText.parse(text) == nil)
    }

    @Test(
        "A suggestion is near and the nearest",
        arguments: [
            ("max_atempts", "max_attempts"), ("max-attempts", "max_attempts"),
            ("MAX_ATTEMPTS", "max_attempts"),
            ("recieve", "receive"), ("on", "on"), ("zzz", nil), ("xx", nil), ("completely_other", nil),
            ("", nil),
            (String(repeating: "max_attempts", count: 100), nil),
        ] as [(String, String?)]
    )
    func nearest(_ word: String, _ expected: String?) {
        #expect(nearestWord(to: word, among: ["receive", "max_attempts", "max_interval", "on"]) == expected)
    }

    @Test(
        "A moment is written in one way",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T23:59:59Z", 951_868_799),
            ("2000-03-01T00:00:00Z", 951_868_800), ("2027-06-01T00:00:00Z", 1_811_808_000),
            ("2100-03-01T00:00:00Z", 4_107_542_400), ("9999-12-31T23:59:59Z", 253_402_300_799),
            ("2100-02-29T00:00:00Z", nil), ("2027-00-01T00:00:00Z", nil), ("2027-13-01T00:00:00Z", nil),
            ("2027-06-31T00:00:00Z", nil), ("2027-06-00T00:00:00Z", nil), ("2027-06-01T24:00:00Z", nil),
            ("2027-06-01T00:00:60Z", nil), ("2027-06-01 00:00:00Z", nil), ("2027-06-01T00:00:00z", nil),
            ("1969-12-31T23:59:59Z", nil), ("0000-01-01T00:00:00Z", nil), ("2027-06-01T00:00:0:Z", nil),
            ("2027-06-01T00:00:00", nil), ("\u{FF12}027-06-01T00:00Z", nil), ("", nil),
        ] as [(String, Int64?)]
    )
    func moments(text: String, seconds: Int64?) {
        #expect(UTCTime.seconds(parsing: text) == seconds)
    }

    @Test("Every day from 1970 to 2400 is read as it is written")
    func everyDay() {
        for day in 0..<157_000 as Range<Int64> {
            #expect(UTCTime.seconds(parsing: UTCTime.format(seconds: day * 86_400)) == day * 86_400)
        }
    }

    @Test(
        "Base64 has one form",
        arguments: [
            ("", []), ("Zg==", [0x66]), ("Zm8=", [0x66, 0x6F]), ("Zm9v", [0x66, 0x6F, 0x6F]),
            ("+/+/", [0xFB, 0xFF, 0xBF]), ("Zh==", nil), ("Zm9=", nil), ("Zg=", nil), ("Zg", nil),
            ("=", nil), ("====", nil), ("Z===", nil), ("Zg==Zg==", nil), ("-_-_", nil), ("Zm 9", nil),
        ] as [(String, [UInt8]?)]
    )
    func canonicalBase64(text: String, bytes: [UInt8]?) {
        #expect(Base64.decode(text) == bytes)
    }
}

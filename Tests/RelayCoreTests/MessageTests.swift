import RelayBase
import RelayRoute
import Testing

@Suite("Parts of messages")
struct MessageTests {
    @Test("Field names are compared without case, values are kept as they are")
    func fields() {
        var fields = HeaderFields()
        let appended = [("X-One", "a"), ("x-one", "b"), ("Y", "")].map { fields.append($0.0, $0.1) }
        #expect(appended == [true, true, true])
        let name = FieldName("X-ONE")
        #expect(name.map { fields.values($0) } == ["a", "b"])
        fields.set("x-One", "c")
        #expect(fields.pairs.map { "\($0.name)=\($0.value)" } == ["Y=", "x-One=c"])
    }

    @Test(
        "A name that is no token or a value with a control byte is refused",
        arguments: [
            ("", "v"), ("a b", "v"), ("a:", "v"), ("a", "x\r\ny"), ("a", "x\ny"), ("a", "\0"),
            ("a", "\u{7F}"), ("é", "v"),
        ]
    )
    func refusedFields(name: String, value: String) {
        var fields = HeaderFields()
        let isTaken = fields.append(name, value) || fields.set(name, value)
        #expect(!isTaken && fields.isEmpty)
    }

    @Test("A job id is 26 characters that sort as the ids do")
    func jobID() {
        let id = JobID(milliseconds: 0x0123_4567_89AB, random: (0xFFFF_FFFF_FFFF_CDEF, 0x0123_4567_89AB_CDEF))
        #expect(id.description == "014D2PF2DBSQQG28T5CY4TQKFF")
        #expect(JobID(milliseconds: 0, random: (0, 0)).description == String(repeating: "0", count: 26))
        #expect(
            JobID(milliseconds: 5, random: (.max, .max)).description
                < JobID(milliseconds: 6, random: (0, 0)).description
        )
    }

    @Test(
        "An address range holds its addresses and no others",
        arguments: [
            ([10, 0, 0, 0], 8, [10, 255, 0, 1], true), ([10, 0, 0, 0], 8, [11, 0, 0, 1], false),
            ([192, 168, 4, 0], 22, [192, 168, 7, 255], true),
            ([192, 168, 4, 0], 22, [192, 168, 8, 0], false),
            ([0, 0, 0, 0], 0, [1, 2, 3, 4], true), ([127, 0, 0, 1], 32, [127, 0, 0, 1], true),
            ([127, 0, 0, 1], 32, [127, 0, 0, 2], false),
        ] as [([UInt8], Int, [UInt8], Bool)]
    )
    func ranges(network: [UInt8], prefix: Int, address: [UInt8], isInside: Bool) {
        #expect(AddressRange(network: network, prefix: prefix)?.contains(address) == isInside)
        #expect(AddressRange(network: network, prefix: prefix)?.contains([1]) == false)
    }

    @Test("Templates know their placeholders", arguments: ["{nope}", "{now", "a{}b"])
    func templates(text: String) {
        #expect(throws: TemplateError.self) { try FieldTemplate(parsing: text) }
        #expect(
            (try? FieldTemplate(parsing: "a{job.id}-{attempt}"))?.parts
                == [.text("a"), .jobID, .text("-"), .attempt]
        )
    }

    @Test("Base 64 and form encoding follow their standards")
    func encodings() {
        #expect(
            ["", "f", "fo", "foo", "foob"].map { base64(Array($0.utf8)) } == [
                "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==",
            ]
        )
        #expect(formEncoded("a b+c&d/é*-._~") == "a+b%2Bc%26d%2F%C3%A9*-._%7E")
    }

    @Test("Words of on are statuses, classes, groups or kinds, and no other numbers")
    func tokens() {
        #expect(FailureMatcher.token("503") == .status(503))
        #expect(FailureMatcher.token("5xx") == .statusClass(.serverError))
        #expect(FailureMatcher.token("timeout") == .group(.timeout))
        #expect(FailureMatcher.token("busy") == .kind("busy"))
        for word in ["99", "600", "5", "70000", "5x"] { #expect(FailureMatcher.token(word) == nil) }
    }

    @Test("Instants and durations saturate instead of trapping")
    func instants() {
        let far = Instant(nanoseconds: .max)
        #expect(far.advanced(by: .seconds(1)) == far)
        #expect(Instant(nanoseconds: 0).advanced(by: .seconds(Int64.max)) == far)
        #expect(Duration.seconds(Int64.min).saturatedNanoseconds == .min)
    }
}

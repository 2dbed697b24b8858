import RelayJSON
import Testing

/// Texts that must be refused, with the reason the reader has to give.
enum RejectedTexts {
    struct Row: Sendable, CustomTestStringConvertible {
        var code: JSONError.Code
        var text: [UInt8]

        var testDescription: String { "\(code): \(String(decoding: text, as: UTF8.self))" }
    }

    static let all: [Row] =
        texts.flatMap { code, texts in texts.map { Row(code: code, text: Array($0.utf8)) } }
        + invalidUTF8.map { Row(code: .invalidUTF8, text: [0x22] + $0 + [0x22]) }
        + [
            Row(code: .byteOrderMark, text: [0xEF, 0xBB, 0xBF]),
            Row(code: .byteOrderMark, text: [0xEF, 0xBB, 0xBF, 0x5B, 0x5D]),
            Row(code: .tooDeep, text: Array(repeating: UInt8(ascii: "["), count: 100_000)),
            Row(
                code: .tooDeep,
                text: Array(repeating: 0x5B, count: 65) + Array(repeating: 0x5D, count: 65)
            ),
        ]

    private static let texts: [(JSONError.Code, [String])] = [
        (
            .unexpectedEnd,
            [
                "", "  ", "\n", "[", "{", "[1", "[1,", "[1, ", "{\"a\"", "{\"a\":", "{\"a\":1",
                "{\"a\":1,", "\"", "\"a", "[\"a", "[\"a\",", "{\"", "{\"a\":\"", "[[", "[[]", "{\"a\":{",
                "{\"a\":[1,2", "[{},", #""\""#, "\"é",
            ]
        ),
        (
            .unexpectedByte,
            [
                "a", "nul", "Null", "NULL", "tru", "True", "truE", "fals", "NaN", "Infinity",
                "undefined", "+1", ".5", "[+1]", "[.5]", "[,]", "[,1]", "[1,,2]", "[1 2]", "[1;2]",
                "[\"a\" \"b\"]", "[nulll]", "[truefalse]", "['a']", "[\"a\":1]", "[1}", "{1:2}", "{a:1}",
                "{'a':1}", "{null:1}", "{[]:1}", "{{}:1}", "{,}", "{,\"a\":1}", "{\"a\"}", "{\"a\",1}",
                "{\"a\" 1}", "{\"a\"=1}", "{\"a\"::1}", "{\"a\":}", "{\"a\":1 \"b\":2}", "{\"a\":1]",
                "{\"a\":1:2}", "{\"a\":1,,\"b\":2}", "{\"a\":1,b:2}", "]", "}", ",", ":", "[*]",
                "[/*x*/1]", "//x\n1", "#x\n1", "(1)", #"[\n]"#, "[0x1F]", "[1_000]", "[1a]", "[1.2.3]",
                "[1-2]", "[1 000]", "\u{B}1", "\u{A0}1",
            ]
        ),
        (
            .trailingComma,
            [
                "[1,]", "[1, ]", "[1,2,\n]", "{\"a\":1,}", "{\"a\":1, }", "[[],]", "{\"a\":[],}", "[1,}",
                "{\"a\":1,]",
            ]
        ),
        (
            .trailingContent,
            [
                "1 2", "[]]", "{}}", "[]x", "[][]", "{}{}", "null null", "\"a\"\"b\"", "1,2", "[],",
                "\"a\"b", "0x0", "[]\u{0}",
            ]
        ),
        (
            .invalidNumber,
            [
                "-", "[-]", "[-a]", "[--1]", "[-.5]", "[- 1]", "00", "01", "[-01]", "[1.]", "[1.e1]",
                "[-1.]", "[1e]", "[1E]", "[1e+]", "[1e-]", "[1ee1]", "[1e++1]", "[1.5e]", "[-Infinity]",
                "[0.]", "[0e]",
            ]
        ),
        (
            .controlCharacter,
            [
                "\"\n\"", "\"\t\"", "\"\r\"", "\"\u{0}\"", "\"\u{1F}\"", "[\"a\nb\"]", "{\"a\tb\":1}",
            ]
        ),
        (
            .invalidEscape,
            [
                #""\a""#, #""\x41""#, #""\0""#, #""\'""#, #""\U0041""#, #""\u""#, #""\u12""#,
                #""\u123""#, #""\u123g""#, #""\u +12""#, #""\ud83d\u00""#, #"{"\q":1}"#,
            ]
        ),
        (
            .loneSurrogate,
            [
                #""\ud800""#, #""\udc00""#, #""\udfff\ud800""#, #""\ud800\ud800""#, #""\ud800x""#,
                #""\ud800\n""#, #""\ud800\u0041""#, #"{"\ud800":1}"#,
            ]
        ),
        (
            .duplicateName,
            [
                "{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":2,\"a\":3}", #"{"a":1,"\u0061":2}"#,
                "{\"\":1,\"\":2}", "[{\"b\":{\"a\":1,\"a\":2}}]",
            ]
        ),
    ]

    /// Contents of a string: stray and missing continuations, overlong forms, surrogates, beyond U+10FFFF.
    private static let invalidUTF8: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
        [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xEF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
        [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
        [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xC3, 0x28],
    ]
}

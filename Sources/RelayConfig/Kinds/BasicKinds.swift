import RelayBase
import RelayJSON

extension ValueKind where Value == Bool {
    static var boolean: ValueKind {
        ValueKind(.boolean) { node, _, reading in
            guard case .bool(let value) = node.content else {
                reading.refuse(node, expected: .boolean)
                return nil
            }
            return value
        }.writing { .bool($0) }
    }
}

extension ValueKind where Value == Int {
    static func integer(_ range: ClosedRange<Int>) -> ValueKind {
        ValueKind(.integer(range)) { node, _, reading in
            guard case .number(let number) = node.content, let value = number.int64,
                let value = Int(exactly: value),
                range.contains(value)
            else {
                reading.refuse(node, expected: .integer(range))
                return nil
            }
            return value
        }.writing { .number(JSONNumber($0)) }
    }

    /// A number of bytes, written with a unit.
    static func size(_ range: ClosedRange<Int>) -> ValueKind {
        let limits = "from \(SizeText.text(range.lowerBound)) to \(SizeText.text(range.upperBound))"
        let shape = Shape.text(
            TextShape("a size \(limits), such as \"16MiB\"", pattern: "^[0-9]+(B|KiB|MiB|GiB)$")
        )
        return ValueKind(shape) { node, _, reading in
            if case .number(let number) = node.content {
                let hint = number.int64.map { value in
                    let text = value >= 1024 ? SizeText.text(Int(value)) : "\(value)B\" or \"\(value)MiB"
                    return "write \"\(text)\""
                }
                reading.error("a size needs a unit", at: node.range, hint: hint)
                return nil
            }
            guard let value = node.text.flatMap(SizeText.parse) else {
                reading.error(
                    "expected \(shape.what)",
                    at: node.range,
                    hint: "the units are B, KiB, MiB and GiB"
                )
                return nil
            }
            guard range.contains(value) else {
                reading.refuse(node, expected: shape)
                return nil
            }
            return value
        }.writing { .string(SizeText.text($0)) }
    }
}

extension ValueKind where Value == Double {
    static func number(_ range: ClosedRange<Double>) -> ValueKind {
        ValueKind(.number(range)) { node, _, reading in
            guard case .number(let number) = node.content, let value = number.double, range.contains(value)
            else {
                reading.refuse(node, expected: .number(range))
                return nil
            }
            return value
        }.writing { .number(JSONNumber(text: "\($0)")) }
    }
}

extension ValueKind where Value == Duration {
    /// A time, written with units.
    static func duration(_ range: ClosedRange<Duration>) -> ValueKind {
        let limits = "from \(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
        let shape = Shape.text(
            TextShape(
                "a duration \(limits), such as \"250ms\" or \"1h30m\"",
                pattern: "^(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$"
            )
        )
        return ValueKind(shape) { node, _, reading in
            if case .number(let number) = node.content {
                let hint = number.int64.map { "write \"\($0)s\" or \"\($0)ms\"" }
                reading.error("a duration needs a unit", at: node.range, hint: hint)
                return nil
            }
            guard let value = node.text.flatMap(DurationText.parse) else {
                reading.error(
                    "expected \(shape.what)",
                    at: node.range,
                    hint: "whole numbers with d, h, m, s and ms, in this order"
                )
                return nil
            }
            guard range.contains(value) else {
                reading.refuse(node, expected: shape)
                return nil
            }
            return value
        }.writing { .string(DurationText.text($0)) }
    }
}

extension ValueKind where Value == String {
    /// Any text up to a length in bytes, without controls; line breaks and tabs only where `isBody`.
    static func string(upTo limit: Int = 1024, isBody: Bool = false, mayBeEmpty: Bool = true) -> ValueKind {
        .text("a string", pattern: mayBeEmpty ? nil : ".") { text throws(Refusal) in
            guard mayBeEmpty || !text.isEmpty else { throw Refusal("the text is empty") }
            guard text.utf8.count <= limit else { throw Refusal("longer than \(limit) bytes") }
            let isPlain = text.utf8.allSatisfy { byte in
                byte >= 0x20 && byte != 0x7F || isBody && [0x09, 0x0A, 0x0D].contains(byte)
            }
            guard isPlain else {
                throw Refusal("control characters may not stand here")
            }
            return text
        }.writing { .string($0) }
    }

    /// A name that stands in pointers, logs and paths.
    static var name: ValueKind {
        .text("a name of lower-case letters, digits, \".\", \"_\" and \"-\"", pattern: namePattern) {
            text throws(Refusal) in try checkName(text)
        }
    }

    static let namePattern = "^[a-z0-9][a-z0-9._-]{0,63}$"

    /// - Throws: when `text` does not match `namePattern`.
    static func checkName(_ text: String) throws(Refusal) -> String {
        let bytes = Array(text.utf8)
        let isName = bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        let beginsWell = bytes.first.map {
            ![UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-")].contains($0)
        }
        guard isName, beginsWell == true else {
            throw Refusal(
                "a name has only lower-case letters, digits, \".\", \"_\" and \"-\", and begins with one of the first two"
            )
        }
        guard bytes.count <= 64 else { throw Refusal("a name has at most 64 characters") }
        return text
    }
}

extension ValueKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of an enumeration's words; `reserved` ones belong to a later version.
    static func word(reserved: [String] = [], meant: [String: String] = [:]) -> ValueKind {
        let words = Value.allCases.map(\.rawValue)
        return ValueKind(.word(words)) { node, _, reading in
            guard let value = node.text.flatMap(Value.init(rawValue:)) else {
                reading.refuse(node, words: words, reserved: reserved, meant: meant)
                return nil
            }
            return value
        }.writing { .string($0.rawValue) }
    }
}

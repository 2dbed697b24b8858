import RelayBase
import RelayJSON
import RelayRoute

/// Fields that carry credentials; those belong under `auth`, where they are bound to an origin.
private let credentialFields: Set<String> = ["authorization", "proxy-authorization", "cookie"]

/// The use of a configured field, on which it depends what the field may be.
enum FieldUse {
    case set
    case remove
    case credential
    case answer
}

/// - Throws: when `name` is no field name or may not be used so.
func checkFieldName(_ name: String, for use: FieldUse) throws(Refusal) -> FieldName {
    let field = try FieldName(setting: name)
    if use == .set, credentialFields.contains(field.lowercasedText) {
        throw Refusal("a credential may not stand here", hint: "use \"auth\" and a secret reference")
    }
    return field
}

extension ValueKind where Value == String {
    static func fieldName(_ use: FieldUse) -> ValueKind {
        .text("a header name", pattern: fieldNamePattern) { text throws(Refusal) in
            _ = try checkFieldName(text, for: use)
            return text
        }.writing { .string($0) }
    }

    static let fieldNamePattern = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"

    static var fieldValue: ValueKind {
        .text("a header value") { text throws(Refusal) in
            guard text.utf8.count <= 8192, text.utf8.allSatisfy(isFieldValueByte), text.first != " ",
                text.last != " "
            else { throw Refusal("not a valid header value: controls and outer spaces may not stand in it") }
            return text
        }.writing { .string($0) }
    }

    static var mediaType: ValueKind {
        .text("a media type such as \"application/json\"") { text throws(Refusal) in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isTokenByte) })
            else {
                throw Refusal(
                    "expected a media type such as \"application/json\"",
                    hint: "leave parameters out"
                )
            }
            return text.lowercased()
        }
    }
}

extension ValueKind where Value == [(name: String, value: String)] {
    static func fields(_ use: FieldUse) -> ValueKind {
        .map(
            .fieldValue,
            name: "header names",
            pattern: ValueKind<String>.fieldNamePattern,
            isSensitive: true,
            ignoresCase: true
        ) { name throws(Refusal) in _ = try checkFieldName(name, for: use) }
    }
}

extension ValueKind where Value == FieldName {
    static func field(_ use: FieldUse) -> ValueKind {
        .text("a header name", pattern: ValueKind<String>.fieldNamePattern) { text throws(Refusal) in
            try checkFieldName(text, for: use)
        }
    }
}

extension ValueKind where Value == FieldTemplate {
    static var template: ValueKind {
        let names = FieldTemplate.placeholders.map { "{\($0)}" }.joined(separator: ", ")
        return .text("a header value that may hold \(names)") { text throws(Refusal) in
            guard text.utf8.count <= 8192, text.utf8.allSatisfy(isFieldValueByte) else {
                throw Refusal("not a valid header value")
            }
            do throws(TemplateError) {
                return try FieldTemplate(parsing: text)
            } catch {
                let nearest = nearestWord(to: error.placeholder, among: FieldTemplate.placeholders)
                throw Refusal(
                    "not a placeholder: the placeholders are \(names)",
                    hint: nearest.map { "did you mean {\($0)}?" }
                )
            }
        }
    }
}

extension ValueKind where Value == Status {
    static var status: ValueKind {
        ValueKind<Int>.integer(200...599).map({ Status(rawValue: UInt16($0)) }, back: { Int($0.rawValue) })
    }
}

extension ValueKind where Value == Method {
    static var method: ValueKind {
        .text("a method such as \"GET\"", pattern: "^[A-Z-]+$") { text throws(Refusal) in
            let isMethod =
                !text.isEmpty && text.utf8.count <= 32
                && text.utf8.allSatisfy { byte in
                    byte == UInt8(ascii: "-") || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                }
            guard isMethod else {
                throw Refusal("expected a method such as \"GET\"", hint: "methods are upper case")
            }
            return Method(rawValue: text)
        }
    }
}

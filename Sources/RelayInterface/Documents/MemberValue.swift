package import RelayBase
package import RelayJSON
package import RelayJobs
package import RelayRoute

/// The value of a member: as JSON, and in the schema.
package protocol MemberValue: Sendable {
    static var schema: Schema { get }

    func write(_ name: String, into json: inout JSONObjectWriter)
    func write(into list: inout JSONArrayWriter)
}

/// A value that is also read.
package protocol ReadableValue: MemberValue {
    /// Nil for JSON of another type.
    init?(_ json: JSONValue)
}

extension String: ReadableValue {
    package static var schema: Schema { .text }

    package init?(_ json: JSONValue) {
        guard case .string(let text) = json else { return nil }
        self = text
    }

    package func write(_ name: String, into json: inout JSONObjectWriter) { json.member(name, self) }
    package func write(into list: inout JSONArrayWriter) { list.element(self) }
}

extension Bool: ReadableValue {
    package static var schema: Schema { .boolean }

    package init?(_ json: JSONValue) {
        guard case .bool(let isTrue) = json else { return nil }
        self = isTrue
    }

    package func write(_ name: String, into json: inout JSONObjectWriter) { json.member(name, self) }
    package func write(into list: inout JSONArrayWriter) { list.element(.bool(self)) }
}

/// A whole number that is never negative, unless its member says otherwise.
package protocol NumberValue: ReadableValue, FixedWidthInteger {}

extension NumberValue {
    package static var schema: Schema { .count }

    package init?(_ json: JSONValue) {
        guard case .number(let number) = json, let value = number.int64.flatMap(Self.init(exactly:)) else {
            return nil
        }
        self = value
    }

    package func write(_ name: String, into json: inout JSONObjectWriter) { json.member(name, self) }
    package func write(into list: inout JSONArrayWriter) { list.element(self) }
}

extension Int: NumberValue {}
extension Int32: NumberValue {}
extension Int64: NumberValue {}
extension UInt32: NumberValue {}
extension UInt64: NumberValue {}

extension Status: ReadableValue {
    package static var schema: Schema { .status }

    package init?(_ json: JSONValue) {
        guard let code = Int(json).flatMap(UInt16.init(exactly:)) else { return nil }
        self.init(rawValue: code)
    }

    package func write(_ name: String, into json: inout JSONObjectWriter) { json.member(name, rawValue) }
    package func write(into list: inout JSONArrayWriter) { list.element(rawValue) }
}

extension WallTime: ReadableValue {
    package static var schema: Schema { .moment }

    package init?(_ json: JSONValue) {
        guard let moment = String(json).flatMap(WallTime.init) else { return nil }
        self = moment
    }

    package func write(_ name: String, into json: inout JSONObjectWriter) { json.member(name, description) }
    package func write(into list: inout JSONArrayWriter) { list.element(description) }
}

/// In milliseconds, with what is finer behind the point.
extension Duration: ReadableValue {
    package static var schema: Schema { .milliseconds }

    /// Clamped to what 64 bits of nanoseconds hold.
    package init?(_ json: JSONValue) {
        guard case .number(let number) = json, let milliseconds = number.double else { return nil }
        self = .nanoseconds(Int64(min(max(0, milliseconds), 9e12) * 1_000_000))
    }

    private var milliseconds: Double { Double(saturatedNanoseconds / 1000) / 1000 }

    package func write(_ name: String, into json: inout JSONObjectWriter) { json.member(name, milliseconds) }
    package func write(into list: inout JSONArrayWriter) {
        list.element(json: Array("\(milliseconds)".utf8))
    }
}

extension Array: MemberValue where Element: MemberValue {
    package static var schema: Schema { .list(Element.schema) }

    package func write(_ name: String, into json: inout JSONObjectWriter) {
        json.array(name) { list in for element in self { element.write(into: &list) } }
    }

    package func write(into list: inout JSONArrayWriter) {
        list.array { inner in for element in self { element.write(into: &inner) } }
    }
}

extension Array: ReadableValue where Element: ReadableValue {
    /// Without the elements of another type.
    package init?(_ json: JSONValue) {
        guard case .array(let elements) = json else { return nil }
        self = elements.compactMap(Element.init)
    }
}

extension Array {
    /// Nil of a list that is left out where it is empty.
    package var unlessEmpty: Self? { isEmpty ? nil : self }
}

/// A value that is null where there is none.
extension Optional: MemberValue where Wrapped: MemberValue {
    package static var schema: Schema { .orNull(Wrapped.schema) }

    package func write(_ name: String, into json: inout JSONObjectWriter) {
        if let self { self.write(name, into: &json) } else { json.member(name, JSONValue.null) }
    }

    package func write(into list: inout JSONArrayWriter) {
        if let self { self.write(into: &list) } else { list.element(JSONValue.null) }
    }
}

/// A value that is one of a few words.
package protocol WordValue: MemberValue, RawRepresentable where RawValue == String {}

extension WordValue {
    package func write(_ name: String, into json: inout JSONObjectWriter) { json.member(name, rawValue) }
    package func write(into list: inout JSONArrayWriter) { list.element(rawValue) }
}

extension WordValue where Self: CaseIterable {
    package static var schema: Schema { .word(allCases.map(\.rawValue)) }
}

extension AnswerSource: WordValue {}
extension CredentialState: WordValue {}
extension DeliveryMode: WordValue {}
extension EndpointResult: WordValue {}
extension EndpointStep: WordValue {}
extension FailureKind: WordValue { package static var schema: Schema { .failureKind } }
extension JobAction: WordValue {}
extension Role: WordValue {}
extension Sent: WordValue {}
extension TroubleState: WordValue {}

extension ProblemCode: MemberValue {
    package static var schema: Schema { .word(allCases.map(\.name)) }

    package func write(_ name: String, into json: inout JSONObjectWriter) { json.member(name, self.name) }
    package func write(into list: inout JSONArrayWriter) { list.element(name) }
}

extension TroubleKind: MemberValue {
    package static var schema: Schema { .word(allCases.map(\.name)) }

    package func write(_ name: String, into json: inout JSONObjectWriter) { json.member(name, self.name) }
    package func write(into list: inout JSONArrayWriter) { list.element(name) }
}

extension JobID: MemberValue {
    package static var schema: Schema { .job }

    package func write(_ name: String, into json: inout JSONObjectWriter) { json.member(name, description) }
    package func write(into list: inout JSONArrayWriter) { list.element(description) }
}

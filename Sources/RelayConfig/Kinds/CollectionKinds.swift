import RelayBase
import RelayJSON

extension ValueKind {
    /// A list; elements that are refused are left out.
    static func list<Element>(
        _ element: ValueKind<Element>,
        minimum: Int = 0,
        maximum: Int = 1000
    ) -> ValueKind where Value == [Element] {
        var shape: Shape { .list(element.shape, minimum: minimum) }
        let write = { (values: [Element]) -> JSONValue? in
            let written = values.compactMap(element.write)
            return written.count == values.count ? .array(written) : nil
        }
        return ValueKind(shape) { node, _, reading in
            guard case .array(let nodes) = node.content else {
                let hint =
                    if case .list(.list, _) = shape { nil as String? } else { "put it in brackets: [ … ]" }
                let isElement = element.shape.isLeaf && node.text != nil
                if !isElement { reading.mask(node) }
                reading.error("expected \(shape.what)", at: node.range, hint: isElement ? hint : nil)
                return nil
            }
            if nodes.count < minimum { reading.error("the list may not be empty", at: node.range) }
            if nodes.count > maximum { reading.error("more than \(maximum) entries", at: node.range) }
            return nodes.prefix(maximum).enumerated().compactMap { index, node in
                reading.within("\(index)") { reading in element.read(node, nil, &reading) }
            }
        }.writing(write)
    }

    /// An object whose names are the operator's; entries that are refused are left out, as is a name that stands twice in
    /// another case where that tells none apart.
    static func map<Element>(
        _ element: ValueKind<Element>,
        name what: String,
        pattern: String? = nil,
        isSensitive: Bool = false,
        ignoresCase: Bool = false,
        checkName: @escaping (String) throws(Refusal) -> Void
    ) -> ValueKind where Value == [(name: String, value: Element)] {
        var shape: Shape { .map(element.shape, name: TextShape(what, pattern: pattern)) }
        let write = { (values: [(name: String, value: Element)]) -> JSONValue? in
            let written = values.compactMap { entry in
                element.write(entry.value).map { JSONValue.Member(entry.name, $0) }
            }
            return written.count == values.count ? .object(written) : nil
        }
        return ValueKind(shape) { node, _, reading in
            guard case .object(let members) = node.content else {
                reading.refuse(node, expected: shape)
                return nil
            }
            var names: [String: String] = [:]
            return members.compactMap { member in
                if member.name == "$comment" { return nil }
                if ignoresCase, let first = names.updateValue(member.name, forKey: member.name.lowercased()) {
                    reading.mask(member.value)
                    let words = "the same header as \"\(printable(first))\": upper and lower case are one"
                    reading.within(member.name) { $0.error(words, at: member.nameRange, hint: "remove one") }
                    return nil
                }
                if isSensitive { reading.mask(member.value) }
                return reading.within(member.name) { reading in
                    do throws(Refusal) {
                        try checkName(member.name)
                    } catch {
                        reading.mask(member.value)
                        reading.error(error.message, at: member.nameRange, hint: error.hint)
                        return nil
                    }
                    return element.read(member.value, nil, &reading).map { (member.name, $0) }
                }
            }
        }.writing(write)
    }
}

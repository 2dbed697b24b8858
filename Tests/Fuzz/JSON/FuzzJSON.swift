import RelayJSON

/// Checks the rules that hold for every text: see `checkText`.
@c(LLVMFuzzerTestOneInput)
public func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    checkText(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

/// Accepted text means the same after it is written and read again; every reader agrees with every other.
private func checkText(_ text: [UInt8]) {
    let value: JSONValue
    do {
        value = try JSONValue(parsing: text)
    } catch {
        precondition((0...text.count).contains(error.offset), "the error lies in the text")
        precondition((try? JSONScan.validate(text.span)) == nil, "validation accepts what the tree refuses")
        precondition((try? JSONScan.compact(text.span)) == nil, "text is compacted that the tree refuses")
        precondition(outline(of: text) == nil, "the outline accepts what the tree refuses")
        let document = try? JSONDocument(parsing: text)
        precondition(
            document == nil || error.code == .duplicateName,
            "the document accepts what the tree refuses"
        )
        return
    }
    guard let document = try? JSONDocument(parsing: text) else {
        preconditionFailure("the document refuses it")
    }
    precondition(document.root.value == value, "the document is another tree")
    precondition((try? JSONValue(parsing: value.encoded())) == value, "written and read again it differs")
    precondition((try? JSONValue(parsing: value.encodedPretty())) == value, "pretty text differs")
    precondition(value.isEquivalent(to: value), "a value is not equivalent to itself")
    precondition((try? JSONScan.compact(text.span)) == value.encoded(), "compacted it is another text")
    checkOutline(of: text, value)
    checkPointers(in: value, at: JSONPointer(tokens: []), of: text, root: value)
}

private func outline(of text: [UInt8]) -> JSONOutline? {
    var outline = JSONOutline([[], ["a"]])
    do { try outline.read(text.span) } catch { return nil }
    return outline
}

/// Each member of the document's object is noted, and what is plain stands as it would be written.
private func checkOutline(of text: [UInt8], _ value: JSONValue) {
    guard let outline = outline(of: text) else { preconditionFailure("the outline refuses it") }
    guard case .object(let members) = value, outline.isWhole else { return }
    let found = outline.members.filter { $0.object == 0 }
    precondition(found.count == members.count, "the outline has other members")
    for (place, member) in zip(found, members) where place.kind != .object || !place.value.isEmpty {
        let isString = place.kind == .string
        let range = isString ? place.value.lowerBound - 1..<place.value.upperBound + 1 : place.value
        precondition((try? JSONValue(parsing: Array(text[range]))) == member.value, "another value is noted")
        if place.isPlain {
            precondition(Array(text[range]) == member.value.encoded(), "what is plain is written otherwise")
        }
    }
}

/// Every pointer into the tree finds the same value in the text.
private func checkPointers(in value: JSONValue, at pointer: JSONPointer, of text: [UInt8], root: JSONValue) {
    guard let found = try? JSONScan.locate([pointer], in: text.span)[0] else {
        preconditionFailure("the value is not found")
    }
    precondition((try? JSONValue(parsing: Array(text[found]))) == value, "another value is found")
    precondition(root.value(at: pointer) == value, "the tree's own look-up differs")
    precondition((try? JSONPointer(parsing: pointer.text)) == pointer, "the pointer's text means another")
    // One child a level keeps a run linear in the text.
    switch value {
    case .array(let elements):
        guard let last = elements.last else { return }
        checkPointers(in: last, at: pointer.appending("\(elements.count - 1)"), of: text, root: root)
    case .object(let members):
        guard let member = members.last else { return }
        checkPointers(in: member.value, at: pointer.appending(member.name), of: text, root: root)
    default: return
    }
}

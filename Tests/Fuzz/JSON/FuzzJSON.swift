import RelayJSON

/// What must hold for every text: see `checkText`.
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
    checkPointers(in: value, at: JSONPointer(tokens: []), of: text, root: value)
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

import RelayBase
import RelayJSON
import RelayRoute

/// One pass over a configuration: where it is, what it has found, what it has to look things up in.
struct ReadContext {
    /// An error or a warning, before its place is turned into line and column.
    struct Finding {
        var isError: Bool
        var range: Range<Int>
        var pointer: JSONPointer
        var message: String
        var hint: String?
    }

    /// A secret that the configuration refers to.
    struct FoundSecret {
        var reference: SecretReference
        var pointer: JSONPointer
        var offset: Int
    }

    /// Where a value comes from.
    enum Origin {
        case builtIn
        case inherited(section: String)
        case file(offset: Int)
    }

    struct Entry {
        var path: [String]
        var text: [UInt8]
        var origin: Origin
        /// The text without what may not be printed; nil where all may.
        var shown: [UInt8]?
    }

    /// Errors after which nobody reads on, and warnings after which the rest is left out.
    static let findingLimit = 200

    let root: JSONNode
    let accounts: AccountResolver
    /// Seconds since 1970.
    let wallSeconds: Int64
    /// Whether every value is noted for the effective configuration, those that the file does not say included.
    let notesValues: Bool
    private(set) var path: [String] = []
    private(set) var findings: [Finding] = []
    private var errorCount = 0
    /// Strings that no message may show.
    private(set) var masked: [Range<Int>] = []
    /// Strings of which nothing is known, which no message may show unless they can be no secret.
    private(set) var unknown: [(range: Range<Int>, text: String)] = []
    /// Where strings begin that nothing shows.
    private var concealed: Set<Int> = []
    var secrets: [FoundSecret] = []
    private(set) var entries: [Entry] = []
    /// Those of `entries` that stand under `defaults`.
    private var defaultEntries: [Entry] = []
    /// The values of a route that says nothing.
    var routeDefaults = RouteDraft()

    init(root: JSONNode, accounts: AccountResolver, wallSeconds: Int64, notesValues: Bool) {
        self.root = root
        self.accounts = accounts
        self.wallSeconds = wallSeconds
        self.notesValues = notesValues
    }

    /// Whether so much is wrong that nothing more is noted; warnings refuse nothing, however many.
    var isFull: Bool { hasAll(areErrors: true) }
    var hasErrors: Bool { errorCount > 0 }

    private func hasAll(areErrors: Bool) -> Bool {
        (areErrors ? errorCount : findings.count - errorCount) >= Self.findingLimit
    }

    mutating func within<Result>(_ token: String, _ body: (inout ReadContext) -> Result) -> Result {
        path.append(token)
        defer { path.removeLast() }
        return body(&self)
    }

    /// Goes on elsewhere in the document for a while.
    mutating func elsewhere(_ other: [String], _ body: (inout ReadContext) -> Void) {
        let saved = path
        path = other
        body(&self)
        path = saved
    }
}

extension ReadContext {
    mutating func error(_ message: String, at range: Range<Int>, hint: String? = nil) {
        let pointer = JSONPointer(tokens: path)
        add(Finding(isError: true, range: range, pointer: pointer, message: message, hint: hint))
    }

    mutating func warn(_ message: String, at range: Range<Int>, hint: String? = nil) {
        let pointer = JSONPointer(tokens: path)
        add(Finding(isError: false, range: range, pointer: pointer, message: message, hint: hint))
    }

    mutating func error(_ message: String, at place: JSONNode.Location, hint: String? = nil) {
        elsewhere((place.path ?? path) + place.tokens) { $0.error(message, at: place.range, hint: hint) }
    }

    mutating func warn(_ message: String, at place: JSONNode.Location, hint: String? = nil) {
        elsewhere((place.path ?? path) + place.tokens) { $0.warn(message, at: place.range, hint: hint) }
    }

    private mutating func add(_ finding: Finding) {
        // A rule of the defaults is checked again for every route that takes it over.
        guard !hasAll(areErrors: finding.isError) else { return }
        let isKnown = findings.contains { $0.range == finding.range && $0.message == finding.message }
        if isKnown { return }
        findings.append(finding)
        if finding.isError { errorCount += 1 }
        guard hasAll(areErrors: finding.isError) else { return }
        findings[findings.count - 1].message =
            "more than \(Self.findingLimit - 1) \(finding.isError ? "errors" : "warnings"): the rest is left out"
        findings[findings.count - 1].hint = nil
    }

    /// Reports a value of the wrong type.
    mutating func refuse(_ node: JSONNode, expected shape: Shape, hint: String? = nil) {
        if !shape.isLeaf { maskUnknown(node) }
        error("expected \(shape.what)", at: node.range, hint: hint ?? shape.meant(by: node))
    }

    /// Reports a string that is none of the words it may be; `meant` has words of others for some of them.
    mutating func refuse(
        _ node: JSONNode,
        words: [String],
        reserved: [String],
        meant: [String: String] = [:]
    ) {
        let list = words.map { "\"\($0)\"" }.joined(separator: words.count == 2 ? " or " : ", ")
        guard case .string(let text) = node.content else {
            error("expected \(words.count > 2 ? "one of " : "")\(list)", at: node.range)
            return
        }
        if reserved.contains(text) {
            error("\"\(text)\" is not available in this version", at: node.range, hint: "write \(list)")
            return
        }
        let nearest = (meant[text] ?? nearestWord(to: text, among: words)).map { "did you mean \"\($0)\"?" }
        error("expected \(words.count > 2 ? "one of " : "")\(list)", at: node.range, hint: nearest)
    }

    /// Keeps every string in `node` out of messages.
    mutating func mask(_ node: JSONNode) { node.eachString { range, _ in masked.append(range) } }

    /// Keeps a string out of messages and out of the effective configuration's text.
    mutating func conceal(_ node: JSONNode) {
        mask(node)
        concealed.insert(node.range.lowerBound)
    }

    private func shown(_ node: JSONNode) -> JSONValue {
        switch node.content {
        case .string where concealed.contains(node.range.lowerBound): .string("***")
        case .array(let elements): .array(elements.map(shown))
        case .object(let members): .object(members.map { JSONValue.Member($0.name, shown($0.value)) })
        default: node.value
        }
    }

    /// Keeps every string in `node`, of which nothing is known, out of messages unless it can be no secret.
    mutating func maskUnknown(_ node: JSONNode) { node.eachString { unknown.append(($0, $1)) } }
}

extension ReadContext {
    /// Notes a value of the file for the effective configuration.
    mutating func note(_ node: JSONNode) {
        var entry = Entry(
            path: path,
            text: node.value.encoded(),
            origin: .file(offset: node.range.lowerBound)
        )
        if !concealed.isEmpty { entry.shown = shown(node).encoded() }
        entries.append(entry)
        if path.first == "defaults" { defaultEntries.append(entry) }
    }

    /// Notes what stands at the current path without the file saying so there.
    mutating func noteDefault(_ value: JSONValue?) {
        guard notesValues, path.first != "defaults" else { return }
        // A list is taken over as a whole, so that nothing inside one comes from the defaults.
        let isInList = path.dropFirst(2).contains { $0.utf8.allSatisfy { $0 &- UInt8(ascii: "0") < 10 } }
        if path.first == "routes", path.count > 2, !isInList {
            let source = ["defaults"] + path[2...]
            let inherited = defaultEntries.filter { $0.path.starts(with: source) }
            if !inherited.isEmpty {
                for entry in inherited {
                    let path = Array(path[..<2]) + entry.path.dropFirst()
                    let origin = Origin.inherited(section: "defaults.\(path[2])")
                    entries.append(Entry(path: path, text: entry.text, origin: origin))
                }
                return
            }
        }
        guard let value else { return }
        entries.append(Entry(path: path, text: value.encoded(), origin: .builtIn))
    }
}

extension JSONNode {
    /// A value below a node.
    struct Location {
        let node: JSONNode
        /// Where the node stands; nil at the path that is read.
        var path: [String]?
        let tokens: [String]

        /// The range of the value, or of the last one on the way to it that exists.
        var range: Range<Int> {
            var node = node
            for token in tokens {
                switch node.content {
                case .object:
                    guard let member = node[token] else { return node.range }
                    node = member.value
                case .array(let elements):
                    guard let index = Int(token), elements.indices.contains(index) else { return node.range }
                    node = elements[index]
                default: return node.range
                }
            }
            return node.range
        }
    }

    func location(_ tokens: String...) -> Location { Location(node: self, tokens: tokens) }
    func location(_ tokens: [String]) -> Location { Location(node: self, tokens: tokens) }

    fileprivate func eachString(_ take: (Range<Int>, String) -> Void) {
        switch content {
        case .string(let text): take(range, text)
        case .array(let elements): for element in elements { element.eachString(take) }
        case .object(let members): for member in members { member.value.eachString(take) }
        case .null, .bool, .number: break
        }
    }

    /// The elements of an array; none for anything else.
    var elements: [JSONNode] {
        if case .array(let elements) = content { return elements }
        return []
    }

    var text: String? {
        if case .string(let text) = content { return text }
        return nil
    }
}

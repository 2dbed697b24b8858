import RelayBase

/// The end of an attempt, as somebody imagines it.
struct Imagined: Sendable, Equatable {
    enum End: Sendable, Equatable {
        /// An answer that the route takes for a success.
        case good
        case answer(Status, fields: [Field], body: [UInt8])
        case failure(FailureKind)
        /// The upstream's word when it is asked about a request (`verify`) or an operation (`follow`).
        case word(LookUp)
        /// One that is on record, with how far it got and the status of the answer, where one came.
        case recorded(FailureKind, Sent, Status?)
    }

    struct Field: Sendable, Equatable {
        var name: String
        var value: String
    }

    /// How long it takes until then.
    enum Delay: Sendable, Equatable {
        case none
        case exactly(Duration)
        /// An answer that comes in the last moment.
        case longest
    }

    /// As it is written.
    var word: String
    var end: End
    var delay = Delay.none
    /// Its position among the words as they were typed, from 1; 0 of one that nobody typed.
    var position = 0

    static let good = Imagined(word: "ok", end: .good)

    fileprivate var isAnswer: Bool {
        switch end {
        case .good, .answer, .word: true
        case .failure, .recorded: false
        }
    }
}

/// The ends of attempts, one after the other; the last of them goes on.
struct ImaginedSeries: Sendable {
    /// A word that says nothing, and what would.
    struct Fault: Error {
        let message: String
    }

    private(set) var attempts: [Imagined] = []
    /// The answers of the token endpoint, which gives a token where none is left.
    private(set) var tokens: [Imagined] = []
    /// Whether it is said that the last one goes on.
    private(set) var isEndless = false

    /// Attempts of a series at most.
    private static let limit = 1_000

    init(_ attempts: [Imagined]) { self.attempts = attempts }

    /// Reads words such as `503`, `503x3`, `503x*`, `429,retry-after=2m`, `timeout`, `ok,in=2s`, `@file`, `token:401`.
    ///
    /// `read` gives the content of a file.
    init(_ words: [String], read: (String) throws(Fault) -> [UInt8]) throws(Fault) {
        for (index, word) in words.enumerated() {
            do throws(Fault) { try take(word, at: index + 1, read) } catch {
                throw Fault(message: "word \(index + 1), \"\(word)\": \(error.message)")
            }
        }
        guard !attempts.isEmpty else {
            throw Fault(
                message: "what becomes of the attempts? Name a status, a failure or a file: 503 timeout ok"
            )
        }
    }

    private mutating func take(
        _ word: String,
        at position: Int,
        _ read: (String) throws(Fault) -> [UInt8]
    ) throws(Fault) {
        if word.hasPrefix("token:") {
            let (imagined, count) = try Self.imagined(String(word.dropFirst("token:".count)), read)
            guard let count else { throw Fault(message: "the answers of a token endpoint have an end") }
            tokens += Array(repeating: imagined, count: count)
            return
        }
        guard !isEndless else {
            throw Fault(message: "nothing comes after \(attempts.last?.word ?? "")x*")
        }
        var (imagined, count) = try Self.imagined(word, read)
        imagined.position = position
        attempts += Array(repeating: imagined, count: count ?? 1)
        isEndless = count == nil
        guard attempts.count <= Self.limit else {
            throw Fault(message: "a series has \(Self.limit) attempts at most; x* goes on for ever")
        }
    }

    /// The attempt of that index, and whether the series is over by then.
    subscript(index: Int) -> (imagined: Imagined, isBeyond: Bool) {
        index < attempts.count ? (attempts[index], false) : (attempts[attempts.count - 1], !isEndless)
    }
}

// The words.
extension ImaginedSeries {
    /// Short words for failures.
    static let shortWords: KeyValuePairs<String, FailureKind> = [
        "refused": .connectionRefused, "reset": .connectionTerminated, "timeout": .httpResponseTimeout,
        "unreachable": .destinationUnavailable, "dns": .dnsError, "tls": .tlsCertificateError,
    ]

    /// Words of an upstream that is asked about a request, or about an operation.
    static let wordsOfUpstreams: [LookUp] = [.found, .absent, .running, .done, .failed]

    /// The kinds that an attempt can fail with before its answer is judged.
    static var kinds: [FailureKind] {
        FailureKind.known.filter { kind in
            FailureGroup.allCases.contains { $0.contains(kind) } || kind == .destinationIPProhibited
        }
    }

    private static func imagined(
        _ text: String,
        _ read: (String) throws(Fault) -> [UInt8]
    ) throws(Fault) -> (Imagined, count: Int?) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        var (head, count): (String, Int?) = (parts[0], 1)
        if let cut = head.lastIndex(of: "x"), cut != head.startIndex, !head.contains("/"), !head.contains("@")
        {
            let times = head[head.index(after: cut)...]
            if times == "*" || Int(times) != nil {
                count = times == "*" ? nil : Int(times)
                guard count ?? 1 > 0, count ?? 1 <= limit else {
                    throw Fault(message: "x needs a number from 1 to \(limit), or *")
                }
                head = String(head[..<cut])
            }
        }
        var imagined = Imagined(word: text, end: try end(head, read))
        for part in parts.dropFirst() { try change(&imagined, part) }
        // Its number says how often, and not what.
        imagined.word = ([head] + parts.dropFirst()).joined(separator: ",")
        return (imagined, count)
    }

    private static func end(
        _ word: String,
        _ read: (String) throws(Fault) -> [UInt8]
    ) throws(Fault) -> Imagined.End {
        if word == "ok" { return .good }
        if let known = wordsOfUpstreams.first(where: { $0.rawValue == word }) { return .word(known) }
        if let cut = word.firstIndex(of: "@") {
            let status = word[..<cut]
            let wanted: Status? = status.isEmpty ? 200 : Self.status(status)
            guard let wanted else { throw fault(word) }
            return answer(try read(String(word[word.index(after: cut)...])), wanted)
        }
        if word.contains("/") { return answer(try read(word), 200) }
        if let status = status(word[...]) { return .answer(status, fields: [], body: []) }
        if let kind = shortWords.first(where: { $0.key == word })?.value { return .failure(kind) }
        guard let kind = kinds.first(where: { $0.rawValue == word }) else { throw fault(word) }
        return .failure(kind)
    }

    private static func status(_ word: Substring) -> Status? {
        guard word.utf8.count == 3, let code = UInt16(word), (200..<600).contains(code) else { return nil }
        return Status(rawValue: code)
    }

    private static func fault(_ word: String) -> Fault {
        let known = ["ok"] + wordsOfUpstreams.map(\.rawValue) + shortWords.map(\.key) + kinds.map(\.rawValue)
        let near = nearestWord(to: word, among: known).map { "; did you mean \($0)?" } ?? ""
        return Fault(
            message: "no status from 200 to 599, no failure of a connection and no file\(near)"
        )
    }

    private static func change(_ imagined: inout Imagined, _ part: String) throws(Fault) {
        let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if part == "in=longest", imagined.isAnswer {
            imagined.delay = .longest
            return
        }
        guard pair.count == 2, let time = DurationText.parse(pair[1]) else {
            throw Fault(
                message:
                    "behind the comma stands in=2s or retry-after=30s, with a duration, and not \"\(part)\""
            )
        }
        switch (pair[0], imagined.end) {
        case ("in", _) where imagined.isAnswer: imagined.delay = .exactly(time)
        case ("retry-after", .answer(let status, var fields, let body)):
            let seconds = (time.saturatedNanoseconds + 999_999_999) / 1_000_000_000
            fields.append(Imagined.Field(name: "Retry-After", value: "\(seconds)"))
            imagined.end = .answer(status, fields: fields, body: body)
        default: throw Fault(message: "\"\(part)\" says nothing to it")
        }
    }

    /// A file that begins like one is a whole answer, any other the content of one.
    private static func answer(_ bytes: [UInt8], _ status: Status) -> Imagined.End {
        guard bytes.starts(with: Array("HTTP/".utf8)) else {
            let value = bytes.looksLikeJSON ? "application/json" : "text/plain"
            let type = Imagined.Field(name: "Content-Type", value: value)
            return .answer(status, fields: [type], body: bytes)
        }
        var (own, fields, rest) = (status, [Imagined.Field](), bytes[...])
        var isFirst = true
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            var line = rest[..<end]
            rest = rest[(end + 1)...]
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if line.isEmpty { break }
            let text = String(decoding: line, as: UTF8.self)
            if isFirst {
                isFirst = false
                own = text.split(separator: " ").dropFirst().first.flatMap { Self.status($0) } ?? status
            } else if let colon = text.firstIndex(of: ":") {
                let value = text[text.index(after: colon)...].drop { $0 == " " }
                fields.append(Imagined.Field(name: String(text[..<colon]), value: String(value)))
            }
        }
        // It is told how it is framed by the content that is there.
        fields.removeAll { ["content-length", "transfer-encoding"].contains($0.name.lowercased()) }
        return .answer(own, fields: fields, body: Array(rest))
    }
}

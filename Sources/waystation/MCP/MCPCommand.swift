import Glibc

extension Command {
    static let mcp = Command(
        "mcp",
        "[--socket PATH] [--config FILE]",
        "Lets an agent read what these commands tell.",
        details: """
            Speaks the Model Context Protocol (2024-11-05, 2025-03-26 and 2025-06-18) on standard input and output,
            for a program that starts it. The tools only read: status, explain, dead, shape, what-if and events say
            what the commands of those names say to who runs them, to this user and no more. Texts that upstreams
            wrote stand only in the member "untrusted" of an answer. A call that has no answer within a minute is
            ended, and so is one under way when this program ends. An agent's configuration needs the command and
            its arguments:

            "waystation": { "command": "waystation", "args": ["mcp"] }

            """,
        options: [
            .control,
            OptionSpec("config", "c", value: "FILE", "for what-if; /etc/waystation/waystation.json"),
        ]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 0)
        var session = AgentSession(
            ToolRun(socket: arguments["socket"], configuration: arguments["config"]).callAsFunction
        )
        var lines = BoundedLines()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw CommandFailure(.failed, "cannot read standard input: \(errorText())")
            }
            for line in lines.take(buffer[..<count], isLast: count == 0) {
                let answer = line.map { session.answer($0) } ?? AgentSession.tooLong
                if let answer, !Output.standard.reaches(answer + [UInt8(ascii: "\n")]) { return .done }
            }
            if count == 0 { return .done }
        }
    }
}

/// Lines out of pieces; one that is too long is nil.
struct BoundedLines {
    /// Bytes of a line.
    static let longest = 1_048_576
    private var held: [UInt8] = []
    private var isTooLong = false

    /// The lines that are whole with these bytes; what is behind the last of them, too, where nothing more comes.
    mutating func take(_ bytes: ArraySlice<UInt8>, isLast: Bool) -> [[UInt8]?] {
        var lines: [[UInt8]?] = []
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            add(rest[..<end])
            lines.append(isTooLong ? nil : held)
            (held, isTooLong) = ([], false)
            rest = rest[(end + 1)...]
        }
        add(rest)
        if isLast, isTooLong || !held.isEmpty { lines.append(isTooLong ? nil : held) }
        return lines
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong, held.count + bytes.count <= Self.longest else {
            (held, isTooLong) = ([], true)
            return
        }
        held += bytes
    }
}

import Glibc
import RelayBase
import RelayClient
import RelayInterface
import RelayJSON
import RelayPosix

/// The request that `waystation send` is asked to send, and where the answer goes.
struct SendOrder {
    private let client: RelayClient
    /// The option that a command that is advised needs to find the same daemon.
    let option: String
    private let route: String
    private let path: String
    private let method: Method
    private let fields: HeaderFields
    private let body: [UInt8]
    private let includesHead: Bool
    private let file: String?
    /// Whether only the id is wanted.
    let isAsynchronous: Bool
    /// How long to wait for the end of a job that is kept; nil without a wait.
    let wait: Duration?
    /// The options that were given.
    private let given: [JobOption]

    init(_ arguments: Arguments) throws(CommandFailure) {
        try arguments.limitOperands(to: 2)
        guard let route = arguments.operands.first else { throw .usage("which route?", of: "send") }
        self.route = route
        path = try SendOrder.path(arguments.operands.count > 1 ? arguments.operands[1] : "")
        given = JobOption.all.filter { arguments.has($0.flag) }
        includesHead = arguments.has("include")
        file = try SendOrder.file(arguments["output"])
        isAsynchronous = arguments.has("async")
        wait = try arguments.duration("wait")
        guard !isAsynchronous || file == nil && !includesHead else {
            throw .usage("--async prints an id only: -i and -o go without it", of: "send")
        }
        var fields = try SendOrder.fields(arguments)
        SendOrder.setDefault("User-Agent", Version.userAgent, in: &fields)
        try SendOrder.addPreference(arguments, to: &fields)
        let options = try SendOrder.options(arguments)
        do throws(OptionError) {
            try options.add(to: &fields, keyName: "--key") { "--\($0.flag)" }
        } catch {
            throw .usage(error.message, of: "send")
        }
        body = try SendOrder.body(arguments)
        if arguments.has("json") {
            SendOrder.setDefault("Content-Type", "application/json", in: &fields)
            SendOrder.setDefault("Accept", "application/json", in: &fields)
        } else if arguments.has("data") {
            SendOrder.setDefault("Content-Type", "application/x-www-form-urlencoded", in: &fields)
        }
        let hasBody = arguments.has("data") || arguments.has("json")
        method = arguments["request"].map(Method.init(rawValue:)) ?? (hasBody ? .post : .get)

        let sockets = DaemonSockets(arguments)
        var client = RelayClient(socketPath: sockets.jobs)
        // Long enough for every route's own limit, which the relay keeps.
        client.timeout = .seconds(3600)
        if let timeout = options.timeout {
            // A little later than the relay, whose answer says more.
            client.timeout = timeout + .seconds(2)
        }
        self.fields = fields
        self.client = client
        option = sockets.optionOfJobs
    }

    /// The daemon's words, in which the options that were given have their flags' names.
    func inFlags(_ text: String) -> String { JobOption.renamed(text, given) { "--\($0.flag)" } }

    /// Hands the request over for keeping and prints the id; waits for its end when that was asked for.
    func submit() throws(CommandFailure) -> ExitCode {
        let response = try response(of: begin())
        guard response.status.class == .success else {
            let failure = CommandFailure(response)
            throw CommandFailure(failure.code, inFlags(failure.message), advice: failure.advice)
        }
        guard let id = response.job else {
            throw CommandFailure(.failed, "the daemon accepted the request and did not say as which job")
        }
        Output.standard.write(safe(id) + "\n")
        if (try? JSONValue(parsing: response.body))?["repeatable"] == .bool(false) {
            Output.error.write(
                "waystation: the job is not repeatable: it is sent again only after it was refused or never sent; "
                    + "--key gives it a key\n"
            )
        }
        guard let wait else { return .done }
        var patient = client
        patient.timeout = .seconds(JobWatch.question + 30)
        let progress = Progress("waiting for job \(safe(id))")
        defer { progress.end() }
        var last = ""
        let code = try JobWatch(DaemonAccess(patient, Advice(option: option)), id, timeout: wait) { job in
            let view = JobDocument(job)
            last = [view.stateAndReason, view.failure].compactMap { $0 }.joined(separator: ", ")
            progress.update("job \(view.id): \(view.stateAndReason), \(view.attemptCount) attempts")
        }.run()
        progress.end()
        if code != .done {
            Output.error.write(
                "waystation: the job is \(last); why: waystation explain \(safe(id))\(option)\n"
            )
        }
        return code
    }

    /// Sends it and waits for the head of the answer.
    func begin() throws(CommandFailure) -> StreamedAnswer {
        let progress = Progress("waiting for the answer")
        defer { progress.end() }
        return try client.command { () throws(RelayClientError) in
            try client.blockingStream(route: route, method: method, path: path, fields: fields, body: body)
        }
    }

    /// Reads an answer of the relay's own, whose bodies are small.
    func response(of answer: StreamedAnswer) throws(CommandFailure) -> RelayResponse {
        let body = try client.command { () throws(RelayClientError) in
            try answer.remainder(within: client.timeout, limit: 1 << 20)
        }
        return RelayResponse(status: answer.status, fields: answer.fields, body: body)
    }

    /// Writes the answer to where it was asked for, piece by piece as it comes.
    func deliver(
        _ head: RelayResponse,
        _ next: () throws(RelayClientError) -> [UInt8]?
    ) throws(CommandFailure) {
        if includesHead { Output.standard.writeHead(head.status, head.fields) }
        var descriptor = STDOUT_FILENO
        if let file, file != "-" {
            descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
            guard descriptor >= 0 else {
                throw CommandFailure(.unwritten, "cannot write \(file): \(errorText())")
            }
        }
        defer { if descriptor != STDOUT_FILENO { close(descriptor) } }
        while let piece = try client.command(next) {
            if file == nil || file == "-" {
                // A reader that has closed the output wants no more of it.
                guard Output.standard.reaches(piece) else { return }
            } else if !writeAll(piece, to: descriptor) {
                throw CommandFailure(.unwritten, "cannot write all of \(file ?? ""): \(errorText())")
            }
        }
    }

    /// The same of an answer that is there already.
    func deliver(_ response: RelayResponse) throws(CommandFailure) {
        var body: [UInt8]? = response.body
        // The relay's own words stand alone on a terminal; an upstream's body is passed on to the byte.
        if file ?? "-" == "-", response.body.last != UInt8(ascii: "\n") { body?.append(UInt8(ascii: "\n")) }
        try deliver(response) {
            defer { body = nil }
            return body
        }
    }

    /// Writes an upstream's answer as it comes.
    func deliver(_ answer: StreamedAnswer) throws(CommandFailure) {
        let patience = client.timeout
        try deliver(RelayResponse(status: answer.status, fields: answer.fields, body: [])) {
            () throws(RelayClientError) in
            try answer.next(within: patience)
        }
    }
}

extension SendOrder {
    private static func fields(_ arguments: Arguments) throws(CommandFailure) -> HeaderFields {
        var fields = HeaderFields()
        for line in arguments.all("header") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? String(parts[1].drop { $0 == " " || $0 == "\t" }) : ""
            guard parts.count == 2, fields.append(String(parts[0]), value) else {
                throw .usage("-H takes 'Name: value' without control characters", of: "send")
            }
        }
        return fields
    }

    /// Adds the field that has the job kept.
    private static func addPreference(
        _ arguments: Arguments,
        to fields: inout HeaderFields
    ) throws(CommandFailure) {
        if let wait = try arguments.duration("wait"), !arguments.has("async") {
            // The daemon answers no later; what takes longer is watched.
            guard wait <= .seconds(300) else {
                throw .usage("--wait takes at most 5m without --async", of: "send")
            }
            let (seconds, rest) = wait.components
            fields.append("Prefer", "respond-async, wait=\(seconds + (rest > 0 ? 1 : 0))")
        } else if arguments.has("async") {
            fields.append("Prefer", "respond-async")
        }
    }

    /// The options of the job.
    private static func options(_ arguments: Arguments) throws(CommandFailure) -> SubmissionOptions {
        var options = SubmissionOptions()
        options.idempotencyKey = arguments["key"]
        for option in JobOption.all {
            let texts = arguments.all(option.flag)
            for text in option.value.repeats ? texts : texts.suffix(1) {
                guard option.value.read(text, into: &options) else {
                    throw .usage("--\(option.flag) \(option.value.demand)", of: "send")
                }
            }
        }
        return options
    }

    /// Where the answer goes, looked at before anything is sent: what is sent may do something.
    private static func file(_ path: String?) throws(CommandFailure) -> String? {
        guard let path else { return nil }
        guard !path.isEmpty else { throw .usage("-o takes the name of a file", of: "send") }
        var status = stat()
        if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw CommandFailure(.unwritten, "cannot write \(path): it is a directory; nothing was sent")
        }
        let isThere = unsafe access(path, F_OK) == 0
        let place = isThere ? path : parent(of: path)
        guard unsafe path == "-" || access(place, isThere ? W_OK : W_OK | X_OK) == 0 else {
            throw CommandFailure(.unwritten, "cannot write \(path): \(errorText()); nothing was sent")
        }
        return path
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The path below the upstream's base.
    private static func path(_ text: String) throws(CommandFailure) -> String {
        let beginning = text.prefix { $0 != "/" && $0 != "?" }
        guard !(beginning.hasSuffix(":") && text.dropFirst(beginning.count).hasPrefix("//")) else {
            throw .usage(
                "the path stands below the route's upstream, so write what follows its base and no whole URL",
                of: "send"
            )
        }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .usage(
                "the path holds visible ASCII only; percent-encode the rest, such as %20 for a blank",
                of: "send"
            )
        }
        return text
    }

    private static func setDefault(_ name: String, _ value: String, in fields: inout HeaderFields) {
        if let key = FieldName(name), !fields.contains(key) { fields.append(name, value) }
    }

    private static func body(_ arguments: Arguments) throws(CommandFailure) -> [UInt8] {
        guard !(arguments.has("data") && arguments.has("json")) else {
            throw .usage("--data and --json exclude each other", of: "send")
        }
        guard arguments.all("data").count + arguments.all("json").count <= 1 else {
            throw .usage("the body is given once; join its parts yourself", of: "send")
        }
        guard let data = arguments["data"] ?? arguments["json"] else { return [] }
        if data == "-" || data == "@-" {
            return try FileBytes.read(descriptor: STDIN_FILENO, "standard input")
        }
        guard data.hasPrefix("@") else { return Array(data.utf8) }
        return try FileBytes.read(path: String(data.dropFirst()))
    }
}

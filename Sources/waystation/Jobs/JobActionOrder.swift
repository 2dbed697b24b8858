import Glibc
import RelayBase
import RelayClient
import RelayInterface
import RelayJSON

/// An action on jobs.
enum JobActionWord: String, CaseIterable {
    case retry
    case cancel
    case hold
    case release
    case drop
    case expunge

    /// `retried`.
    var done: String {
        switch self {
        case .retry: "retried"
        case .cancel: "cancelled"
        case .hold: "held"
        case .release: "released"
        case .drop: "dropped"
        case .expunge: "expunged"
        }
    }
}

/// The action that `waystation jobs ACTION` is to take, and on which jobs.
struct JobActionOrder {
    private enum Target {
        case ids([String])
        /// Those of a filter, which may be more than anybody thought.
        case filter(WhereClause)
        /// The same of ids, for what only a filter can say.
        case named(WhereClause)
    }

    private let action: JobActionWord
    private let target: Target
    private let rate: JobRate?
    private let takesUnknown: Bool
    private let takesSuperseded: Bool
    private let reason: String?
    private let isDetached: Bool
    private let isDryRun: Bool
    private let isYes: Bool
    private let isQuiet: Bool
    private let isJSON: Bool
    private let daemon: DaemonAccess

    init(_ action: JobActionWord, _ arguments: Arguments, _ words: [String]) throws(CommandFailure) {
        try arguments.allow(
            [
                "where", "rate", "unknown", "superseded", "reason", "detach", "dry-run", "yes", "output",
                "quiet", "socket",
            ],
            in: action.rawValue
        )
        self.action = action
        reason = arguments["reason"]
        isDetached = arguments.has("detach")
        isDryRun = arguments.has("dry-run")
        isYes = arguments.has("yes")
        isQuiet = arguments.has("quiet")
        isJSON = try arguments.format() == .json
        if let text = arguments["rate"] {
            guard action == .retry else { throw .usage("only a retry has a --rate", of: "jobs") }
            rate = try JobRate(text)
        } else {
            rate = nil
        }
        if action != .retry, let option = ["unknown", "superseded"].first(where: arguments.has) {
            throw .usage("only a retry takes --\(option)", of: "jobs")
        }
        takesSuperseded = arguments.has("superseded")
        var ids: [String] = []
        for word in words { ids.append(try jobID(word, of: "jobs")) }
        let clauses = arguments.all("where")
        // A user that names a job has looked at it.
        takesUnknown = action == .retry && (arguments.has("unknown") || clauses.isEmpty)
        guard clauses.isEmpty || ids.isEmpty else {
            throw .usage("name jobs or say --where, not both", of: "jobs")
        }
        if !clauses.isEmpty {
            target = .filter(try WhereClause(clauses, now: Moments.wallMilliseconds()))
        } else if ids.isEmpty {
            throw .usage("which jobs? jobs \(action.rawValue) ID... or --where FILTER", of: "jobs")
        } else if rate != nil || reason != nil || isDetached || isDryRun {
            target = .named(try WhereClause(ids: ids))
        } else {
            target = .ids(ids)
        }
        // The jobs socket cancels its caller's own jobs, one by one.
        let isAlsoTheirs = if case .ids = target { action == .cancel } else { false }
        daemon =
            isAlsoTheirs
            ? .reading(arguments, timeout: .seconds(300)) : .control(arguments, timeout: .seconds(300))
    }

    func run() throws(CommandFailure) -> ExitCode {
        switch target {
        case .ids(let ids): try each(ids)
        case .filter(let filter): try all(filter, isSure: isYes)
        case .named(let filter): try all(filter, isSure: true)
        }
    }

    /// Acts on one job after the other; one that cannot be acted on does not keep the others from it.
    private func each(_ ids: [String]) throws(CommandFailure) -> ExitCode {
        let progress = Progress("\(action.rawValue): \(ids.count) jobs", isQuiet: isQuiet)
        defer { progress.end() }
        var code = ExitCode.done
        for (index, id) in ids.enumerated() {
            progress.update("\(action.rawValue): \(index) of \(ids.count) jobs")
            do throws(CommandFailure) {
                let (method, part): (Method, String) =
                    switch action {
                    case .drop: (.delete, "")
                    case .expunge: (.delete, "/content")
                    case .retry, .cancel, .hold, .release:
                        (.post, "/\(action.rawValue)\(takesSuperseded ? "?superseded=true" : "")")
                    }
                let response = try daemon.change(method, "/v1/jobs/\(id)\(part)")
                guard !isQuiet else { continue }
                if isJSON {
                    if !response.body.isEmpty { Output.standard.write(response.body + [UInt8(ascii: "\n")]) }
                } else {
                    let state =
                        method == .delete
                        ? action.done : JobDocument(try DaemonAccess.parse(response)).stateAndReason
                    Output.standard.write("\(id)  \(state)\n")
                }
            } catch {
                // An error that keeps every job from being acted on ends it.
                guard error.code == .notFound || error.code == .failed else { throw error }
                Output.error.write("waystation: \(id): \(error.message)\n")
                code = error.code
            }
        }
        return code
    }

    /// Acts on every job that matches, after a count and a yes.
    private func all(_ filter: WhereClause, isSure: Bool) throws(CommandFailure) -> ExitCode {
        let isAsked = !isDryRun && !isSure
        let run = BulkRun(
            daemon: daemon,
            action: action,
            filter: isAsked ? filter.closed(at: Moments.wallMilliseconds()) : filter,
            rate: rate,
            takesUnknown: takesUnknown,
            takesSuperseded: takesSuperseded,
            reason: reason,
            isQuiet: isQuiet
        )
        var counted: BulkRun.Count?
        if isDryRun || isAsked {
            let count = try run.counted()
            counted = count
            if count.matched == 0 {
                let hint = kindHint(filter.kind)
                if !hint.isEmpty { Output.error.write("There are no such jobs\(hint).\n") }
            }
            guard count.matched > 0 || isDryRun else {
                report(count)
                return .done
            }
            let asks = isAsked && isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
            if !asks {
                report(count)
                if isDryRun { return .done }
                Output.error.write(
                    "Nothing was changed: standard input is no terminal to ask; --yes does it.\n"
                )
                return .usage
            }
            let jobs = count.matched == 1 ? "1 job" : "\(count.matched) jobs"
            Output.error.write("\(action.rawValue) \(jobs): \(filter.text)? [y/N] ")
            let answer = readLine() ?? ""
            guard ["y", "yes"].contains(answer.lowercased()) else {
                Output.error.write("Nothing was changed.\n")
                return .done
            }
        }
        let begun = try run.begin(counted)
        guard !isDetached else {
            if isJSON { Output.standard.write(begun.json.line) } else { begun.tellBegun(daemon, isQuiet) }
            return .done
        }
        let end = try RunWatch(daemon, isQuiet: isQuiet).follow(begun)
        return end.tellEnd(isJSON: isJSON, isQuiet: isQuiet)
    }

    private func report(_ count: BulkRun.Count) {
        if isJSON { return Output.standard.write(count.document(action, isDryRun: true)) }
        Output.standard.write(count.text(action, isDryRun: true) + "\n")
    }
}

/// Jobs in a time: `50/s`, `100/m`, `5/h`.
struct JobRate {
    let text: String
    let perSecond: Double

    init(_ text: String) throws(CommandFailure) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let units: [Substring: Double] = ["s": 1, "m": 60, "h": 3_600]
        guard parts.count == 2, let count = Int(parts[0]), (1...9_999_999).contains(count),
            let seconds = units[parts[1]]
        else { throw .usage("--rate takes jobs in a time, such as 50/s, 100/m or 5/h", of: "jobs") }
        self.text = text
        perSecond = Double(count) / seconds
    }
}

import RelayBase
import RelayServer

/// The command and the options of the command line.
struct Arguments {
    enum Command {
        case serve
        case check
        case effective
        case schema
        case manual
        case openAPI
        case metricsManual
        case whatIf
        case version
        case help
    }

    var command = Command.serve
    /// Nil looks in `$CONFIGURATION_DIRECTORY`, then in `/etc/waystation`.
    var file: String?
    /// The route and the series that are to be imagined, as JSON.
    var order = ""
    var isJSON = false
    var isStrict = false
    /// Whether a check goes to the endpoints.
    var isOnline = false
    /// How long that may take in all.
    var timeout: Duration?
    /// Event loops; nil is one for each core.
    var loops: Int?
    /// For tests of the relay itself.
    var passThrough = PassThroughMode.on

    struct UsageError: Error {
        let message: String
    }

    init(_ words: [String]) throws(UsageError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--check": command = .check
            case "--effective": command = .effective
            case "--schema": command = .schema
            case "--manual": command = .manual
            case "--openapi": command = .openAPI
            case "--metrics-manual": command = .metricsManual
            case "--what-if":
                guard let value = rest.popFirst() else {
                    throw UsageError(message: "--what-if needs an order, as waystation what-if writes it")
                }
                (command, order) = (.whatIf, value)
            case "--strict": isStrict = true
            case "--online": isOnline = true
            case "--timeout":
                guard let value = rest.popFirst().flatMap({ DurationText.parse($0) }), value > .zero else {
                    throw UsageError(message: "--timeout needs a duration with a unit, such as 500ms or 20s")
                }
                timeout = value
            case "--version": command = .version
            case "--help", "-h": command = .help
            case "--config", "-c":
                guard let value = rest.popFirst() else { throw UsageError(message: "\(word) needs a file") }
                file = value
            case "--loops":
                guard let value = rest.popFirst(), let count = Int(value), (1...256).contains(count) else {
                    throw UsageError(message: "--loops needs a number from 1 to 256")
                }
                loops = count
            case "--pass-through":
                guard let mode = rest.popFirst().flatMap({ PassThroughMode(rawValue: $0) }) else {
                    let modes = PassThroughMode.allCases.map(\.rawValue).joined(separator: ", ")
                    throw UsageError(message: "--pass-through is one of \(modes)")
                }
                passThrough = mode
            case "-o":
                guard let value = rest.popFirst(), value == "json" || value == "text" else {
                    throw UsageError(message: "-o is json or text")
                }
                isJSON = value == "json"
            default:
                guard !word.hasPrefix("-") else {
                    throw UsageError(message: "there is no option \"\(word)\"")
                }
                guard command == .check || command == .effective, file == nil else {
                    let hint = command == .serve ? "; a configuration is named by --config FILE" : ""
                    throw UsageError(message: "there is one word too many: \"\(word)\"\(hint)")
                }
                file = word
            }
        }
        guard command == .check || !isStrict && !isJSON && !isOnline else {
            let word = isStrict ? "--strict" : isOnline ? "--online" : "-o json"
            throw UsageError(message: "\(word) says nothing without --check")
        }
        guard isOnline || timeout == nil else {
            throw UsageError(message: "--timeout says nothing without --online")
        }
    }

    static let help = """
        usage: waystationd [--config FILE] [--loops N]
               waystationd --check [FILE] [-o json] [--strict] [--online [--timeout DURATION]]
               waystationd --effective [FILE]
               waystationd --what-if ORDER [--config FILE]
               waystationd --schema | --manual | --metrics-manual | --openapi | --version | --help

        Without a command it serves. FILE is $CONFIGURATION_DIRECTORY/waystation.json or
        /etc/waystation/waystation.json unless it is given. See waystationd(8) and waystation.json(5).

        Exit status: 0 done, 1 an endpoint cannot be used, 64 wrong usage, 65 the job store has to be
        mended, 69 a socket or directory cannot be used, 74 the job store failed, 78 the configuration is
        not valid.
        """
}

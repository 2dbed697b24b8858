import Glibc
import RelayBase
import RelayConfig

extension Command {
    static func store(_ migration: any FleetMigration = DatabaseMigration()) -> Command {
        Command(
            "store",
            "migrate --url URL [OPTION...]",
            "Makes the schema of a fleet in a PostgreSQL database, or extends it.",
            details: """
                URL is postgresql://ROLE@HOST:PORT/DATABASE of a role that may make tables, which the daemons' may
                not; the daemon's configuration is not read. Daemons of the version before go on meanwhile, and may
                be replaced one after the other then. What it did is printed, and the GRANTs of the daemons' role
                that remain to be made. Called again after it was cut off, it goes on.

                """,
            operands: [.words(["migrate"])],
            options: [
                OptionSpec("url", value: "URL", "where the database is, without the password"),
                OptionSpec("password-file", value: "FILE", "a file with the password; - is standard input"),
                OptionSpec("schema", value: "NAME", "the schema; waystation unless it is given"),
                OptionSpec("role", value: "ROLE", "the daemons' role; waystation unless it is given"),
                OptionSpec("check", nil, "change nothing: tell what there is to do, with status 1"),
            ]
        ) { arguments throws(CommandFailure) in
            let order = try FleetMigrationOrder(arguments)
            let report = try migration.migrate(order)
            Output.standard.write(report.text(of: order))
            return order.checksOnly && !report.isCurrent ? .failed : .done
        }
    }
}

extension FleetMigrationOrder {
    /// A password is no longer than that.
    private static let passwordLimit = 4_096

    init(_ arguments: Arguments) throws(CommandFailure) {
        let command = arguments.command
        try arguments.limitOperands(to: 1)
        guard arguments.operands == ["migrate"] else {
            throw .usage("what is to be done? \(command) migrate", of: command)
        }
        guard let url = arguments["url"] else { throw .usage("which database? --url URL", of: command) }
        do throws(Refusal) {
            self.url = try DatabaseURL(
                parsing: url,
                passwordPlace: "write it into a file and name that: --password-file FILE"
            )
        } catch {
            throw .usage("--url: \(error)", of: command)
        }
        do throws(Refusal) {
            schema = try FleetSettings.checkSchema(arguments["schema"] ?? FleetSettings.name)
            role = try DatabaseURL.checkName(arguments["role"] ?? FleetSettings.name, "role")
        } catch {
            throw .usage("\(error)", of: command)
        }
        checksOnly = arguments.has("check")
        password = try arguments["password-file"].map { (file) throws(CommandFailure) in
            try FleetMigrationOrder.password(in: file)
        }
    }

    /// The first line of a file that nobody else may read.
    private static func password(in file: String) throws(CommandFailure) -> Secret {
        if file == "-" {
            return try password(in: try FileBytes.read(descriptor: STDIN_FILENO, "standard input"), file)
        }
        let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(.failed, "cannot read \(safe(file)): \(errorText())")
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & 0o077 == 0 else {
            throw CommandFailure(
                .failed,
                "\(safe(file)) may be read by its group or by others",
                advice: "chmod 600 \(shellWord(file))"
            )
        }
        return try password(in: try FileBytes.read(descriptor: descriptor, safe(file)), file)
    }

    private static func password(in bytes: [UInt8], _ file: String) throws(CommandFailure) -> Secret {
        var line = bytes[...]
        if line.last == UInt8(ascii: "\n") { line = line.dropLast() }
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        guard !line.isEmpty, line.count <= passwordLimit, line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw CommandFailure(
                .failed,
                "\(safe(file)) has no password: one line of at most \(passwordLimit) bytes"
            )
        }
        return Secret(Array(line))
    }
}

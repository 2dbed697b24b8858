import RelayCore
import RelayJSON

extension Command {
    static let explain = Command(
        "explain",
        "JOB [-o table|json]",
        "Tells what happened to a job, attempt by attempt.",
        details: """
            JOB is the value of the answer's Waystation-Job field. The daemon remembers the latest jobs; the
            journal has the others: journalctl -u waystationd JOB_ID=JOB

            """,
        options: [.output, .control]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 1)
        guard let id = arguments.operands.first, !id.isEmpty,
            id.utf8.allSatisfy({ isTokenByte($0) })
        else { throw .usage("which job? Its id is in the answer's Waystation-Job field", of: "explain") }
        let format = try arguments.format()
        let (bytes, job) = try DaemonAccess.control(arguments).document(.get, "/v1/jobs/\(id)")
        switch format {
        case .json: Output.standard.write(bytes + [UInt8(ascii: "\n")])
        case .table: Output.standard.write(JobTimeline(job).text(for: .standard))
        }
        return .done
    }
}

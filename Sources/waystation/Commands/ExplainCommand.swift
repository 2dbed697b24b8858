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
        guard let word = arguments.operands.first else {
            throw .usage("which job? Its id is in the answer's Waystation-Job field", of: "explain")
        }
        let id = try jobID(word)
        let format = try arguments.format()
        let (bytes, job) = try DaemonAccess.control(arguments).document(.get, "/v1/jobs/\(id)")
        switch format {
        case .json: Output.standard.write(bytes + [UInt8(ascii: "\n")])
        case .table: Output.standard.write(JobTimeline(job).text(for: .standard))
        }
        return .done
    }
}

/// An id as the daemon writes it; one in small letters is the same.
func jobID(_ word: String) throws(CommandFailure) -> String {
    let id = word.uppercased()
    // The first of the 26 digits holds three bits only.
    guard id.utf8.count == 26, id.utf8.allSatisfy(Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8).contains),
        id.utf8.first.map({ $0 <= UInt8(ascii: "7") }) ?? false
    else {
        throw .usage(
            "\"\(safe(word))\" is not a job id: 26 digits and letters without I, L, O and U (Crockford's base 32),"
                + " as in the answer's Waystation-Job field",
            of: "explain"
        )
    }
    return id
}

import Glibc
import RelayPosix

extension DaemonProgram {
    /// Goes on as the daemon's program, which says and ends with what there is to say.
    static func become(_ words: [String]) throws(CommandFailure) -> Never {
        let program = path
        let arguments = CStrings([program] + words)
        unsafe execvp(program, arguments.pointers)
        throw cannotStart(program, ", which looks at the endpoints", .current)
    }
}

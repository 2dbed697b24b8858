import RelayCore
import RelayEngine
import RelayJSON

/// One line of a stream: the document of `POST /v1/jobs`, and an `id` of the caller's own.
struct StreamedJob {
    /// Echoed in the outcome, also when the rest of the line is refused.
    let id: String?
    let submission: Result<Submission, Problem>

    init(_ line: [UInt8]) {
        let value: JSONValue
        do throws(Problem) {
            value = try JSONValue(line, as: "the job", or: .invalidJob)
        } catch {
            id = nil
            submission = .failure(error)
            return
        }
        if case .string(let text)? = value["id"], Submission.idLengths.contains(text.utf8.count) {
            id = text
        } else {
            id = nil
        }
        do throws(Problem) {
            submission = .success(try Submission(value, onStream: true))
        } catch {
            submission = .failure(error)
        }
    }
}

/// A job of a stream that the gate let in.
struct AdmittedJob: Sendable {
    let line: Int
    let id: String?
    let admission: Admission
    let body: Body
}

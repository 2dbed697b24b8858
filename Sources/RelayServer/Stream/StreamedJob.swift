import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON

/// One of several jobs, on a stream or in an array: the document of `POST /v1/jobs`, and an `id` of the caller's own.
struct StreamedJob {
    /// Echoed in the outcome, also when the rest is refused.
    let id: String?
    let submission: Result<Submission, Problem>

    init(_ line: [UInt8]) {
        self.init(Result { () throws(Problem) in try JSONValue(line, as: "the job", or: .invalidJob) })
    }

    init(_ document: Result<JSONValue, Problem>) {
        if case .string(let text)? = (try? document.get())?["id"],
            Submission.idLengths.contains(text.utf8.count)
        {
            id = text
        } else {
            id = nil
        }
        submission = Result { () throws(Problem) in try Submission(document.get(), isAlone: false) }
    }
}

/// A job of a stream that the gate let in.
struct AdmittedJob: Sendable {
    let line: Int
    let id: String?
    let admission: Admission
    let body: Body

    /// The body's bytes, which came with the line.
    var content: [UInt8] { if case .bytes(let bytes) = body { bytes } else { [] } }
}

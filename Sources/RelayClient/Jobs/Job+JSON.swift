import RelayBase
import RelayInterface
import RelayJSON

extension Job {
    /// Reads the document of a job; members that are not known are passed over.
    init(_ document: [UInt8]) throws(RelayClientError) {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: document)
        } catch {
            throw RelayClientError(.invalidResponse, "the relay's job is no JSON: \(error.message)")
        }
        guard let job = Job(json), !job.id.isEmpty, State(rawValue: job.stateWord) != nil else {
            throw RelayClientError(
                .invalidResponse,
                "the relay's job has no id, or a state this client does not know"
            )
        }
        self = job
    }

    /// The outcome of the request; nil before the job is over.
    public var outcome: RelayResponse.Outcome? { outcomeWord.flatMap(RelayResponse.Outcome.init) }
}

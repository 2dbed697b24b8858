import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs

extension OpenAPI {
    static let attemptSchemas: [(name: String, schema: Schema)] = [
        ("Attempt", Job.Attempt.schema),
        ("AttemptList", AttemptList.schema),
        ("Failure", Job.Failure.schema),
        ("Principal", Principal.schema),
        ("Action", Job.Action.schema),
    ]
}

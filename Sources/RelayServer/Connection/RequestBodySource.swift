import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayPosix
import RelayRoute
import Synchronization

/// The body of a request that is too large to be held: read from the caller as the upstream takes it.
final class RequestBodySource: BodySource {
    private let connection: LoopBound<Connection>
    let length: UInt64?
    let sentOnceBecause: String?
    private let read = Atomic<Bool>(false)

    init(_ connection: Connection, sentOnceBecause: String? = nil) {
        self.sentOnceBecause = sentOnceBecause
        self.connection = LoopBound(connection, connection.loop)
        length = connection.request?.length
    }

    var wasRead: Bool { read.load(ordering: .relaxed) }

    func next() async throws(Failure) -> [UInt8]? {
        read.store(true, ordering: .relaxed)
        return try await connection.value.nextUploadPiece()
    }

    /// The rest of the body is never read: the connection ends with the answer.
    func cancel() {
        read.store(true, ordering: .relaxed)
        connection.valueOnLoop?.stopUpload()
    }
}

extension Connection {
    /// A body that streams, with a copy in the spool where another attempt may want it.
    func source(of request: ServerRequest) -> any BodySource {
        guard case .relay(let admission) = request.purpose, !admission.isDurable,
            admission.maySendTwice
        else { return RequestBodySource(self) }
        do throws(StoreError) {
            var copy = try server.spool.copy(length: request.length)
            if let share { copy = ChargedCopy(copy, share, admission.snapshot.settings.callers) }
            let body = SpooledBody(self, copy: copy, length: request.length)
            return body.source() ?? RequestBodySource(self)
        } catch {
            return RequestBodySource(self, sentOnceBecause: error.message)
        }
    }
}

extension Admission {
    /// Whether anything could want the request's body a second time; what is signed is collected before it is sent.
    fileprivate var maySendTwice: Bool {
        let policy = route.policy
        guard policy.signing == nil else { return false }
        return !policy.recovery.isEmpty || policy.authentication != nil
            || policy.response.redirects == .follow || context.method.isIdempotent
            || context.options.hasIdempotencyKey
    }
}

import RelayCore
import RelayPosix
import Synchronization

/// The body of a request that is too large to be held: read from the caller as the upstream takes it.
final class RequestBodySource: BodySource {
    private let connection: LoopBound<Connection>
    let length: UInt64?
    private let read = Atomic<Bool>(false)

    init(_ connection: Connection) {
        self.connection = LoopBound(connection, connection.loop)
        length = connection.upload?.length
    }

    var wasRead: Bool { read.load(ordering: .relaxed) }

    func next() async throws(Failure) -> [UInt8]? {
        read.store(true, ordering: .relaxed)
        return try await connection.value.nextUploadPiece()
    }

    /// What is left of the body is never read: the connection ends with the answer.
    func cancel() {
        read.store(true, ordering: .relaxed)
        connection.valueOnLoop?.stopUpload()
    }
}

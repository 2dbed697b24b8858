package import RelayBase
package import RelayJobs
import Synchronization

/// Rotated refresh tokens in a file of the store's directory, which its owner alone may read.
///
/// Written by a thread of its own, each time as a whole: a crash leaves the file before or the file after.
package final class RefreshTokens: RefreshTokenKeeper {
    private let directory: String
    private let digest: @Sendable ([UInt8]) -> [UInt8]
    private let notice: @Sendable (String) -> Void
    private let known: Mutex<[String: KeptToken]>
    private let writer = Mutex<WorkerThread<TokenFile>?>(nil)

    /// Reads what an earlier process has kept; what cannot be read is told of, and forgotten.
    ///
    /// - Parameters:
    ///   - directory: that of the job store.
    ///   - digest: SHA-256.
    ///   - notice: takes what an operator should read; never a token.
    package init(
        directory: String,
        digest: @escaping @Sendable ([UInt8]) -> [UInt8],
        notice: @escaping @Sendable (String) -> Void
    ) {
        self.directory = directory
        self.digest = digest
        self.notice = notice
        var found: [String: KeptToken] = [:]
        do throws(StoreError) {
            found = try TokenFile(directory).read()
        } catch {
            notice("\(error.message); credentials begin with their configured refresh tokens")
        }
        known = Mutex(found)
    }

    package func token(of owner: RefreshTokenOwner) -> Secret? {
        let fingerprint = digest(owner.configuration.bytes)
        return known.withLock { known in
            guard let kept = known[owner.credential], kept.fingerprint == fingerprint else { return nil }
            return Secret(kept.token)
        }
    }

    package func keep(_ token: Secret, of owner: RefreshTokenOwner) async throws(StoreError) {
        let kept = KeptToken(fingerprint: digest(owner.configuration.bytes), token: token.bytes)
        known.withLock { $0[owner.credential] = kept }
        do throws(StoreError) {
            // A write takes the tokens that are known when it runs: of two writes the later one has both tokens.
            try await thread().perform { [self] file throws(StoreError) in
                try file.write(known.withLock { $0 })
            }
        } catch {
            notice(
                "\(error.message); credential \"\(owner.credential)\" waits for it before its next refresh"
            )
            throw error
        }
    }

    private func thread() throws(StoreError) -> WorkerThread<TokenFile> {
        let directory = directory
        return try writer.withLock { writer throws(StoreError) in
            if let writer { return writer }
            let new = try WorkerThread<TokenFile>("tokens") { TokenFile(directory) }
            writer = new
            return new
        }
    }

    deinit { writer.withLock { $0?.close() } }
}

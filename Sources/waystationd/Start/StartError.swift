import RelayBase

/// Why a start cannot go on.
struct StartError: Error {
    let message: String
    /// Whether the job store has to be mended first.
    let needsMending: Bool

    init(message: String) { (self.message, needsMending) = (message, false) }

    init(_ error: StoreError) { (message, needsMending) = (error.message, error.needsMending) }
}

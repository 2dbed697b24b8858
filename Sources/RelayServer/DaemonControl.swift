package import RelayCore
package import RelayEngine

/// The services that the API asks of the process it runs in.
package protocol DaemonControl: Sendable {
    /// Version of the daemon.
    var version: String { get }

    /// The document of the interface, OpenAPI.
    var contract: [UInt8] { get }

    /// The status document, JSON.
    func status() -> [UInt8]

    /// Everything that is wrong, JSON.
    func troubles() -> [UInt8]

    /// The metrics as they are now, in that format.
    func metrics(_ format: MetricsText.Format) async -> [UInt8]

    /// Composes beside every loop a document that takes a while where there are many routes.
    func compose(_ document: @escaping @Sendable () -> [UInt8]) async -> [UInt8]

    /// Why requests are not served, or not as they should be; nil while they are.
    var unready: Problem? { get }

    /// Reads the configuration again; on an error the old one stays.
    ///
    /// - Returns: the HTTP status and the document: 200 with what changed, or 422 `config_rejected`.
    func reload() async -> (status: UInt16, document: [UInt8])

    /// Has every upstream and token endpoint of the configuration in force looked at, as a first request would meet it.
    ///
    /// - Throws: `check_running` while another look is under way.
    func checkEndpoints(_ limit: Duration, isStrict: Bool) async throws(Problem) -> [UInt8]

    /// Whether the network counts as constrained, and why, JSON.
    func constrained() -> [UInt8]

    /// Takes an operator's word on whether the network is constrained.
    ///
    /// - Returns: false when the configuration gives operators no say.
    func order(_ order: ConstrainedOrder, by client: ClientIdentity?) -> Bool
}

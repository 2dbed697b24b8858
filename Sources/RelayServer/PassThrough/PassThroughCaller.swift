import RelayHTTP
import RelayRoute

/// The party whose request is passed through: a connection that it came on, or a line of a stream that stands for it.
protocol PassThroughCaller: PassThroughReceiver {
    /// Whether it keeps the request's content itself, for the ordinary request that may have to be made.
    var keepsContent: Bool { get }
    /// Whether a browser may have written its fields.
    var mayBeBrowser: Bool { get }
    /// Whether the request line says what the caller did.
    func means(_ line: PassThroughLine) -> Bool
    /// Its request is about to be sent.
    func begunPassing(_ exchange: UnsafeMutablePointer<PassThroughExchange>, _ sender: any PassThroughSender)
    #if DEBUG
    /// Ends the process where the ordinary path would have sent something else.
    func checkRequest(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ sent: UnsafeRawBufferPointer,
        _ sender: any PassThroughSender
    )
    #endif
}

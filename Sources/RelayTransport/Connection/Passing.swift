import RelayBase
import RelayHTTP
import RelayPosix
import RelayRoute

/// A request that a connection passes through.
struct Passing {
    let receiver: any PassThroughReceiver
    let policy: PassThroughPolicy
    let kind: UInt8
}

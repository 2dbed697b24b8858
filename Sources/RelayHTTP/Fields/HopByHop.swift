/// The one table of the fields that speak of this hop alone (RFC 9110 §7.6.1), which heads of every path lose; the name is
/// a token of `count` bytes.
@inline(__always)
func isHopByHop(_ base: UnsafePointer<UInt8>, _ start: Int, _ count: Int) -> Bool {
    switch count {
    case 2: unsafe stands("te", base, start)
    case 7: unsafe stands("upgrade", base, start) || stands("trailer", base, start)
    case 10: unsafe stands("connection", base, start) || stands("keep-alive", base, start)
    case 16: unsafe stands("proxy-connection", base, start)
    case 17: unsafe stands("transfer-encoding", base, start)
    case 18: unsafe stands("proxy-authenticate", base, start)
    case 19: unsafe stands("proxy-authorization", base, start)
    default: false
    }
}

import CLinux
import Glibc

/// Asks getaddrinfo(3), which blocks, for the addresses of `host` in the order of preference (RFC 6724).
func systemAddresses(of host: String) -> Result<[IPAddress], NameError> {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    unsafe hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(host, nil, &hints, &list)
    defer { if let list = unsafe list { unsafe freeaddrinfo(list) } }
    switch code {
    case 0: break
    case EAI_NONAME, nameHasNoAddress: return .failure(.notFound)
    case EAI_AGAIN: return .failure(.temporary(unsafe String(cString: gai_strerror(code))))
    case EAI_SYSTEM: return .failure(.failed(Errno.current.description))
    default: return .failure(.failed(unsafe String(cString: gai_strerror(code))))
    }
    var addresses: [IPAddress] = []
    var item = unsafe list
    while let entry = unsafe item {
        if let raw = unsafe entry.pointee.ai_addr, case .ip(let address, _)? = unsafe SocketAddress(raw),
            !addresses.contains(address)
        {
            addresses.append(address)
        }
        unsafe item = entry.pointee.ai_next
    }
    return addresses.isEmpty ? .failure(.notFound) : .success(addresses)
}

/// EAI_NODATA of netdb.h, which Swift does not see.
private let nameHasNoAddress: Int32 = -5

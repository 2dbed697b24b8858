import CSystemd
import Glibc

/// The listening sockets the service manager opened for this process, found by name and never by position.
package struct ActivatedSockets: Sendable {
    /// One listening stream socket.
    package struct Listener: Sendable, Equatable {
        package enum Family: Sendable {
            case unix
            case internet
        }

        package let descriptor: Int32
        /// `FileDescriptorName=` of its unit; the unit's own name when that is not set.
        package let name: String
        package let family: Family

        package init(descriptor: Int32, name: String, family: Family) {
            self.descriptor = descriptor
            self.name = name
            self.family = family
        }

        /// Whether it is the Unix socket of that path.
        package func stands(at path: String) -> Bool {
            unsafe sd_is_socket_unix(descriptor, Int32(SOCK_STREAM.rawValue), 1, path, 0) > 0
        }
    }

    package let listeners: [Listener]

    /// Takes the sockets over; call it before any thread starts.
    ///
    /// They become close-on-exec and the variables go, so that no child takes them for its own.
    ///
    /// - Throws: when a descriptor is no listening stream socket.
    package static func fromEnvironment() throws(ActivationError) -> ActivatedSockets {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(1, &names)
        guard count >= 0 else { throw ActivationError.unreadable(errno: -count) }
        var found: [(descriptor: Int32, name: String)] = []
        for index in 0..<Int(count) {
            guard let list = unsafe names, let name = unsafe list[index] else { continue }
            found.append((firstDescriptor + Int32(index), unsafe String(cString: name)))
            unsafe free(name)
        }
        unsafe free(names)
        return try ActivatedSockets(descriptors: found)
    }

    /// - Throws: when a descriptor is no listening stream socket.
    package init(descriptors: [(descriptor: Int32, name: String)]) throws(ActivationError) {
        let stream = Int32(SOCK_STREAM.rawValue)
        var listeners: [Listener] = []
        for (descriptor, name) in descriptors {
            let family: Listener.Family
            if sd_is_socket_unix(descriptor, stream, 1, nil, 0) > 0 {
                family = .unix
            } else if sd_is_socket_inet(descriptor, AF_UNSPEC, stream, 1, 0) > 0 {
                family = .internet
            } else {
                throw ActivationError.notAListener(name: name, descriptor: descriptor)
            }
            listeners.append(Listener(descriptor: descriptor, name: name, family: family))
        }
        self.listeners = listeners
    }

    /// Leaves the sockets to the program that takes the place of this one, as the service manager gave them.
    package static func passOn(_ listeners: [Listener]) {
        for listener in listeners { _ = fcntl(listener.descriptor, F_SETFD, 0) }
        unsafe setenv("LISTEN_PID", "\(getpid())", 1)
        unsafe setenv("LISTEN_FDS", "\(listeners.count)", 1)
        unsafe setenv("LISTEN_FDNAMES", listeners.map(\.name).joined(separator: ":"), 1)
    }

    /// Every listener of that name, in the manager's order.
    package func named(_ name: String) -> [Listener] {
        listeners.filter { $0.name == name }
    }

    /// SD_LISTEN_FDS_START of sd_listen_fds(3).
    private static var firstDescriptor: Int32 { 3 }
}

/// Why the manager's sockets cannot be used.
package enum ActivationError: Error, Equatable, CustomStringConvertible {
    case unreadable(errno: Int32)
    case notAListener(name: String, descriptor: Int32)

    package var description: String {
        switch self {
        case .unreadable(let errno):
            "cannot take over the service manager's sockets: \(unsafe String(cString: strerror(errno)))"
        case .notAListener(let name, let descriptor):
            "cannot use the socket \"\(name)\" (descriptor \(descriptor)) of the service manager: it is no"
                + " listening stream socket; use ListenStream= and Accept=no in its unit"
        }
    }
}

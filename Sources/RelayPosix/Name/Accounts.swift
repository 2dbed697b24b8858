import Glibc

/// Users and groups by name, as the system's databases know them.
package enum Accounts {
    package static func user(_ name: String) -> UInt32? {
        guard let entry = unsafe getpwnam(name) else { return nil }
        return unsafe entry.pointee.pw_uid
    }

    package static func group(_ name: String) -> UInt32? {
        guard let entry = unsafe getgrnam(name) else { return nil }
        return unsafe entry.pointee.gr_gid
    }
}

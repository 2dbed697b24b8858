import Glibc

/// The system's users and groups by name.
enum Accounts {
    static func user(_ name: String) -> UInt32? {
        guard let entry = unsafe getpwnam(name) else { return nil }
        return unsafe entry.pointee.pw_uid
    }

    static func group(_ name: String) -> UInt32? {
        guard let entry = unsafe getgrnam(name) else { return nil }
        return unsafe entry.pointee.gr_gid
    }
}

import RelayJSON
import RelayPosix

/// The names of the users whose numbers a browser has from the daemon, which leaves it to those who look.
enum PageUsers {
    /// More users than the page of a job names.
    static let most = 16
    private static let path = "/ui/users?ids="

    /// The document of a target that asks for names; nil for any other.
    static func document(_ target: String, name: (UInt32) -> String? = systemUserName) -> [UInt8]? {
        guard target.hasPrefix(path) else { return nil }
        var json = JSONObjectWriter()
        for id in target.dropFirst(path.count).split(separator: ",").prefix(most) {
            guard let user = UInt32(id), let name = name(user) else { continue }
            json.member(String(user), name)
        }
        return json.bytes
    }
}

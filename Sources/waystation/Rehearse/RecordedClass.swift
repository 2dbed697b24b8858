import RelayBase
import RelayInterface

/// The class of a request on record, as the protection of upstreams tells requests apart: only one of the same class tells
/// what another would have met.
struct RecordedClass: Hashable {
    /// The method and the kind of its path: `POST /orders/*`.
    private let name: String
    private let isLarge: Bool
    private let user: UInt32?

    /// Content above that is large, in bytes.
    private static let largeContent: Int64 = 65_536

    init(_ job: Job) {
        name = PathKind.names(job.method, job.path).kind
        isLarge = job.request.size ?? 0 > RecordedClass.largeContent
        user = job.client?.uid
    }

    /// By which classes are in the same order each time.
    var text: String { "\(name) \(isLarge) \(user.map { String($0) } ?? "-")" }

    /// A path of letters that is of no other kind, for a record that is to tell nothing of its requests.
    static func path(_ number: Int) -> String {
        var (rest, letters) = (number, "")
        repeat {
            letters += String(UnicodeScalar(UInt8(ascii: "a") + UInt8(rest % 26)))
            rest /= 26
        } while rest > 0
        return "/\(letters)"
    }
}

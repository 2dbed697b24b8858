import RelayBase
import RelayJSON

extension ValueKind where Value == UInt32 {
    static var user: ValueKind { account("user") { $0.user } }
    static var group: ValueKind { account("group") { $0.group } }

    /// A name, or the number itself.
    private static func account(
        _ what: String,
        _ look: @escaping (AccountResolver) -> (String) -> UInt32?
    ) -> ValueKind {
        let text = TextShape("the name of a \(what)")
        let shape = Shape.either(.text(text), .integer(0...Int(UInt32.max) - 1))
        return ValueKind(shape) { node, _, reading in
            switch node.content {
            case .number(let number):
                // The last number means "no change" to the kernel.
                if let value = number.int64, let id = UInt32(exactly: value), id != .max { return id }
            case .string(let name):
                if let id = look(reading.accounts)(name) { return id }
                reading.error(
                    "no \(what) named \"\(printable(name))\" on this machine",
                    at: node.range,
                    hint: "create it, or write its number"
                )
                return nil
            default: break
            }
            reading.refuse(node, expected: shape)
            return nil
        }
    }
}

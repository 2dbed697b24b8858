import RelayBase
import RelayInterface
import RelayJSON

extension JSONValue {
    /// A member, as a value of the type that is asked for; nil where it is absent or of another type.
    func member<Value: MemberValue>(_ name: String) -> Value? { self[name].flatMap(Value.init) }
}

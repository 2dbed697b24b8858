import RelayJSON

/// One key of a section: where its value goes and everything there is to say about it.
struct Field<Target> {
    /// The functions by which a key handles its value.
    struct Parts {
        var shape: () -> Shape
        /// The value that the key would state when it is absent.
        var defaultValue: (Target) -> JSONValue? = { _ in nil }
        var read: (JSONNode, inout Target, inout ReadContext) -> Void = { _, _, _ in }
        var noteDefault: (Target, inout ReadContext) -> Void = { _, _ in }
    }

    let key: String
    let isRequired: Bool
    /// Why the key is known and may not stand here all the same; nil for one that may.
    let refusal: String?
    private let makeDoc: () -> String
    /// Of a table of hundreds of keys a file has a few: the others are not made.
    private let parts: Deferred<Parts>

    var doc: String { makeDoc() }
    var shape: Shape { parts.value.shape() }
    var defaultValue: (Target) -> JSONValue? { parts.value.defaultValue }
    var read: (JSONNode, inout Target, inout ReadContext) -> Void { parts.value.read }
    var noteDefault: (Target, inout ReadContext) -> Void { parts.value.noteDefault }

    /// A key that always has a value: the file's, or the one the target begins with.
    init<Value>(
        _ key: String,
        _ kind: @autoclosure @escaping () -> ValueKind<Value>,
        _ path: @autoclosure @escaping () -> WritableKeyPath<Target, Value>,
        isRequired: Bool = false,
        doc: @escaping () -> String
    ) {
        self.init(key: key, isRequired: isRequired, doc: doc) {
            let (kind, path) = (kind(), path())
            return Parts(
                shape: { kind.shape },
                defaultValue: { isRequired ? nil : kind.write($0[keyPath: path]) },
                read: { node, target, reading in
                    guard let value = kind.read(node, target[keyPath: path], &reading) else { return }
                    target[keyPath: path] = value
                },
                noteDefault: { target, reading in
                    if let noteDefaults = kind.noteDefaults {
                        noteDefaults(target[keyPath: path], &reading)
                    } else {
                        reading.noteDefault(kind.write(target[keyPath: path]))
                    }
                }
            )
        }
    }

    /// A key whose absence means that there is no such thing.
    init<Value>(
        _ key: String,
        _ kind: @autoclosure @escaping () -> ValueKind<Value>,
        _ path: @autoclosure @escaping () -> WritableKeyPath<Target, Value?>,
        isRequired: Bool = false,
        doc: @escaping () -> String
    ) {
        self.init(key: key, isRequired: isRequired, doc: doc) {
            let (kind, path) = (kind(), path())
            return Parts(
                shape: { kind.shape },
                read: { node, target, reading in
                    guard let value = kind.read(node, target[keyPath: path], &reading) else { return }
                    target[keyPath: path] = value
                },
                noteDefault: { target, reading in
                    reading.noteDefault(target[keyPath: path].flatMap(kind.write))
                }
            )
        }
    }

    private init(
        key: String,
        isRequired: Bool = false,
        refusal: String? = nil,
        doc: @escaping () -> String,
        _ parts: @escaping () -> Parts
    ) {
        self.key = key
        self.isRequired = isRequired
        self.refusal = refusal
        makeDoc = doc
        self.parts = Deferred(parts)
    }

    private init(
        key: String,
        shape: Shape,
        isRequired: Bool = false,
        refusal: String? = nil,
        doc: @autoclosure @escaping () -> String
    ) {
        self.init(key: key, isRequired: isRequired, refusal: refusal, doc: doc) {
            Parts(shape: { shape })
        }
    }

    var isReserved: Bool { refusal != nil }

    /// A key of a later version: refused with the reason instead of as unknown.
    static func reserved(_ key: String) -> Field {
        Field(
            key: key,
            shape: .anything,
            refusal: "is not available in this version",
            doc: "Not available in this version."
        )
    }

    /// A key that has no meaning beside the others: refused with the reason, which follows the key.
    static func foreign(_ key: String, _ refusal: String) -> Field {
        Field(key: key, shape: .anything, refusal: refusal, doc: "Not here: it \(refusal).")
    }

    /// The key that chose this section among others.
    static func tag(_ key: String, _ word: String, _ doc: String) -> Field {
        Field(key: key, shape: .word([word]), isRequired: true, doc: doc)
    }
}

/// A part of the field table that is made when it is first asked for.
final class Deferred<Made> {
    private let make: () -> Made
    private(set) lazy var value = make()

    init(_ make: @escaping () -> Made) { self.make = make }
}

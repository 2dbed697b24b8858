/// A part of the field table that is made when it is first asked for.
final class Deferred<Made> {
    private let make: () -> Made
    private(set) lazy var value = make()

    init(_ make: @escaping () -> Made) { self.make = make }
}

import Synchronization

/// The way that a request took, where it was not passed through from beginning to end.
package enum RequestWay: Sendable, Equatable {
    case ordinary(OrdinaryReason)
    case promoted(PromotionReason)

    package var reason: String {
        switch self {
        case .ordinary(let reason): reason.rawValue
        case .promoted(let reason): reason.rawValue
        }
    }

    package var sentence: String {
        switch self {
        case .ordinary(let reason): reason.sentence
        case .promoted(let reason): reason.sentence
        }
    }

    package static let reasons =
        OrdinaryReason.allCases.map(\.rawValue) + PromotionReason.allCases.map(\.rawValue)
}

/// Where the way of a request is written down, once, by the loop that has the request; whoever explains it reads it.
package struct RequestWayRecord: ~Copyable, Sendable {
    /// 0 where nothing is written, and else one more than the place in `all`.
    private let position = Atomic<UInt8>(0)

    private static let all: [RequestWay] =
        OrdinaryReason.allCases.map { .ordinary($0) } + PromotionReason.allCases.map { .promoted($0) }

    package var path: RequestWay? {
        let position = Int(position.load(ordering: .relaxed))
        return position == 0 ? nil : Self.all[position - 1]
    }

    package init() {}

    package func write(_ path: RequestWay) {
        guard let index = Self.all.firstIndex(of: path) else { return }
        position.store(UInt8(index + 1), ordering: .relaxed)
    }
}

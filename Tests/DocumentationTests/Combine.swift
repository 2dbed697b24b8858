import RelayFoundation
import RelayKit

/// A picture of a place, or the one that is shown while there is none.
struct Picture: Decodable, Equatable {
    let name: String
}

extension RoutePolicy {
    /// Three more tries with growing waits, and not one for what asking again does not mend.
    static func pictures() throws(Refusal) -> RoutePolicy {
        var policy = RoutePolicy(upstreams: [try Upstream("https://pictures.example/")])
        policy.maxAttempts = 4
        policy.recovery = [.backoff(on: [429, 503, .connection, .timeout], maxAttempts: 4)]
        return policy
    }
}

/// A picture that is there in any case: nothing of this throws.
func picture(of place: String, from pictures: RelayService) async -> Picture {
    await pictures.value(of: Request(.get, "places/\(place)")) { _ in Picture(name: "none") }
}

/// Pictures as their places come; one that fails ends nothing.
func show(
    _ places: some AsyncSequence<String, Never> & Sendable,
    from pictures: RelayService
) async -> [String] {
    let requests = places.map { place in PlainRequest<Picture>(.get, "places/\(place)") }
    var shown: [String] = []
    for await outcome in pictures.outcomes(of: requests, order: .input) {
        shown.append(outcome.value?.name ?? "none")
    }
    return shown
}

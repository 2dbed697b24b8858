import RelayKit

/// Sends every reading and counts what became of them.
func report(
    _ readings: some AsyncSequence<PlainRequest<Void>, Never> & Sendable,
    to service: RelayService
) async -> (delivered: Int, lost: Int) {
    var delivered = 0
    var lost = 0
    for await outcome in service.outcomes(of: readings, maxConcurrent: 4) {
        switch outcome.result {
        case .success: delivered += 1
        case .failure: lost += 1
        }
    }
    return (delivered, lost)
}

/// Looks up what somebody types; a newer text cancels the look-up of the one before it.
func suggestions(
    for texts: some AsyncSequence<String, Never> & Sendable,
    from service: RelayService
) async -> [String] {
    let requests = texts.map { text in Request(.get, "suggest", query: ["q": text]).map(\.text) }
    var latest: [String] = []
    for await outcome in service.outcomes(of: requests, superseding: { _ in "suggest" }) {
        guard case .success(let text?) = outcome.result else { continue }
        latest.append(text)
    }
    return latest
}

/// Results of many requests in the order they were asked for, with something in the place of each that failed.
func titles(of ids: [Int], from service: RelayService) async -> [String] {
    let requests = ids.map { id in
        var request = Request(.get, "titles/\(id)").map { $0.text ?? "" }
        request.placeholder = { _ in "unknown" }
        return request
    }
    var titles: [String] = []
    for await outcome in service.outcomes(of: requests, order: .input) {
        titles.append((try? outcome.result.get()) ?? "")
    }
    return titles
}

/// The candidate most like `word`, for "did you mean": at most a third of its letters (and one) may differ.
package func nearest(_ word: String, in candidates: [String]) -> String? {
    let limit = word.utf8.count / 3 + 1
    var best: (distance: Int, candidate: String)?
    for candidate in candidates {
        let distance = editDistance(Array(word.utf8.prefix(64)), Array(candidate.utf8.prefix(64)))
        if distance <= limit, distance < best?.distance ?? .max { best = (distance, candidate) }
    }
    return best?.candidate
}

/// Levenshtein distance in bytes.
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (lineIndex, byte) in left.enumerated() {
        var diagonal = row[0]
        row[0] = lineIndex + 1
        for column in 0..<right.count {
            let substituted = diagonal + (byte == right[column] ? 0 : 1)
            diagonal = row[column + 1]
            row[column + 1] = min(substituted, row[column] + 1, diagonal + 1)
        }
    }
    return row[right.count]
}

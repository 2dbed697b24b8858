import RelayFoundation
import RelayKit

/// A note as the server keeps it.
struct Note: Codable, Equatable {
    let text: String
}

/// Writes a note, and gives it as the server has it: content, status and coders are the request's.
func write(_ note: Note, to notes: RelayService) async throws -> Note {
    try await notes.execute(Request(.put, "notes/today", content: .json(note)))
}

/// Why a note could not be read, in the words of `URLError` and of a check of the status.
func explanation(of notes: RelayService) async -> String {
    do throws(Failure) {
        return try await notes.execute(PlainRequest<Note>(.get, "notes/today")).text
    } catch {
        switch error.kind {
        case .httpStatus: return "the server answered \(error.status?.rawValue ?? 0)"
        case .connectionTimeout, .httpResponseTimeout: return "the request timed out"
        case .dnsError, .connectionRefused: return "cannot find or reach the server"
        default: return error.detail
        }
    }
}

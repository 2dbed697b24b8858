import Foundation
import RelayClient
import RelayClientFoundation

/// What the relay's status is, or why nobody knows.
func statusText(_ relay: RelayClient) async -> String {
    do {
        return try await relay.request(.get, "/v1/status").text
    } catch {
        return error.localizedDescription
    }
}

import Foundation
import RelayClient
import RelayClientFoundation

/// The relay's status, or why nobody knows it.
func statusText(_ relay: RelayClient) async -> String {
    do {
        return try await relay.request(.get, "/v1/status").text
    } catch {
        return error.localizedDescription
    }
}

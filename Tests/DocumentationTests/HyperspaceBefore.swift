// The client the article about Hyperspace-style clients starts from.

/// A request that counts its own attempts.
struct Call: Sendable {
    var path: String
    var token: String?
    var attemptsLeft = 1
}

/// An answer outside 200–299.
struct Refused: Error {
    let status: Int
}

enum Repaired {
    case notMine
    case giveUp(any Error)
    case again(Call)
}

protocol Repair: Sendable {
    func attempt(after error: any Error, of call: Call) async -> Repaired
}

/// Logs in again after a 401.
struct LogInAgain: Repair {
    let fetchToken: @Sendable () async throws -> String

    func attempt(after error: any Error, of call: Call) async -> Repaired {
        guard let refused = error as? Refused, refused.status == 401 else { return .notMine }
        guard call.attemptsLeft > 0 else { return .giveUp(refused) }
        var next = call
        next.attemptsLeft -= 1
        do {
            next.token = try await fetchToken()
        } catch {
            return .giveUp(error)
        }
        return .again(next)
    }
}

struct Backend: Sendable {
    let repairs: [any Repair]
    let send: @Sendable (Call) async throws -> [UInt8]

    func execute<Value>(
        _ call: Call,
        decode: @Sendable ([UInt8]) throws -> Value
    ) async throws -> Value {
        do {
            return try decode(try await send(call))
        } catch {
            for repair in repairs {
                switch await repair.attempt(after: error, of: call) {
                case .notMine: continue
                case .giveUp(let other): throw other
                case .again(let next): return try await execute(next, decode: decode)
                }
            }
            throw error
        }
    }
}

import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayPosix
import RelayServer
import Synchronization

extension Daemon {
    /// Looks at them from the control loop, which stays when the look is over: a token that is asked for is everybody's.
    func checkEndpoints(_ limit: Duration, isStrict: Bool) async throws(Problem) -> [UInt8] {
        guard endpointCheck.begin() else {
            throw Problem(
                .checkRunning,
                "the endpoints are being looked at already",
                retryAfter: .seconds(5)
            )
        }
        defer { endpointCheck.end() }
        let document = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                endpointCheck.runs(
                    controlLoop.spawn { [self] in
                        continuation.resume(returning: await seen(limit, isStrict: isStrict))
                    }
                )
            }
        } onCancel: {
            endpointCheck.cancel()
        }
        guard !engine.isDraining else {
            throw Problem(.draining, "the relay is stopping, and looks no further")
        }
        return document
    }

    private func seen(_ limit: Duration, isStrict: Bool) async -> [UInt8] {
        // A reload has this loop to itself, so that configuration and tokens belong together.
        let inForce = loaded.withLock { $0 }
        let visit = OnlineVisit(
            inForce,
            limit,
            on: controlLoop,
            engine.snapshot.vault,
            keepsTokens: true,
            CredentialEvents(announcer)
        )
        let findings = await visit.findings()
        return OnlineText(file: inForce.file, findings: findings, isStrict: isStrict).document.bytes
    }
}

/// Passes on what tells of tokens; requests of a look are no requests of a caller.
private final class CredentialEvents: EventSink {
    private let sink: any EventSink

    init(_ sink: any EventSink) { self.sink = sink }

    func record(_ event: JobEvent) {
        switch event {
        case .credentialRefreshed, .credentialFailed: sink.record(event)
        default: break
        }
    }
}

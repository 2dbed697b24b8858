import RelayBase
import RelayConfig
import RelayCore
import RelayEngine
import RelayJobs
import RelayPosix
import RelayRoute
import RelayServer
import RelaySystemd

extension LoadedConfiguration {
    /// The part that requests see; `previous` is the configuration it replaces, `tokens` keeps what endpoints rotate,
    /// and `shards` are those of `RouteMeter`.
    func snapshot(previous: Snapshot?, tokens: any RefreshTokenKeeper, shards: Int) -> Snapshot {
        var settings = Snapshot.Settings()
        settings.maxRequestBody = configuration.limits.maxRequestBody
        settings.replayBuffer = configuration.limits.replayBuffer
        settings.maxRequests = configuration.limits.maxRequests
        settings.callers = configuration.limits.forCallers
        settings.redactedHeaders = Set(configuration.log.redactedHeaders)
        settings.file = file
        settings.digest = digest
        settings.loadedAt = SystemClock.wallSeconds()
        settings.shards = shards
        return Snapshot(
            routes: configuration.routes.map { $0.resolved(secrets) },
            vault: CredentialVault(
                configuration.credentials,
                secrets: secrets,
                replacing: previous?.vault,
                keeper: tokens
            ),
            settings: settings,
            previous: previous
        )
    }
}

extension Limits {
    var forConnections: ConnectionLimits {
        var limits = ConnectionLimits()
        limits.total = maxConnections
        limits.perUser = perUser.maxConnections
        limits.tellsUsersApart = perUser.isEnabled
        return limits
    }

    var forShedding: PressureMachine.Settings {
        var settings = PressureMachine.Settings()
        settings.isEnabled = shedding.isEnabled
        settings.reports = shedding.reports
        settings.maxResident = shedding.maxResident.map { UInt64($0) } ?? MemoryLimit.available / 8 * 7
        return settings
    }

    /// Without a share of its own a user has half of the requests that all may have.
    var forCallers: CallerLimits {
        var limits = CallerLimits()
        limits.isEnabled = perUser.isEnabled
        guard perUser.isEnabled else { return limits }
        limits.maxRequests = perUser.maxRequests ?? maxRequests.map { ($0 + 1) / 2 }
        limits.maxBytes = perUser.maxBytes
        limits.rate = perUser.rate.map {
            RateLimitSettings(maxRequests: $0.maxRequests, per: $0.per, burst: $0.burst ?? $0.maxRequests)
        }
        return limits
    }
}

extension LogSettings.Level {
    var priority: JournalRecord.Priority {
        switch self {
        case .error: .error
        case .warning: .warning
        case .notice: .notice
        case .info: .info
        case .debug: .debug
        }
    }
}

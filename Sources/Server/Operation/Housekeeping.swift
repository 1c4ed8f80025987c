import Accounts
import Logging
import Model
import ServiceLifecycle
import Services
import Storage
import Tokens
import Webhooks

/// Keeps the database from growing without bound: removes old changes and unused sign-ins in small batches. It also
/// removes expired tokens and unused cache entries from memory, and recordings and voice messages past their retention
/// period.
struct Housekeeping: Service {
    /// A client that was away for longer starts over from a snapshot.
    static let keptSeconds: Int64 = 7 * 86_400

    let store: Store
    let accounts: AccountCommands
    let audit: AuditLog
    let tokens: TokenVerifier
    /// Nil if there are no files.
    let retention: Retention?
    let reportDays: Int
    let logger: Logger

    /// How long it is kept what hosted services were asked for.
    private static let providerCallDays: Int64 = 400

    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(600))
                if Task.isCancelled { return }
                tokens.forgetExpired()
                accounts.ageCaches()
                do {
                    try await sweep()
                    try await retention?.sweep()
                } catch {
                    logger.error("housekeeping failed", metadata: ["error": "\(error)"])
                }
            }
        }
    }

    /// Works in small transactions, so that other writers do not wait.
    private func sweep() async throws {
        while try await trim() > 0, !Task.isCancelled {}
        while try await store.write({ try $0.removeEndedSignals() }).value, !Task.isCancelled {}
        while try await accounts.removeStale() > 0, !Task.isCancelled {}
        while try await audit.removeOld() > 0, !Task.isCancelled {}
        while try await trimEvents() > 0, !Task.isCancelled {}
        while try await store.write({ try $0.removeOldRises(limit: 500) }).value > 0, !Task.isCancelled {}
        while try await trimPushes() > 0, !Task.isCancelled {}
        while try await removeReports() > 0, !Task.isCancelled {}
        while try await removeProviderCalls() > 0, !Task.isCancelled {}
        while try await store.write({ try $0.removeOldPhrases(limit: 500) }).value > 0, !Task.isCancelled {}
        while try await store.database.releaseFreeSpace(), !Task.isCancelled {}
    }

    private func trimEvents() async throws -> Int {
        try await store.write { transaction in
            let time = transaction.now.adding(seconds: -WebhookLimits.retentionSeconds)
            return try transaction.trimEvents(before: time, limit: 500)
        }.value
    }

    /// Rings whose end was never noted.
    private func trimPushes() async throws -> Int {
        try await store.write { transaction in
            try transaction.trimPushes(before: transaction.now.adding(seconds: -86_400), limit: 500)
        }.value
    }

    private func removeReports() async throws -> Int {
        try await store.write { transaction in
            let time = transaction.now.adding(seconds: Int64(reportDays) * -86_400)
            return try transaction.removeReports(before: time, limit: 500)
        }.value
    }

    private func removeProviderCalls() async throws -> Int {
        try await store.write { transaction in
            let time = transaction.now.adding(seconds: Self.providerCallDays * -86_400)
            return try transaction.removeProviderCalls(before: time, limit: 500)
        }.value
    }

    private func trim() async throws -> Int {
        try await store.write { transaction in
            try transaction.trim(before: transaction.now.adding(seconds: -Self.keptSeconds))
        }.value
    }
}

package import Accounts
package import Logging
package import Model
import ServiceLifecycle
import Synchronization

/// Writes the audit log: every write of a server key and of the command line, and rejections.
///
/// A write is a row in its own transaction, made by its command, and a log line once that is durable. Refusals are
/// counted and written each minute, as a row and a line for each kind, so that an attack neither fills the database nor
/// waits for its disk.
package final class AuditLog: Service {
    /// How long rows are kept. The log lines leave the machine and may be kept for longer.
    package static let keptSeconds: Int64 = 400 * 86_400
    private static let flushInterval = Duration.seconds(60)

    private let database: any AccountDatabase
    private let logger: Logger
    private let rejections = Mutex(RejectionCounter())
    private let used = Mutex<[ServerKeyID: Timestamp]>([:])

    package init(database: any AccountDatabase, logger: Logger) {
        self.database = database
        self.logger = logger
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.flushInterval)
                await self.flushOrReport()
            }
        }
        await flushOrReport()
    }

    /// Logs a write whose row is durable.
    package func log(_ entry: AuditEntry) {
        var metadata: Logger.Metadata = [
            "actor": "\(entry.actor.text)", "action": "\(entry.action)", "outcome": "\(entry.outcome)",
        ]
        if let subject = entry.subject { metadata["subject"] = "\(subject)" }
        if let address = entry.address { metadata["address"] = "\(address)" }
        if let request = entry.request { metadata["request"] = "\(request.text)" }
        if entry.count != 1 { metadata["count"] = "\(entry.count)" }
        logger.notice("audit", metadata: metadata)
    }

    /// Writes an entry of its own, and logs it: for what is written by a command that does not know of the audit log.
    package func write(_ entry: AuditEntry) async throws {
        _ = try await database.writeAccounts { try $0.insert(entry) }
        log(entry)
    }

    /// Like `write`, for what must be possible while the disk is full: then it is a log line alone.
    package func writeIfPossible(_ entry: AuditEntry) async {
        do { try await write(entry) } catch { log(entry) }
    }

    /// Counts a refusal.
    package func refused(_ action: String, by actor: AuditActor, because reason: String, from address: String?) {
        let entry = AuditEntry(actor: actor, action: action, outcome: reason, address: address)
        rejections.withLock { $0.add(entry) }
    }

    /// Notes the use of a key, which is written with the rejections.
    package func used(_ key: ServerKeyID, at now: Timestamp) { used.withLock { $0[key] = now } }

    /// Writes what was counted.
    package func flush() async throws {
        let entries = rejections.withLock { $0.removeAll() }
        let used = used.withLock { used in
            defer { used = [:] }
            return used
        }
        guard !entries.isEmpty || !used.isEmpty else { return }
        do {
            _ = try await database.writeAccounts { store in
                for entry in entries { try store.insert(entry) }
                for (key, time) in used { try store.updateLastUse(of: key, to: time) }
            }
        } catch {
            // The next flush writes them.
            rejections.withLock { rejections in
                for entry in entries { rejections.add(entry) }
            }
            throw error
        }
        for entry in entries { log(entry) }
    }

    /// The latest entries since `time`, with those that were not written yet.
    package func entries(since time: Timestamp, limit: Int) async throws -> [AuditEntry] {
        try await flush()
        return try await database.readAccounts { try $0.auditEntries(since: time, limit: limit) }
    }

    /// The latest entries whose ids are below `id`, the newest first, with those that were not written yet.
    package func entries(before id: Int64?, limit: Int) async throws -> [AuditEntry] {
        // On a full disk they are shown once they could be written.
        if id == nil { await flushOrReport() }
        return try await database.readAccounts { try $0.auditEntries(before: id, limit: limit) }
    }

    /// Removes a batch of entries that are older than `keptSeconds`. Returns the number of removed rows.
    package func removeOld(limit: Int = 500) async throws -> Int {
        try await database.writeAccounts { store in
            try store.removeAuditEntries(before: store.now.adding(seconds: -Self.keptSeconds), limit: limit)
        }.value
    }

    private func flushOrReport() async {
        do {
            try await flush()
        } catch {
            logger.error("the audit log could not be written", metadata: ["error": "\(error)"])
        }
    }
}

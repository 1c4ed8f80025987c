package import Model

/// A line of the audit log: who did what to whom, or was refused to. It never has a body or a secret.
package struct AuditEntry: Hashable, Sendable {
    package static let done = "done"

    /// Set by the store.
    package var id: Int64?
    /// Nil: the time of the transaction that inserts it.
    package var at: Timestamp?
    package var actor: AuditActor
    /// Such as `server.users.put` or `key.create`.
    package var action: String
    /// The id of the user, the call or the key that it is about.
    package var subject: String?
    /// `done`, or the reason of a refusal.
    package var outcome: String
    /// The client's address for limits; nil on the command line.
    package var address: String?
    /// How often it happened within a minute: refusals are counted.
    package var count: Int64
    /// The request that did it, or the last of those that are counted; nil on the command line.
    package var request: RequestID?

    package init(
        id: Int64? = nil, at: Timestamp? = nil, actor: AuditActor, action: String, subject: String? = nil,
        outcome: String = done, address: String? = nil, count: Int64 = 1, request: RequestID? = .current
    ) {
        self.id = id
        self.at = at
        self.actor = actor
        self.action = action
        self.subject = subject
        self.outcome = outcome
        self.address = address
        self.count = count
        self.request = request
    }
}

package enum AuditActor: Hashable, Sendable {
    /// The operator, on the command line.
    case commandLine
    case key(ServerKeyID)
    /// A user, about the own account.
    case user(UserID)
    /// A client that did not prove who it is.
    case unknown

    /// The names of the two columns.
    package var columns: (kind: String, id: String?) {
        switch self {
        case .commandLine: ("operator", nil)
        case .key(let id): ("key", id.text)
        case .user(let id): ("user", id.text)
        case .unknown: ("unknown", nil)
        }
    }

    package init(kind: String, id: String?) {
        self =
            switch kind {
            case "operator": .commandLine
            case "key": id.flatMap { ServerKeyID($0) }.map { .key($0) } ?? .unknown
            case "user": id.flatMap { UserID($0) }.map { .user($0) } ?? .unknown
            default: .unknown
            }
    }
}

/// The storage of the audit log, inside one transaction.
package protocol AuditStore {
    func insert(_ entry: AuditEntry) throws
    /// The latest `limit` entries since `time`, the oldest first.
    func auditEntries(since time: Timestamp, limit: Int) throws -> [AuditEntry]
    /// The latest `limit` entries whose ids are below `id`, the newest first; nil begins with the newest of all.
    func auditEntries(before id: Int64?, limit: Int) throws -> [AuditEntry]
    /// Returns the number of removed entries.
    func removeAuditEntries(before time: Timestamp, limit: Int) throws -> Int
}

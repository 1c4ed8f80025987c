package import Accounts
import Messaging
import Model

/// Imports the records of a batch, in one transaction.
///
/// A conversation is filled while nobody is in it, so that nobody sees a part of it, and it needs neither an epoch of its
/// own nor notices: its numbers and versions rise from 1 as those of any other. `finish` lets its members in, who get one
/// notice. What is interrupted goes on where it was: whatever is there already is the same, or a conflict.
package struct ImportCommands: Sendable {
    private let secrets: any SecretSource

    package init(secrets: any SecretSource) { self.secrets = secrets }

    /// Whether a message was imported before.
    package func has(_ message: String, of source: String, in store: some ImportStore) throws -> Bool {
        let batch = ImportBatch(store: store, secrets: secrets)
        return try store.importedMessage(batch.clientID(message, source)) != nil
    }

    /// Runs the steps in order. Those that are refused change nothing; an error that is thrown is one of the storage.
    ///
    /// - Parameter continues: whether a conversation goes on after something of it was refused.
    package func run(
        _ steps: [ImportStep], continues: Bool = false, in store: some ImportStore
    ) throws -> [ImportOutcome] {
        let batch = ImportBatch(store: store, secrets: secrets)
        var stopped: Set<String> = []
        return try store.withoutUpdates {
            try steps.map { step in
                if let conversation = step.conversation, stopped.contains(conversation) { return .stopped }
                let reason: String
                do {
                    return try batch.run(step)
                } catch let refusal as ImportRefusal {
                    reason = refusal.reason
                } catch let problem as Problem {
                    reason = problem.detail
                }
                if !continues, step.mayStop, let conversation = step.conversation { stopped.insert(conversation) }
                return .refused(reason)
            }
        }
    }
}

/// One batch, with what it has looked up.
final class ImportBatch<Store: ImportStore> {
    let store: Store
    let secrets: any SecretSource
    /// Users by their keys.
    private var users: [[UInt8]: UserRecord] = [:]
    /// The members of conversations that are no groups.
    var pairs: [ConversationID: [UserID]] = [:]

    init(store: Store, secrets: any SecretSource) {
        self.store = store
        self.secrets = secrets
    }

    func run(_ step: ImportStep) throws -> ImportOutcome {
        switch step {
        case .record(let record, let source, let sound):
            // Of the record, not of the line: neither spaces nor the order of members matter.
            let digest = secrets.digest(String(decoding: record.imported.json(), as: UTF8.self))
            switch record {
            case .user(let user): return try run(user, source, digest)
            case .conversation(let conversation): return try run(conversation, source, digest)
            case .message(let message): return try run(message, source, digest, sound)
            case .member(let member): return try run(member, source, digest)
            case .own(let own): return try run(own, source, digest)
            }
        case .finish(let conversation, let source): return try finish(conversation, source)
        }
    }

    func key(_ kind: String, _ id: String, _ source: String) -> [UInt8] {
        secrets.digest(TransferFormat.key(kind, id, of: source))
    }

    /// The outcome for a record that is there.
    func known(_ record: ImportedRecord, _ digest: [UInt8], _ what: String) throws -> ImportOutcome {
        // Of a deleted user no digest is left.
        guard record.digest.isEmpty || record.digest == digest else {
            throw ImportRefusal("Conflict: \(what) was imported before with another content.")
        }
        return .same
    }

    /// The user whom a record names.
    func user(_ id: String, _ source: String, _ field: String) throws -> UserRecord {
        let key = key("user", id, source)
        if let known = users[key] { return known }
        guard let record = try store.importedRecord(key), let user = UserID(record.entity),
            let found = try store.user(user)
        else { throw ImportRefusal("\(field): the user \(id) was not imported.") }
        users[key] = found
        return found
    }

    private func run(_ user: TransferUser, _ source: String, _ digest: [UInt8]) throws -> ImportOutcome {
        let key = key("user", user.id, source)
        if let record = try store.importedRecord(key) { return try known(record, digest, "the user \(user.id)") }
        let id: UserID
        var note: String?
        if let ext = user.ext, let existing = try store.user(issuer: UserReference.issuer, subject: ext) {
            (id, note) = (existing.id, "ext:\(ext) is here already: the account stays as it is")
        } else {
            id = try create(user)
        }
        try store.save(ImportedRecord(key: key, kind: "user", entity: id.text, user: id, digest: digest))
        return note.map { .newWithout($0) } ?? .new
    }

    private func create(_ user: TransferUser) throws -> UserID {
        let identity = user.ext.map { ExternalIdentity(issuer: UserReference.issuer, subject: $0) }
        if let identity, try store.identityDeletedAt(hash: identity.tombstone(secrets)) != nil {
            throw ImportRefusal("ext:\(identity.subject) was deleted here.")
        }
        var new = UserRecord(
            id: .make(at: store.now), email: user.email, passwordHash: user.passwordHash, displayName: user.name,
            languages: user.languages, createdAt: user.createdAt ?? store.now)
        (new.notifications, new.quietHours) = (user.notifications, user.quietHours)
        // Not by `create`: nobody is told of users of before.
        guard try store.insert(new) else {
            throw ImportRefusal(
                "There is an account with this e-mail address already, of a user who was not imported. If it is the same "
                    + "person, give that account the ext of this line.")
        }
        if let identity { try store.link(identity, to: new.id) }
        return new.id
    }
}

internal import Foundation
package import Model
package import Webhooks

/// One transaction of the store: the log of streams here, and the rows of each part of the product in extensions.
///
/// It is confined to one thread and must not outlive its job.
package final class StoreTransaction {
    /// The connection, once the messages that wait are inserted.
    package var sql: any SQLTransaction {
        get throws {
            try insertWaitingMessages()
            return connection
        }
    }
    /// The connection, for statements that neither read nor write messages.
    let connection: any SQLTransaction
    /// The wall-clock time of this transaction, for all its rows.
    package let now: Timestamp
    /// What this transaction has appended, in order.
    package internal(set) var changes: [Change] = []
    /// Those who have left conversations in it.
    var departures: [(conversation: ConversationID, user: UserID)] = []
    /// What it has changed in conversations.
    var touched = TouchedConversations()
    package let subscriptions: WebhookSubscriptions
    /// Whether an endpoint has a realtime session.
    let isConnected: @Sendable (EndpointID) -> Bool
    /// Whether a session listens to a stream.
    let isListened: @Sendable (StreamName) -> Bool
    /// Whether it has written a webhook.
    var hasChangedWebhooks = false
    /// Whether it has written an event or a delivery.
    var hasInsertedEvents = false
    /// The webhooks for which it has written deliveries that wait for a claim.
    var notifiedWebhooks: Set<WebhookID> = []
    /// The deliveries that it has written as claims of this process.
    var claims: [ClaimedDelivery] = []
    let deliveryClaimer: Store.DeliveryClaimer?
    /// Who may have a device to push to; nil in a transaction that only reads.
    let pushAudience: PushAudience?
    /// When the first of what it has written of pushes is due.
    var pushesDue: Timestamp?
    /// What it has learned and changed of who has a device.
    var pushNotes: [PushAudience.Note] = []

    /// What is not true any more, also before it is committed.
    func notePush(_ note: PushAudience.Note) {
        guard let pushAudience else { return }
        pushAudience.apply([note])
        pushNotes.append(note)
    }
    /// The conversations in which it has stored new messages.
    var conversationsWithNewMessages: Set<ConversationID> = []
    /// The messages whose text or transcript it has changed, by number.
    var messagesWithChangedTexts: [ConversationID: Set<Int64>] = [:]
    /// When the earliest of what it has written is due.
    var nextDue: Timestamp?
    /// Media files whose rows it has removed, and voice files that are to be transcribed.
    var removedFiles: [FileID] = []
    var filesToTranscribe: [FileID] = []
    /// Whether it has demanded something that is to be derived from messages.
    var hasDemandedJobs = false
    /// Texts that are to be left in no byte of the database.
    var hasErasedTexts = false
    /// Of several sends: what they share.
    var sends: SharedSends?

    package convenience init(
        _ sql: any SQLTransaction, now: Timestamp, subscriptions: WebhookSubscriptions = WebhookSubscriptions(),
        isConnected: @escaping @Sendable (EndpointID) -> Bool = { _ in false },
        isListened: @escaping @Sendable (StreamName) -> Bool = { _ in true },
        deliveryClaimer: Store.DeliveryClaimer? = nil
    ) {
        self.init(
            sql, now: now, subscriptions: subscriptions, isConnected: isConnected, isListened: isListened,
            deliveryClaimer: deliveryClaimer, pushAudience: nil)
    }

    init(
        _ sql: any SQLTransaction, now: Timestamp, subscriptions: WebhookSubscriptions,
        isConnected: @escaping @Sendable (EndpointID) -> Bool, isListened: @escaping @Sendable (StreamName) -> Bool,
        deliveryClaimer: Store.DeliveryClaimer?, pushAudience: PushAudience?
    ) {
        connection = sql
        self.now = now
        self.subscriptions = subscriptions
        self.isConnected = isConnected
        self.isListened = isListened
        self.deliveryClaimer = deliveryClaimer
        self.pushAudience = pushAudience
    }

    /// Appends a change to the user's stream and returns its position. Changes of other streams are `StreamEntry`s.
    @discardableResult
    package func append(_ type: UserChangeType, _ data: some Encodable, to user: UserID) throws -> Position {
        try append(type.rawValue, json: Self.json(data), to: .user(user))
    }

    /// Appends a change of any type to a durable stream. The first change creates the stream. Only for this module:
    /// other modules name a type that the stream has.
    @discardableResult
    func append(_ type: String, json: String, to stream: StreamName) throws -> Position {
        guard stream.isDurable else {
            throw SQLError(.failed, "The stream \(stream) is ephemeral: nothing can be appended to it.")
        }
        let row = try sql.first(
            """
            INSERT INTO streams (name, epoch, seq, trimmed, at) VALUES (?1, \(Self.epochOfNewStreams), 1, 0, ?2)
            ON CONFLICT (name) DO UPDATE SET seq = streams.seq + 1, at = excluded.at RETURNING epoch, seq
            """, [.stream(stream), .time(now)])
        guard let row else { throw SQLError(.failed, "The stream \(stream) returned no sequence.") }
        let position = Position(epoch: try row.text(0), sequence: try row.integer(1))
        try sql.execute(
            "INSERT INTO changes (stream, seq, type, data, at) VALUES (?1, ?2, ?3, ?4, ?5)",
            [.stream(stream), .integer(position.sequence), .text(type), .text(json), .time(now)])
        changes.append(Change(stream: stream, position: position, type: type, data: json))
        return position
    }

    /// The current position of `stream`. An ephemeral stream has no epoch and is at 0.
    package func position(of stream: StreamName) throws -> Position {
        guard stream.isDurable else { return Position(epoch: "", sequence: 0) }
        return try state(of: stream).position
    }

    /// JSON text for the log: encoded once and sent unchanged to every listener.
    package static func json(_ value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return encoder
    }()

    /// The epoch of streams that have no row yet: an expression of SQL.
    static let epochOfNewStreams = "(SELECT COALESCE(stream_epoch, epoch) FROM log WHERE id = 1)"

    func state(of stream: StreamName) throws -> (position: Position, trimmed: Int64) {
        if let row = try sql.first("SELECT epoch, seq, trimmed FROM streams WHERE name = ?1", [.stream(stream)]) {
            return (Position(epoch: try row.text(0), sequence: try row.integer(1)), try row.integer(2))
        }
        guard let row = try sql.first("SELECT \(Self.epochOfNewStreams)"), let epoch = try row.textIfPresent(0) else {
            throw SQLError(.failed, "The change log has no epoch: the database was never prepared.")
        }
        return (Position(epoch: epoch, sequence: 0), 0)
    }
}

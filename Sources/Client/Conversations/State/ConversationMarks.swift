/// How far the members of a conversation have received and read it, and what the user has noted on its messages.
///
/// Above 100 members it has the user's own marks alone.
public struct ConversationMarks: Codable, Hashable, Sendable {
    private enum CodingKeys: String, CodingKey { case read, delivered, others }

    /// How far another member is, as far as they let others see.
    public struct Shown: Codable, Hashable, Sendable {
        /// The number of the last message that they have received; 0 if they do not show it.
        public var delivered = 0
        /// What they have read and let others see, in order.
        public var read: [ClosedRange<Int>] = []

        /// Whether they have read a message, and let others see that.
        public func hasRead(_ number: Int) -> Bool { read.contains { $0.contains(number) } }
    }

    /// The number of the last message that the user has read, on any device.
    public internal(set) var read = 0
    /// The number of the last message that others see as received by the user.
    public internal(set) var delivered = 0
    /// How far other members are.
    public internal(set) var others: [UserID: Shown] = [:]
    /// What the user has noted, by the numbers of the messages.
    public internal(set) var own: [Int: OwnMessage] = [:]

    /// The users who have read a message.
    public func readers(of number: Int) -> Set<UserID> { Set(others.filter { $0.value.hasRead(number) }.keys) }

    /// The users who have received a message, or read it.
    public func receivers(of number: Int) -> Set<UserID> {
        Set(others.filter { $0.value.delivered >= number || $0.value.hasRead(number) }.keys)
    }
}

/// A row of the stream of marks. Those of newer servers are `unknown`.
enum MarksRow: Hashable, Sendable {
    case mine(read: Int, delivered: Int)
    case other(UserID, ConversationMarks.Shown)
    case own(OwnMessage)
    case scheduled(ScheduledSummary)
    case unknown
}

extension MarksRow: Decodable {
    private enum Key: String, CodingKey { case marks, own, scheduled }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if container.contains(.marks) {
            self = try container.decode(MarksDocument.self, forKey: .marks).row
        } else if container.contains(.own) {
            self = .own(try container.decode(OwnMessage.self, forKey: .own))
        } else if container.contains(.scheduled) {
            self = .scheduled(try container.decode(ScheduledSummary.self, forKey: .scheduled))
        } else {
            self = .unknown
        }
    }
}

/// Somebody's marks as they stand in JSON: `read` in the user's own, `shown` in others'.
struct MarksDocument: Decodable, Hashable, Sendable {
    var user: UserID
    var read: Int?
    var delivered: Int
    var shown: [[Int]]?

    var row: MarksRow {
        if let shown {
            // After the first number, up to the second.
            let ranges = shown.compactMap { $0.count == 2 ? range([$0[0] &+ 1, $0[1]]) : nil }
            return .other(user, .init(delivered: delivered, read: ranges))
        }
        return read.map { .mine(read: $0, delivered: delivered) } ?? .unknown
    }
}

/// The snapshot of the stream of marks.
struct MarksSnapshot: Decodable, Hashable, Sendable {
    var marks: [MarksDocument]
    /// Absent from older servers.
    var scheduled: ScheduledSummary?
}

/// What a client holds of the stream of marks, without I/O.
struct MarksState: Hashable, Sendable {
    private(set) var marks = ConversationMarks()
    /// The messages that the user has scheduled; they come again with every connection, and are not stored.
    private(set) var scheduled: ScheduledSummary?
    /// Where the stream is; nil before the first snapshot.
    private(set) var position: StreamPosition?
    /// What has to be stored.
    private var changes = Changes()

    struct Changes: Hashable, Sendable {
        /// Everything that was stored is void.
        var isReplaced = false
        /// The marks and the position.
        var head = false
        /// The numbers of messages of which notes have changed.
        var own: Set<Int> = []
        var isEmpty: Bool { self == Changes() }
    }

    init() {}

    /// What was stored.
    init(_ marks: ConversationMarks, at position: StreamPosition?) {
        self.marks = marks
        self.position = position
    }

    mutating func takeChanges() -> Changes {
        defer { changes = Changes() }
        return changes
    }

    /// Begins before all changes, if nothing is held: a snapshot has no notes on the messages that are stored.
    mutating func begin(in epoch: String) {
        if position == nil { position = StreamPosition(epoch: epoch, sequence: 0) }
    }

    /// Applies the snapshot: what others show is as it says. Notes come with the messages.
    mutating func apply(_ snapshot: MarksSnapshot, at new: StreamPosition) {
        if position?.epoch != new.epoch {
            self = MarksState()
            changes.isReplaced = true
        } else if let position, position.sequence > new.sequence {
            return
        }
        marks.others = [:]
        for document in snapshot.marks { keep(document.row) }
        if let scheduled = snapshot.scheduled { keep(.scheduled(scheduled)) }
        position = new
        changes.head = true
    }

    /// Applies a frame of rows. A frame of another epoch is followed by a snapshot.
    mutating func apply(_ frame: RowFrame<MarksRow>) {
        guard let held = position, held.epoch == frame.epoch else { return }
        for row in frame.rows { keep(row) }
        position?.sequence = max(held.sequence, Int64(frame.upTo))
        changes.head = true
    }

    /// Takes what the user has noted, wherever it was read.
    mutating func keep(_ own: OwnMessage) {
        if let held = marks.own[own.number], held.counter >= own.counter { return }
        marks.own[own.number] = own
        changes.own.insert(own.number)
    }

    /// Takes a reaction of the user's that a response has acknowledged. The note keeps its counter, so that the
    /// stream's replaces it.
    mutating func acknowledge(_ emoji: String, isOn: Bool, on number: Int) {
        var note = marks.own[number] ?? OwnMessage(number: number, starred: false, reacted: [], counter: 0)
        guard note.reacted.contains(emoji) != isOn else { return }
        note.reacted.removeAll { $0 == emoji }
        if isOn { note.reacted.append(emoji) }
        marks.own[number] = note
        changes.own.insert(number)
    }

    mutating func acknowledge(_ read: ReadMarks) {
        keep(.mine(read: read.read, delivered: read.delivered))
        changes.head = true
    }

    private mutating func keep(_ row: MarksRow) {
        switch row {
        case .mine(let read, let delivered):
            marks.read = max(marks.read, read)
            marks.delivered = max(marks.delivered, delivered)
        case .other(let user, let shown): marks.others[user] = shown
        case .own(let own): keep(own)
        case .scheduled(let summary): scheduled = summary
        case .unknown: break
        }
    }
}

import Foundation

/// What a client holds of the user's inbox, without I/O. Of two copies of a row, the one with the higher counter is
/// kept, so that pages and frames may come twice, late or in another order. Rows that are gone stay, as tombstones.
struct InboxState: Hashable, Sendable {
    /// A row's key in the order: the pinned first, then by activity and id, the highest first.
    struct SortKey: Comparable, Hashable, Sendable, Codable {
        var isPinned = false
        var activity: Int
        var id: String

        static func < (left: Self, right: Self) -> Bool {
            guard left.isPinned == right.isPinned else { return right.isPinned }
            return (left.activity, left.id) < (right.activity, right.id)
        }
    }

    private(set) var rows: [ConversationID: InboxRow] = [:]
    /// Where the stream is; nil before the first snapshot.
    var position: StreamPosition?
    /// The last row that was read: there may be others after it. Nil if all rows were read.
    var boundary: SortKey?
    /// The cursor of the page after the boundary.
    var nextCursor: String?
    /// The conversations with unread messages that are not held.
    var unreadBelow = 0
    /// What has to be stored.
    var changes = Changes()

    struct Changes: Hashable, Sendable {
        var isReplaced = false
        var head = false
        var rows: Set<ConversationID> = []
        var isEmpty: Bool { self == Changes() }
    }

    /// The rows in order, as far as everything between them is held.
    var shown: [InboxRow] {
        rows.values.filter { row in
            guard row.gone != true, row.membership?.archived != true else { return false }
            return boundary.map { row.sortKey >= $0 } ?? true
        }.sorted { $0.sortKey > $1.sortKey }
    }

    /// How many conversations have unread messages.
    var unread: Int { max(0, unreadBelow + shown.count(where: \.isUnread)) }

    mutating func takeChanges() -> Changes {
        defer { changes = Changes() }
        return changes
    }

    /// Applies the snapshot of the stream.
    mutating func apply(_ snapshot: InboxPage, at new: StreamPosition) {
        if let position, position.epoch == new.epoch, position.sequence > new.sequence {
            for row in snapshot.conversations { keep(row) }
            return
        }
        // Rows that moved after the snapshot was read are newer than it.
        let newer = position?.epoch == new.epoch ? rows.values.filter { $0.counter > new.sequence } : []
        rows = [:]
        changes = Changes(isReplaced: true, head: true)
        for row in snapshot.conversations + newer { keep(row) }
        position = new
        read(snapshot)
    }

    /// Applies a frame of rows.
    mutating func apply(_ frame: RowFrame<InboxRow>) -> ConversationState.FrameOutcome {
        guard let position, position.epoch == frame.epoch else { return .hole }
        for row in frame.rows { keep(row) }
        guard frame.after <= position.sequence else { return .hole }
        if frame.upTo > position.sequence {
            self.position?.sequence = Int64(frame.upTo)
            changes.head = true
        }
        return .applied
    }

    /// Applies the page that was read at a cursor.
    mutating func apply(_ page: InboxPage, at cursor: String) -> ConversationState.PageOutcome {
        guard let position, position.epoch == page.position?.epoch else { return .outdated }
        for row in page.conversations { keep(row) }
        if cursor == nextCursor { read(page) }
        return .applied
    }

    /// Everything up to the end of the page is held, and its totals are of all rows.
    private mutating func read(_ page: InboxPage) {
        nextCursor = page.nextCursor
        boundary = page.nextCursor == nil ? nil : page.conversations.last?.sortKey ?? boundary
        count(page.totals)
        changes.head = true
    }

    /// Takes new totals, of all rows.
    mutating func count(_ totals: InboxPage.Totals) {
        unreadBelow = boundary == nil ? 0 : totals.unread - shown.count(where: \.isUnread)
        changes.head = true
    }

    /// Whether a row came from below the boundary, so that the totals have to be read again.
    func isBelow(_ row: InboxRow) -> Bool {
        guard let boundary, row.gone != true, row.sortKey >= boundary else { return false }
        return rows[row.id].map { $0.sortKey < boundary } ?? true
    }

    /// Removes the texts that have disappeared.
    mutating func expire(at now: Date) {
        for (id, row) in rows where row.lastMessage?.expiry.map({ $0 <= now }) ?? false {
            rows[id]?.lastMessage = row.lastMessage?.asOf(now)
            changes.rows.insert(id)
        }
    }

    /// When the next text disappears.
    var nextExpiry: Date? { rows.values.lazy.compactMap { $0.lastMessage?.expiry }.min() }

    /// What waits to be written of memberships is shown as done; the result is not stored.
    func applying(_ entries: [WriteEntry]) -> InboxState {
        var shown = self
        for entry in entries where entry.kind == .membership && entry.failure == nil {
            guard var membership = shown.rows[entry.conversation]?.membership else { continue }
            entry.membership?.apply(to: &membership)
            shown.rows[entry.conversation]?.membership = membership
        }
        return shown
    }

    /// Takes what a response has acknowledged. The row keeps its counter, so that the stream's replaces it.
    mutating func acknowledge(_ acknowledgement: Acknowledgement, in id: ConversationID, by owner: UserID) {
        guard let held = rows[id] else {
            guard case .created(let result) = acknowledgement else { return }
            keep(InboxRow(result, by: owner, activity: newestActivity))
            return
        }
        guard held.gone != true else { return }
        var row = held
        row.acknowledge(acknowledgement)
        let hasNewer = row.lastMessage?.number ?? 0 > held.lastMessage?.number ?? 0
        if hasNewer, let newestActivity { row.activity = newestActivity }
        guard row != held else { return }
        rows[id] = row
        changes.rows.insert(id)
    }

    private var newestActivity: Int? { rows.values.lazy.compactMap(\.activity).max() }

    mutating func keep(_ row: InboxRow) {
        if let held = rows[row.id], held.counter >= row.counter { return }
        rows[row.id] = row
        changes.rows.insert(row.id)
    }
}

extension InboxRow {
    var sortKey: InboxState.SortKey {
        InboxState.SortKey(isPinned: membership?.pinned == true, activity: activity ?? 0, id: id.rawValue)
    }

    var isUnread: Bool { unread ?? 0 > 0 || membership?.markedUnread == true }

    /// Of a conversation that the user has created.
    fileprivate init(_ result: ConversationResult, by owner: UserID, activity: Int?) {
        let person = result.conversation.kind == .direct ? result.people.first { $0.id != owner } : nil
        self.init(
            id: result.conversation.id, conversation: result.conversation, membership: result.membership,
            person: person, unread: 0, mentions: 0, counter: 0, activity: activity)
    }

    fileprivate mutating func acknowledge(_ acknowledgement: Acknowledgement) {
        switch acknowledgement {
        case .message(let message), .reaction(_, _, let message):
            let (number, version) = (lastMessage?.number ?? 0, lastMessage?.version ?? 0)
            guard message.number > number || (message.number == number && message.version > version) else { return }
            lastMessage = message
            if let last = conversation?.lastNumber, last >= message.number { return }
            conversation?.lastNumber = message.number
            conversation?.lastSentAt = message.sentAt
        case .membership(let document): keep(document)
        case .conversation(let result), .created(let result):
            if conversation?.version ?? 0 <= result.conversation.version { conversation = result.conversation }
            keep(result.membership)
        case .marks(let marks):
            membership?.acknowledge(marks)
            if marks.read >= lastKnown { (unread, mentions) = (0, 0) }
        case .cleared(let number, let isOffTheList):
            guard lastKnown <= number ?? .max else { return }
            (lastMessage, unread, mentions) = (nil, 0, 0)
            if isOffTheList { gone = true }
        case .own, .hidden: break
        }
    }

    private var lastKnown: Int { max(conversation?.lastNumber ?? 0, lastMessage?.number ?? 0) }

    private mutating func keep(_ document: Membership) {
        if membership?.version ?? 0 <= document.version { membership = document }
    }
}

extension Membership {
    mutating func acknowledge(_ marks: ReadMarks) {
        guard marks.read > read ?? 0 else { return }
        (read, markedUnread) = (marks.read, false)
    }
}

import Foundation

/// What a client holds of a conversation, without I/O: the snapshot of its stream, the rows since, and pages.
///
/// Every document has a version, and the copy with the higher one is kept, wherever it came from. So everything may
/// arrive twice, late or in another order. **Ranges** of numbers are known to be complete, each up to a sequence of the
/// conversation. The last range is the newest, and its sequence is the stream's position, where a `listen` goes on.
/// Versions and sequences compare within an epoch only: a snapshot with another one replaces everything.
struct ConversationState: Hashable, Sendable {
    let id: ConversationID
    var conversation: Conversation?
    var membership: Membership?
    var members: [UserID: ConversationMember] = [:]
    /// Whether the conversation has members who are not held here.
    var hasMoreMembers = false
    var people: [UserID: User] = [:]
    /// All messages that are held, in a range or not.
    var messages: [Int: Message] = [:]
    var ranges = HeldRanges()
    /// Where the stream is; nil before the first snapshot.
    var position: StreamPosition?
    /// The user sees nothing before this number, if that is known.
    var start: Int?
    /// Newer messages than those of the last range begin here, after a gap.
    var newestStart: Int?
    /// The user may read the conversation, but not listen to it, such as one that they left. Only pages fill it.
    var isWithoutStream = false
    /// Frames concern the newest range alone, since the stream is being resumed with it.
    private(set) var isResuming = false
    /// All rows after this sequence are held, whether their messages are in a range or not. An older page may lack a
    /// change that is not held here.
    var completeSince = 0
    /// What has to be stored.
    var changes = StateChanges()

    init(id: ConversationID) { self.id = id }

    /// What a `listen` resumes from: the position, and the newest range, which is open at its end. A message that is
    /// older than the position may not have arrived yet, since what changed later comes in a later part.
    var resumption: StreamPosition? {
        guard var position else { return nil }
        position.held = ranges.last.map { Int64($0.first)...Self.openEnd }
        return position
    }

    /// Higher than every number; the highest integer that every JSON parser reads exactly.
    private static let openEnd: Int64 = 9_007_199_254_740_991

    /// Takes what has changed since the last time.
    mutating func takeChanges() -> StateChanges {
        defer { changes = StateChanges() }
        return changes
    }

    /// The stream is being resumed from ``resumption``, or will be.
    mutating func resume() { isResuming = true }

    /// The stream was resumed: from now on, frames bring the changes of all messages.
    mutating func resumed() {
        guard isResuming else { return }
        isResuming = false
        completeSince = max(completeSince, position.map { Int($0.sequence) } ?? 0)
    }
}

/// What has changed of a ``ConversationState``.
struct StateChanges: Hashable, Sendable {
    /// Everything that was stored is void.
    var isReplaced = false
    /// The documents of the conversation and the membership, position or ranges.
    var head = false
    var members: Set<UserID> = []
    var people: Set<UserID> = []
    /// Numbers of messages, also of removed ones.
    var messages: Set<Int> = []
    /// Everything before this number is void.
    var removedBefore = 0

    var isEmpty: Bool { self == StateChanges() }
}

// Snapshots and frames of the stream.
extension ConversationState {
    /// Applies a snapshot.
    mutating func apply(_ snapshot: ConversationSnapshot, at new: StreamPosition) {
        let sequence = Int(new.sequence)
        if let position, position.epoch != new.epoch {
            self = ConversationState(id: id)
            changes.isReplaced = true
        }
        let isNewer = position.map { Int($0.sequence) < sequence } ?? true
        keep(snapshot.conversation)
        keep(snapshot.membership)
        for member in snapshot.members { keep(member) }
        for person in snapshot.people { keep(person) }
        let window = range(snapshot.range)
        if let window { removeUnseen(in: window, asOf: sequence, except: snapshot.messages) }
        for message in snapshot.messages { keep(message) }
        if let window { hold(window, readAt: sequence) }
        // Without a window, what comes next is the first.
        if !snapshot.hasEarlier {
            lowerStart(to: window?.lowerBound ?? (snapshot.conversation.lastNumber ?? 0) + 1)
        }
        guard isNewer || position?.sequence == new.sequence else { return }
        hasMoreMembers = snapshot.moreMembers ?? false
        if window == nil { removeEverything(asOf: sequence) }
        position = StreamPosition(epoch: new.epoch, sequence: new.sequence)
        completeSince = max(completeSince, sequence)
        newestStart = nil
        ranges.join(currentAt: sequence)
        changes.head = true
    }

    /// What to do after a frame.
    enum FrameOutcome: Hashable, Sendable {
        case applied
        /// The frame does not follow the position: listen again from ``resumption``.
        case hole
    }

    /// Applies a frame of rows.
    mutating func apply(_ frame: RowFrame<ConversationRow>) -> FrameOutcome {
        guard let position, position.epoch == frame.epoch else { return .hole }
        var highest = 0
        for row in frame.rows {
            switch row {
            case .conversation(let document): keep(document)
            case .member(let member, let person):
                keep(member)
                if let person { keep(person) }
            case .message(let message):
                keep(message)
                highest = max(highest, message.number)
            case .unknown: break
            }
        }
        guard frame.after <= position.sequence else { return .hole }
        if frame.upTo > position.sequence { advance(over: frame, highest: highest) }
        return .applied
    }

    private mutating func advance(over frame: RowFrame<ConversationRow>, highest: Int) {
        let before = position.map { Int($0.sequence) } ?? 0
        ranges.raise(after: before, upTo: frame.upTo, onlyLast: isResuming, gap: frame.gap)
        if let gap = frame.gap, gap.upperBound >= ranges.last?.last ?? 0 { newestStart = gap.upperBound &+ 1 }
        if let newestStart, newestStart > ranges.last?.last ?? 0 {
            // The gap may come before the rows that follow it.
            ranges.insert(HeldRange(first: newestStart, last: highest, asOf: frame.upTo))
        } else if ranges.last != nil {
            ranges.extendLast(to: highest)
        } else if highest > 0 {
            let first = frame.rows.compactMap { if case .message(let message) = $0 { message.number } else { nil } }
            ranges.insert(HeldRange(first: first.min() ?? highest, last: highest, asOf: frame.upTo))
        }
        position?.sequence = Int64(frame.upTo)
        changes.head = true
    }
}

// Pages.
extension ConversationState {
    /// What a page was good for.
    enum PageOutcome: Hashable, Sendable {
        case applied
        /// The page does not fit the held state, for example because it is of another epoch: read it again once the
        /// stream is open.
        case outdated
    }

    /// Applies a page of messages, which was read before the number `before`, if that is given.
    mutating func apply(_ page: MessagePage, before: Int? = nil) -> PageOutcome {
        let sequence = Int(page.position.sequence)
        if let position {
            guard position.epoch == page.position.epoch, sequence >= completeSince, !isResuming else {
                return .outdated
            }
            // The stream has still to bring what lies between its newest range and the page.
            if sequence > position.sequence, let first = page.range?.first, first > (ranges.last?.last ?? 0) + 1 {
                return .outdated
            }
        } else {
            guard isWithoutStream else { return .outdated }
        }
        let window = range(page.range)
        if let window { removeUnseen(in: window, asOf: sequence, except: page.messages) }
        for message in page.messages { keep(message) }
        if let window { hold(window, readAt: sequence) }
        ranges.join(currentAt: position.map { Int($0.sequence) } ?? 0)
        if !page.hasEarlier { lowerStart(to: window?.lowerBound ?? before ?? (conversation?.lastNumber ?? 0) + 1) }
        changes.head = true
        return .applied
    }

    /// Every change after the reading is held too, as long as none was missed.
    private mutating func hold(_ window: ClosedRange<Int>, readAt sequence: Int) {
        let current = position.map { Int($0.sequence) } ?? sequence
        let isComplete = !isResuming && sequence >= completeSince
        ranges.insert(
            HeldRange(
                first: window.lowerBound, last: window.upperBound, asOf: isComplete ? max(sequence, current) : sequence)
        )
    }
}

// Documents: the higher version is kept.
extension ConversationState {
    mutating func keep(_ document: Conversation) {
        var document = document
        if let held = conversation {
            // A message raises no version of the document.
            document.lastNumber = [document.lastNumber, held.lastNumber].compactMap(\.self).max()
            document.lastSentAt = [document.lastSentAt, held.lastSentAt].compactMap(\.self).max()
            if held.version > document.version {
                conversation?.lastNumber = document.lastNumber
                conversation?.lastSentAt = document.lastSentAt
                return
            }
        }
        guard conversation != document else { return }
        conversation = document
        changes.head = true
    }

    mutating func keep(_ document: Membership) {
        // What the user alone sees of it changes without a new version.
        guard membership != document, membership?.version ?? 0 <= document.version else { return }
        membership = document
        changes.head = true
        remove(before: document.firstNumber)
    }

    mutating func keep(_ member: ConversationMember) {
        if let held = members[member.user], held.version >= member.version { return }
        members[member.user] = member
        changes.members.insert(member.user)
    }

    mutating func keep(_ person: User) {
        guard people[person.id] != person else { return }
        people[person.id] = person
        changes.people.insert(person.id)
    }

    mutating func keep(_ message: Message) {
        if let held = messages[message.number], held.version >= message.version { return }
        messages[message.number] = message
        changes.messages.insert(message.number)
        if let number = conversation?.lastNumber, number >= message.number { return }
        conversation?.lastNumber = message.number
        conversation?.lastSentAt = message.sentAt
    }

    /// Takes a message that a response has acknowledged. Only the number after the newest range extends it: before a
    /// higher one there may be others, which the stream brings.
    mutating func acknowledge(_ message: Message) {
        keep(message)
        guard position != nil, let last = ranges.last?.last, message.number == last + 1, newestStart ?? 0 <= last else {
            return
        }
        ranges.extendLast(to: message.number)
        changes.head = true
    }

    /// The user has read up to a message, which also ends ``Membership/markedUnread``.
    mutating func acknowledge(_ marks: ReadMarks) {
        guard let before = membership else { return }
        membership?.acknowledge(marks)
        if membership != before { changes.head = true }
    }

    /// Removes the texts that have disappeared.
    mutating func expire(at now: Date) {
        for (number, message) in messages where message.expiry.map({ $0 <= now }) ?? false {
            messages[number] = message.asOf(now)
            changes.messages.insert(number)
        }
    }

    /// When the next text disappears.
    var nextExpiry: Date? { messages.values.lazy.compactMap(\.expiry).min() }

    /// A number that a newer reading left out has no message that the user may see.
    private mutating func removeUnseen(in window: ClosedRange<Int>, asOf sequence: Int, except shown: [Message]) {
        let numbers = Set(shown.map(\.number))
        for (number, message) in messages
        where window.contains(number) && !numbers.contains(number) && message.version <= sequence {
            messages[number] = nil
            changes.messages.insert(number)
        }
    }

    /// The user sees nothing before a number any more.
    mutating func remove(before number: Int) {
        guard number > start ?? 1 || messages.keys.contains(where: { $0 < number }) else { return }
        for held in messages.keys where held < number { messages[held] = nil }
        ranges.remove(below: number)
        start = max(start ?? number, number)
        changes.removedBefore = max(changes.removedBefore, number)
        changes.head = true
    }

    /// The user has deleted messages for themselves.
    mutating func hide(_ numbers: [Int]) {
        for number in numbers where messages[number] != nil {
            messages[number] = nil
            changes.messages.insert(number)
        }
    }

    private mutating func removeEverything(asOf sequence: Int) {
        for (number, message) in messages where message.version <= sequence {
            messages[number] = nil
            changes.messages.insert(number)
        }
        ranges = HeldRanges()
    }

    private mutating func lowerStart(to number: Int) {
        start = min(start ?? number, number)
    }

    /// Keeps only the newest messages, at most so many.
    mutating func trim(to limit: Int) {
        guard messages.count > limit else { return }
        let first = messages.keys.sorted(by: >)[limit - 1]
        for number in messages.keys where number < first { messages[number] = nil }
        ranges.remove(below: first)
        completeSince = max(completeSince, position.map { Int($0.sequence) } ?? 0)
        changes.head = true
    }
}

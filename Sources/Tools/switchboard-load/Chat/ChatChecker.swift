/// Checks a history: no acknowledged message is lost or there twice, numbers are dense, times do not fall, every member
/// reads and every listener holds the same messages in the same order, and unread counts are what the messages say.
struct ChatChecker {
    private let history: ChatHistory
    private(set) var violations: [ChatViolation] = []
    /// What was looked at, so that a check of nothing shows.
    private(set) var messages = 0
    private(set) var pagedMessages = 0
    private(set) var heldMessages = 0
    private(set) var unreadCounts = 0
    private(set) var translations = TranslationCounts()

    /// Unread messages are counted up to this.
    private static let maxUnread = 999

    init(checking history: ChatHistory) {
        self.history = history
        for conversation in history.conversations { check(conversation) }
        checkInboxes()
    }

    private mutating func report(_ kind: ChatViolation.Kind, _ text: String) {
        violations.append(ChatViolation(kind: kind, text: text))
    }

    private mutating func check(_ conversation: ChatHistory.Conversation) {
        messages += conversation.acknowledged.count
        let name = conversation.name
        var numbers: [MessageKey: Int64] = [:]
        for message in conversation.acknowledged {
            if let other = numbers.updateValue(message.number, forKey: message.key), other != message.number {
                report(
                    .duplicated, "\(name): message \(message.key) was acknowledged as \(other) and \(message.number)")
            }
        }
        guard let reference = conversation.pages.first else {
            if !conversation.acknowledged.isEmpty { report(.lost, "\(name): nobody can read its pages") }
            return
        }
        for pages in conversation.pages {
            pagedMessages += pages.messages.count
            check(pages, of: conversation, numbers)
            if pages.user != reference.user { compare(pages, with: reference, name) }
            checkUnread(pages, conversation)
        }
        for listener in conversation.listeners { check(listener, against: reference, conversation) }
        if !history.languages.isEmpty {
            let check = TranslationChecker(checking: conversation, languages: history.languages)
            translations.add(check.counts)
            violations += check.violations
        }
    }

    /// The pages alone, and whether they have what was acknowledged.
    private mutating func check(
        _ pages: ChatHistory.Pages, of conversation: ChatHistory.Conversation, _ numbers: [MessageKey: Int64]
    ) {
        let what = "\(conversation.name), the pages of user \(pages.user)"
        var found: [MessageKey: Int64] = [:]
        for (before, message) in zip([nil] + pages.messages.map { Optional($0) }, pages.messages) {
            if let before, message.number <= before.number {
                report(.reordered, "\(what): \(message.number) comes after \(before.number)")
            } else if message.number != (before?.number ?? 0) + 1 {
                report(.notDense, "\(what): \(message.number) comes after \(before?.number ?? 0)")
            }
            if let before, message.sentAt < before.sentAt {
                report(.reordered, "\(what): \(message.number) was sent before \(before.number)")
            }
            guard let id = ChatClientID(message.clientID), id.run == history.run else { continue }
            if let other = found.updateValue(message.number, forKey: id.key) {
                report(.duplicated, "\(what): message \(id.key) is there as \(other) and as \(message.number)")
            }
            if conversation.refused.contains(id.key) {
                report(.unexpected, "\(what): message \(id.key) was refused, but is \(message.number)")
            } else if numbers[id.key] == nil, !conversation.unanswered.contains(id.key) {
                report(.unexpected, "\(what): message \(id.key) is \(message.number), but was never acknowledged")
            }
            if let textVersion = conversation.edited[message.number], !message.isDeleted,
                message.textVersion != textVersion
            {
                report(
                    .editLost,
                    "\(what): \(message.number) was edited to version \(textVersion) and is \(message.textVersion)")
            }
            if conversation.deleted.contains(message.number), !message.isDeleted {
                report(.deletionLost, "\(what): \(message.number) was deleted, but is there")
            }
        }
        for (key, number) in numbers where found[key] != number {
            report(.lost, "\(what): message \(key) was acknowledged as \(number), but is \(found[key] ?? 0)")
        }
    }

    private mutating func compare(_ pages: ChatHistory.Pages, with other: ChatHistory.Pages, _ name: String) {
        guard pages.messages != other.messages else { return }
        let index = zip(pages.messages, other.messages).enumerated().first { $1.0 != $1.1 }?.offset
        let position = index.map { "at number \(pages.messages[$0].number)" } ?? "in their length"
        report(.differs, "\(name): the pages of users \(pages.user) and \(other.user) differ \(position)")
    }

    private mutating func checkUnread(_ pages: ChatHistory.Pages, _ conversation: ChatHistory.Conversation) {
        guard let row = pages.inbox else { return }
        let name = conversation.name
        if let read = conversation.read[pages.user], row.readUpTo < read {
            report(
                .markLost, "\(name): user \(pages.user) has read up to \(read), and the inbox says \(row.readUpTo)")
        }
        unreadCounts += 1
        let unread = pages.messages.count {
            $0.number > row.readUpTo && $0.author != pages.author && !$0.isDeleted && !$0.isNotice
        }
        if row.unread != min(unread, Self.maxUnread) {
            report(
                .wrongUnread, "\(name): user \(pages.user) has \(unread) unread messages, and the inbox \(row.unread)")
        }
        if row.lastMessage?.number ?? 0 != pages.messages.last?.number ?? 0 {
            report(
                .wrongInbox,
                "\(name): the inbox of user \(pages.user) shows message \(row.lastMessage?.number ?? 0), and the pages end "
                    + "with \(pages.messages.last?.number ?? 0)")
        }
    }

    private mutating func check(
        _ listener: ChatHistory.Listener, against pages: ChatHistory.Pages, _ conversation: ChatHistory.Conversation
    ) {
        let (held, what) = (listener.held, "\(conversation.name), the listener user \(listener.user)")
        heldMessages += held.messages.count
        for violation in held.violations { report(.protocolViolation, "\(what): \(violation)") }
        if held.epoch == pages.epoch, held.sequence < pages.sequence {
            report(.lost, "\(what): it has changes up to \(held.sequence) of \(pages.sequence)")
        }
        let shown = Dictionary(pages.messages.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        for message in pages.messages where message.number >= held.first {
            guard let copy = held.messages[message.number] else {
                if !held.isInGap(message.number) { report(.lost, "\(what): it has no \(message.number)") }
                continue
            }
            if copy.clientID != message.clientID {
                report(.reordered, "\(what): its \(message.number) is another message")
            } else if copy.version != message.version {
                report(
                    .differs,
                    "\(what): its \(message.number) is of version \(copy.version), and the pages' of \(message.version)"
                )
            }
        }
        for number in held.messages.keys.sorted() where shown[number] == nil {
            report(.unexpected, "\(what): it has \(number), which no page has")
        }
    }

    private mutating func checkInboxes() {
        for (user, held) in history.inboxes {
            for violation in held.violations { report(.protocolViolation, "the inbox of user \(user): \(violation)") }
        }
        let inboxes = Dictionary(history.inboxes.map { ($0.user, $0.held) }, uniquingKeysWith: { $1 })
        for conversation in history.conversations {
            for pages in conversation.pages {
                guard let row = pages.inbox, let copy = inboxes[pages.user]?.rows[row.conversation] else {
                    // A listener holds the newest rows, and those that have moved since.
                    continue
                }
                if copy != row {
                    report(
                        .wrongInbox,
                        "\(conversation.name): the listener user \(pages.user) holds row \(copy.counter) with "
                            + "\(copy.unread) unread, and the inbox has \(row.counter) with \(row.unread)")
                }
            }
        }
    }
}

@testable import SwitchboardClient

/// Whether what somebody is shown is what everybody has written.
struct ChatHistoryChecker {
    private let history: [UserID: [ChatAct]]
    private let reader: UserID
    private let shown: ShownChat
    private(set) var problems: [String] = []

    init(_ history: [UserID: [ChatAct]], as reader: UserID, shown: ShownChat) {
        (self.history, self.reader, self.shown) = (history, reader, shown)
        checkOrder()
        for (author, acts) in history { checkTexts(of: author, acts) }
        for (user, acts) in history { checkReactions(of: user, acts) }
        checkThreads()
        checkPins()
        checkMarks()
    }

    private func line(_ number: Int) -> ShownChat.Line? { shown.messages.first { $0.number == number } }

    private mutating func expect(_ isSo: Bool, _ what: String) {
        if !isSo { problems.append(what) }
    }

    /// The numbers are dense, and everything that was sent is there once, in the order of its author.
    private mutating func checkOrder() {
        let numbers = shown.messages.map(\.number)
        expect(numbers == Array(1...max(1, numbers.count)), "numbers \(numbers)")
        for (author, acts) in history {
            let there = shown.messages.filter { $0.id.author == author && !$0.isNotice }.map(\.id)
            // What was deleted while it waited is never sent.
            let sent = acts.compactMap { if case .sent(let id, _, _, _, _) = $0 { id } else { nil } }.filter {
                there.contains($0) || !acts.contains(.deleted($0))
            }
            expect(there == sent, "of \(author) there are \(there), sent were \(sent)")
        }
    }

    private mutating func checkTexts(of author: UserID, _ acts: [ChatAct]) {
        var texts: [Message.ID: String?] = [:]
        for act in acts {
            switch act {
            case .sent(let id, let text, _, let replied, let thread):
                texts[id] = text
                guard let line = shown.messages.first(where: { $0.id == id }) else { continue }
                let root = replied.flatMap { replied in shown.messages.first { $0.id == replied } }
                expect(
                    line.replyTo == root?.number && line.thread == thread,
                    "reply or thread of \(id): \(line)")
            // What is deleted cannot be edited.
            case .edited(let id, let text): if texts[id] != .some(nil) { texts[id] = text }
            case .deleted(let id): texts[id] = .some(nil)
            case .reacted, .pinned, .read: break
            }
        }
        for line in shown.messages where line.id.author == author && !line.isNotice {
            let text = texts[line.id] ?? "never sent"
            expect(
                line.text == text && line.isDeleted == (text == nil),
                "\(line), written was \(text ?? "nothing any more")")
        }
    }

    private mutating func checkReactions(of user: UserID, _ acts: [ChatAct]) {
        var last: [Int: [String: Bool]] = [:]
        for case .reacted(let number, let emoji, let isOn) in acts { last[number, default: [:]][emoji] = isOn }
        for line in shown.messages {
            for emoji in Set(line.reactions.keys).union((last[line.number] ?? [:]).keys) {
                let isOn = !line.isDeleted && last[line.number]?[emoji] ?? false
                expect(line.reactions[emoji]?.contains(user) ?? false == isOn, "\(emoji) of \(user) on \(line)")
            }
        }
    }

    private mutating func checkThreads() {
        for line in shown.messages {
            let replies = shown.messages.count { $0.thread == line.number && !$0.isDeleted }
            expect(line.isDeleted || line.replies == replies, "\(replies) replies in the thread of \(line)")
        }
    }

    /// Of what one person has pinned alone, their last act decides.
    private mutating func checkPins() {
        var acts: [Int: [UserID: Bool]] = [:]
        for (user, done) in history {
            for case .pinned(let number, let isOn) in done { acts[number, default: [:]][user] = isOn }
        }
        for (number, users) in acts where users.count == 1 {
            let isOn = users.values.first == true && line(number)?.isDeleted == false
            expect(shown.pins.contains(number) == isOn, "pin of \(number), \(users)")
        }
        for number in shown.pins { expect(acts[number]?.values.contains(true) == true, "nobody has pinned \(number)") }
    }

    /// The highest number that somebody has marked.
    private func read(_ user: UserID) -> Int {
        (history[user] ?? []).compactMap { if case .read(let number) = $0 { number } else { nil } }.max() ?? 0
    }

    private mutating func checkMarks() {
        expect(shown.read >= read(reader), "read up to \(shown.read), marked up to \(read(reader))")
        for user in history.keys where user != reader && read(user) > 0 {
            expect(shown.others[user]?.hasRead(read(user)) == true, "\(user) has read \(read(user)): \(shown.others)")
        }
        let unread = shown.messages.filter {
            $0.number > shown.read && $0.id.author != reader && !$0.isDeleted && !$0.isNotice
        }
        expect(shown.unread == unread.count, "\(shown.unread) unread, \(unread.count) are")
        let mentions = unread.count { $0.text?.contains("<@\(reader.rawValue)>") ?? false }
        expect(shown.mentions == mentions, "\(shown.mentions) mentions, \(mentions) are")
    }
}

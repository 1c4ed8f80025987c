import Testing

@testable import switchboard_load

/// The check of a run has to fail when something is wrong: every test but the first breaks a history that is right.
@Suite("The check of a run of chat")
struct ChatCheckerTests {
    private static let run: UInt32 = 7
    private static let authors = [UUIDBits(high: 1, low: 1), UUIDBits(high: 2, low: 2)]

    private static func id(_ number: Int64) -> ChatClientID {
        ChatClientID(run: run, worker: 0, serial: UInt32(number), due: 1_000)
    }

    private static func message(_ number: Int64) -> SeenMessage {
        var message = SeenMessage()
        (message.number, message.version, message.textVersion) = (number, number, number)
        (message.clientID, message.author) = (id(number).bits, authors[Int(number % 2)])
        message.sentAt = 100 + number
        return message
    }

    /// Six messages of two members, of whom both listen, also to their inboxes.
    private static func right() -> ChatHistory {
        let messages = (1...6).map { message(Int64($0)) }
        var conversation = ChatHistory.Conversation(name: "C")
        conversation.acknowledged = messages.map { .init(key: id($0.number).key, number: $0.number) }
        var history = ChatHistory(run: run)
        for user in 0..<2 {
            var row = InboxRow()
            (row.conversation, row.counter, row.unread, row.lastMessage) = ("C", 9, 3, messages.last)
            conversation.pages.append(
                ChatHistory.Pages(
                    user: user, author: authors[user], messages: messages, epoch: "e", sequence: 6, inbox: row))
            conversation.listeners.append(ChatHistory.Listener(user: user, held: held(messages)))
            var inbox = HeldInbox()
            inbox.take(snapshot: [row], epoch: "e", sequence: 9)
            history.inboxes.append((user, inbox))
        }
        history.conversations = [conversation]
        return history
    }

    private static func held(_ messages: [SeenMessage]) -> HeldConversation {
        var held = HeldConversation()
        held.take(snapshot: [], epoch: "e", sequence: 0)
        for message in messages {
            let sequence = held.sequence
            _ = held.take(
                rows: [message], epoch: "e", after: sequence, upTo: max(sequence, message.version), gap: nil)
        }
        return held
    }

    /// The kinds of what is wrong with the history, after it was broken.
    private static func broken(_ change: (inout ChatHistory.Conversation) -> Void) -> Set<ChatViolation.Kind> {
        var history = right()
        change(&history.conversations[0])
        return Set(ChatChecker(checking: history).violations.map(\.kind))
    }

    @Test("nothing is wrong with a history that is right")
    func nothing() {
        let check = ChatChecker(checking: Self.right())
        #expect(check.violations == [])
        #expect((check.messages, check.pagedMessages, check.heldMessages, check.unreadCounts) == (6, 12, 12, 2))
    }

    @Test("a mark that was acknowledged is lost if the inbox has a lower one")
    func lostMark() {
        #expect(Self.broken { $0.read[0] = 1 } == [.markLost])
        let marked = Self.broken { conversation in
            conversation.read[0] = 6
            conversation.pages[0].inbox?.readUpTo = 6
        }
        #expect(
            marked == [.wrongUnread, .wrongInbox], "three are still unread in the row, which the listener does not hold"
        )
    }

    @Test("a message that is in no page is lost")
    func lost() {
        let last = Self.broken { for index in 0..<2 { $0.pages[index].messages.removeLast() } }
        #expect(last.contains(.lost))
        // In the middle it also leaves a hole.
        let middle = Self.broken { for index in 0..<2 { $0.pages[index].messages.remove(at: 2) } }
        #expect(middle.isSuperset(of: [.lost, .notDense]))
        #expect(Self.broken { $0.pages = [] } == [.lost])
    }

    @Test("a message that one member does not see is lost for them")
    func lostForOne() {
        let found = Self.broken { $0.pages[1].messages.remove(at: 2) }
        #expect(found.isSuperset(of: [.lost, .notDense, .differs]))
    }

    @Test("a message that is stored twice")
    func doubled() {
        let found = Self.broken {
            for index in 0..<2 {
                var copy = Self.message(7)
                copy.clientID = Self.id(6).bits
                $0.pages[index].messages.append(copy)
            }
        }
        #expect(found.contains(.duplicated))
        #expect(Self.broken { $0.acknowledged.append(.init(key: Self.id(6).key, number: 7)) }.contains(.duplicated))
    }

    @Test("two messages that have changed places")
    func reordered() {
        let pages = Self.broken { for index in 0..<2 { $0.pages[index].messages.swapAt(1, 2) } }
        #expect(pages.contains(.reordered))
        // The same numbers for other messages: for one reader.
        let one = Self.broken {
            $0.pages[1].messages[1].clientID = Self.id(3).bits
            $0.pages[1].messages[2].clientID = Self.id(2).bits
        }
        #expect(one.isSuperset(of: [.lost, .differs]))
    }

    @Test("a time that falls")
    func times() {
        #expect(Self.broken { for index in 0..<2 { $0.pages[index].messages[3].sentAt = 1 } } == [.reordered])
    }

    @Test("what was refused, or never sent, is there")
    func unexpected() {
        let refused = Self.broken {
            $0.acknowledged.removeLast()
            $0.refused.insert(Self.id(6).key)
        }
        #expect(refused == [.unexpected])
        #expect(Self.broken { $0.acknowledged.removeLast() } == [.unexpected])
        // Without a result it may be there.
        let unanswered = Self.broken {
            $0.acknowledged.removeLast()
            $0.unanswered.insert(Self.id(6).key)
        }
        #expect(unanswered == [])
    }

    @Test("edits and deletions that are lost")
    func changes() {
        #expect(Self.broken { $0.edited[2] = 9 } == [.editLost])
        #expect(Self.broken { $0.deleted.insert(2) } == [.deletionLost])
    }

    @Test("a count of unread messages that is wrong")
    func unread() {
        let more = Self.broken { $0.pages[0].inbox?.unread = 4 }
        #expect(more == [.wrongUnread, .wrongInbox])
        let read = Self.broken { $0.pages[0].inbox?.readUpTo = 2 }
        #expect(read.contains(.wrongUnread))
        let last = Self.broken { $0.pages[0].inbox?.lastMessage = Self.message(5) }
        #expect(last == [.wrongInbox])
    }

    @Test("what a listener lacks, has of another order, or has of an older version")
    func listeners() {
        let all = (1...6).map { Self.message(Int64($0)) }
        #expect(Self.broken { $0.listeners[0].held = Self.held(Array(all.dropLast())) } == [.lost])
        var hole = all
        hole.remove(at: 2)
        #expect(Self.broken { $0.listeners[0].held = Self.held(hole) } == [.lost])
        var swapped = all
        swapped.swapAt(2, 3)
        #expect(Self.broken { $0.listeners[0].held = Self.held(swapped) } == [.protocolViolation])
        var other = all
        (other[2].clientID, other[3].clientID) = (all[3].clientID, all[2].clientID)
        #expect(Self.broken { $0.listeners[0].held = Self.held(other) } == [.reordered])
        let edited = Self.broken { for index in 0..<2 { $0.pages[index].messages[2].version = 8 } }
        #expect(edited == [.differs])
        #expect(Self.broken { $0.listeners[0].held = Self.held(all + [Self.message(7)]) } == [.unexpected])
    }
}

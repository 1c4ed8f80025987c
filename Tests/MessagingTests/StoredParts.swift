import Model
import TestSupport
import Wire

@testable import Messaging

/// What is done with the parts of messages and members in both stores of `StoredConversationTests`.
enum StoredParts {
    static func step(
        _ both: StoredConversationTests.Both, _ people: [UserID], _ ids: [ConversationID], _ random: inout SeededRandom
    ) throws {
        guard let id = ids.randomElement(using: &random), let user = people.randomElement(using: &random) else {
            return
        }
        let commands = both.commands
        let number = Int64.random(in: 0...12, using: &random)
        let emoji = try ReactionEmoji(["👍", "❤️", "🎉"].randomElement(using: &random) ?? "👍")
        let (flag, revision) = (Bool.random(using: &random), Int64.random(in: 0...20, using: &random))
        let clientID = ClientID.make(at: both.memory.now, using: &random)
        switch Int.random(in: 0..<18, using: &random) {
        case 0...1: both.same("react") { try commands.react(with: emoji, to: number, in: id, by: user, store: $0) }
        case 2:
            both.same("remove reaction") {
                try commands.removeReaction(emoji, to: number, in: id, by: user, store: $0)
            }
        case 3 where flag: both.same("pin") { try commands.pin(number, in: id, by: user, store: $0) }
        case 3: both.same("unpin") { try commands.unpin(number, in: id, by: user, store: $0) }
        case 4...6:
            both.same("star") { try commands.star(number, in: id, isStarred: flag, by: user, store: $0) }
        case 7: both.same("hide") { try commands.hide(number, in: id, by: user, store: $0) }
        case 8 where revision == 0:
            both.same("clear") {
                try commands.clear(id, by: user, in: $0); return 0
            }
        case 8 where revision == 1:
            both.same("delete for oneself") {
                try commands.deleteForOneself(id, by: user, in: $0); return 0
            }
        case 9...11:
            both.same("mark") {
                try commands.mark(
                    read: flag ? number : nil, delivered: revision, in: id, by: user, store: $0)
            }
        case 12...13:
            var outgoing = OutgoingMessage(
                clientID: clientID, text: try MessageText("hi <@\(people[0])> \(flag ? "<@all>" : "")"), digest: [3])
            outgoing.thread = number % 3 == 0 ? nil : number
            outgoing.readUpTo = revision
            outgoing.draft = flag ? revision : nil
            both.same("reply") { try commands.send(outgoing, to: id, by: user, in: $0).message }
        case 14 where flag:
            let missed = Set(people.filter { _ in Bool.random(using: &random) })
            let call = FollowedCall(
                record: CallRecord(
                    id: .make(at: both.memory.now, using: &random), kind: "audio",
                    state: number % 2 == 0 ? .active : .ended, startedAt: both.memory.now,
                    participants: people.map { .init(user: $0, state: "left") }),
                caller: user, joined: [user], missed: missed)
            both.same("call") { try commands.follow(new: call, in: id, store: $0) }
            let last = both.memory.conversation(id)?.lastNumber
            both.same("call that changes") {
                try commands.follow(
                    FollowedCall(record: call.record, caller: user, joined: people, missed: []), replacing: call,
                    last ?? 0, in: id, store: $0)
                return last
            }
        case 14:
            let source = MessageReference(ids.randomElement(using: &random) ?? id, number)
            let outgoing = OutgoingMessage(clientID: clientID, forward: source, digest: [4])
            both.same("forward") { try commands.send(outgoing, to: id, by: user, in: $0).message }
        default:
            both.same("membership") { store in
                let change = MembershipChange(
                    mute: flag ? .some(nil) : .some(Membership.Mute(until: store.now, allowsMentions: true)),
                    isPinned: flag, isArchived: number % 2 == 0, isMarkedUnread: revision % 2 == 0,
                    receipts: flag ? .some(nil) : .some(false),
                    draft: flag ? nil : try Draft(text: "draft \(number)", replyTo: number, revision: revision))
                return try commands.change(id, membership: change, by: user, in: store)
            }
        }
        for reader in people {
            both.same("reactions") {
                try commands.reactions(to: number, in: id, emoji: nil, after: 0, limit: 3, by: reader, store: $0)
                    .reactions
            }
            both.same("own") {
                let page = try commands.page(.newest, of: id, limit: 5, by: reader, in: $0)
                return try commands.own(of: page.messages, in: id, by: reader, store: $0)
            }
            both.same("starred") { try commands.starred(by: reader, after: nil, limit: 4, in: $0).messages }
            both.same("membership") { try commands.membership(in: id, by: reader, store: $0) }
            both.same("marks") { try commands.othersMarks(in: id, by: reader, store: $0) }
            both.same("own marks") { try commands.ownMarks(in: id, by: reader, store: $0) }
            both.same("receipts") {
                try commands.receipts(of: number, in: id, after: nil, limit: 3, by: reader, store: $0).receipts
            }
            both.same("unread") { try commands.unread(of: reader, in: ids, store: $0) }
            for isArchive in [false, true] {
                both.same("unread conversations") { try $0.unreadConversations(of: reader, isArchive: isArchive) }
            }
            both.same("unread with held messages") {
                let held = try $0.countedMessages(in: id, limit: 3)
                return try commands.unread(of: reader, in: [id], counted: [id: held], store: $0)
            }
            both.same("thread") {
                try commands.page(.after(0), of: id, thread: number, limit: 3, by: reader, in: $0)
            }
            both.same("pins") { try commands.get(id, by: reader, in: $0) }
        }
    }
}

import Languages
import Messaging
import Model
import Storage
import Wire

extension StreamHarness {
    /// A change of a conversation, in its transaction.
    struct ConversationChange {
        let command: StreamCommand
        let user: UserID
        let other: UserID
        let id: ConversationID
        /// Whose messages are forwarded.
        let source: ConversationID
        let clientID: ClientID
        let commands: ConversationCommands
        let store: StoreTransaction

        private var isOn: Bool { command.value % 2 == 0 }

        /// One of the first messages, or more often of the last ones, which lists show and which are unread.
        private func number() throws -> Int64 {
            guard command.salt % 3 > 0, let last = try store.conversation(id)?.lastNumber else { return command.number }
            return max(1, last + 1 - command.number)
        }

        /// Often the author of the message, who alone may change it.
        private func writer(of number: Int64) throws -> UserID {
            guard command.value & 4 == 0 else { return user }
            return try store.message(number, in: id)?.author ?? user
        }

        private var linkHash: [UInt8] { [UInt8(truncatingIfNeeded: command.value % 2)] }

        /// Returns whether the command is one of these.
        func changeMembers() throws -> Bool {
            switch command.kind {
            case .add: _ = try commands.add([other], to: id, by: user, in: store)
            case .accept: _ = try commands.accept(id, by: user, in: store)
            case .decline: try commands.decline(id, by: user, in: store)
            case .leave: try commands.leave(id, by: user, in: store)
            case .remove: try commands.remove(other, from: id, by: user, in: store)
            case .promote: _ = try commands.change(role: .admin, of: other, in: id, by: user, store: store)
            case .demote: _ = try commands.change(role: .member, of: other, in: id, by: user, store: store)
            case .handOver: _ = try commands.handOver(id, to: other, by: user, in: store)
            case .rename: _ = try commands.rename(id, to: "Name \(command.value)", by: user, in: store)
            case .settings:
                let settings = ConversationSettings(
                    write: command.value & 1 == 0 ? .members : .admins, add: command.value & 2 == 0 ? .admins : .members
                )
                _ = try commands.change(id, settings: settings, by: user, in: store)
            case .disappearAfter: _ = try commands.change(id, disappearAfter: isOn ? 10 : nil, by: user, in: store)
            case .makeLink:
                var random = SeededRandom(seed: command.salt)
                guard try store.groupLink(hash: linkHash) == nil else { break }
                _ = try commands.makeLink(
                    to: id, linkID: .make(at: store.now, using: &random), hash: linkHash, expiresAt: nil, maxUses: nil,
                    by: user, in: store)
            case .removeLink:
                guard let link = try store.groupLink(hash: linkHash) else { break }
                try commands.removeLink(link.id, of: id, by: user, in: store)
            case .join: _ = try commands.join(byLink: linkHash, by: user, in: store)
            default: return false
            }
            return true
        }

        /// Returns whether the command is one of these.
        func changeMessages() throws -> Bool {
            let (number, emoji) = (try number(), try ReactionEmoji(isOn ? "👍" : "🎉"))
            switch command.kind {
            case .send, .reply, .forward: _ = try commands.send(outgoing(), to: id, by: user, in: store)
            case .edit:
                let version = try store.message(number, in: id)?.textVersion ?? 0
                _ = try commands.edit(
                    number, in: id, text: text(), basedOn: version, by: writer(of: number), store: store)
            case .delete: _ = try commands.delete(number, in: id, by: writer(of: number), store: store)
            case .react: _ = try commands.react(with: emoji, to: number, in: id, by: user, store: store)
            case .removeReaction: _ = try commands.removeReaction(emoji, to: number, in: id, by: user, store: store)
            case .language:
                guard let code = LanguageTag(wellFormed: ["en", "fr", "uk"][command.value % 3]) else { break }
                _ = try commands.setLanguage(code, of: number, in: id, by: writer(of: number), store: store)
            case .pin: _ = try commands.pin(number, in: id, by: user, store: store)
            case .unpin: _ = try commands.unpin(number, in: id, by: user, store: store)
            default: return false
            }
            return true
        }

        func changeOwn() throws {
            let number = try number()
            switch command.kind {
            case .star, .unstar:
                _ = try commands.star(number, in: id, isStarred: command.kind == .star, by: user, store: store)
            case .hide: _ = try commands.hide(number, in: id, by: user, store: store)
            case .clear: try commands.clear(id, upTo: isOn ? nil : number, by: user, in: store)
            case .deleteForOneself:
                try commands.deleteForOneself(id, upTo: isOn ? nil : number, by: user, in: store)
            case .mark:
                let (read, delivered) = (command.value & 1 == 0 ? number : nil, command.value & 2 == 0 ? number : nil)
                _ = try commands.mark(read: read, delivered: delivered, in: id, by: user, store: store)
            case .membership: _ = try commands.change(id, membership: membership(), by: user, in: store)
            case .draft:
                let draft = try Draft(text: isOn ? "draft" : "", revision: Int64(command.value) + 1)
                _ = try commands.change(id, membership: MembershipChange(draft: draft), by: user, in: store)
            case .schedule:
                _ = try commands.schedule(
                    outgoing(), at: store.now.adding(seconds: isOn ? 10 : 60), to: id, by: user, in: store)
            case .changeScheduled, .unschedule:
                guard let waiting = try store.scheduled(by: user, in: id, limit: 1).first else { return }
                if command.kind == .unschedule {
                    return try commands.unschedule(waiting.clientID, in: id, by: user, store: store)
                }
                let change = try ScheduledChange(text: text(), sendAt: isOn ? .some(nil) : nil)
                _ = try commands.change(scheduled: waiting.clientID, in: id, change, by: user, store: store)
            default: return
            }
        }

        private func membership() -> MembershipChange {
            switch command.value % 6 {
            case 0: MembershipChange(mute: .some(Membership.Mute()))
            case 1: MembershipChange(isPinned: command.value > 6)
            case 2: MembershipChange(isArchived: command.value > 6)
            case 3: MembershipChange(isMarkedUnread: command.value < 12)
            case 4: MembershipChange(receipts: .some(false))
            default: MembershipChange(receipts: command.value > 6 ? .some(nil) : .some(true))
            }
        }

        /// Each has a word of its own, by which it is known where it has come to.
        private func text() throws -> MessageText {
            let text = [
                "*hello* \(StreamHarness.abbreviation)", "plain \(command.value) \(StreamHarness.abbreviation)",
                "<@all> hello",
                "<@\(other)> hello",
            ][command.value % 4]
            return try MessageText("\(text) w\(command.salt)")
        }

        private func outgoing() throws -> OutgoingMessage {
            if command.kind == .forward {
                return OutgoingMessage(
                    clientID: clientID, forward: MessageReference(source, command.number), digest: [2])
            }
            var outgoing = try OutgoingMessage(clientID: clientID, text: text(), digest: [1])
            guard command.kind == .reply else { return outgoing }
            let number = try number()
            if command.value & 1 == 0 { outgoing.replyTo = number }
            if command.value & 2 == 0 { outgoing.thread = number }
            if command.value & 4 == 0 { outgoing.readUpTo = number }
            if command.value & 8 == 0 { outgoing.draft = command.number }
            return outgoing
        }
    }
}

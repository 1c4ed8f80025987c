import Foundation

@testable import SwitchboardClient

// What the app writes.
extension QueueRun {
    mutating func send() {
        let app = anyConversation()
        let (clientID, text) = (MessageClientID("m\(wanted.count)"), makeText())
        let (replyTo, thread) = (maybeTarget(in: app), maybeTarget(in: app))
        let id = queue.resolve(app)
        attempt { (queue) throws(SwitchboardError) in
            try queue.send(text, replyTo: replyTo, thread: thread, in: id, as: clientID, at: 0)
        }
        write(clientID, .text(text), in: app)
    }

    mutating func sendVoice() {
        let app = anyConversation()
        let (clientID, name) = (MessageClientID("m\(wanted.count)"), "sound \(makeText())")
        let (replyTo, id) = (maybeTarget(in: app), queue.resolve(app))
        sounds.insert(name)
        attempt { (queue) throws(SwitchboardError) in
            try queue.sendVoice(
                .init(name: name, byteCount: 1_000, durationMs: 500), replyTo: replyTo, in: id, as: clientID, at: 0)
        }
        write(clientID, .text(name), in: app)
    }

    private mutating func maybeTarget(in app: ConversationID) -> WriteEntry.Target? {
        guard Int.random(in: 0..<6, using: &random) == 0 else { return nil }
        return anyTarget(in: app)?.1
    }

    mutating func edit() {
        let app = anyConversation()
        let wanted = wanted
        let isText: (MessageClientID) -> Bool = { clientID in
            if case .text(let text) = wanted[clientID] { !text.hasPrefix("sound") } else { false }
        }
        guard let (clientID, target, version) = anyTarget(in: app, where: isText) else { return }
        let (text, id) = (makeText(), queue.resolve(app))
        attempt { (queue) throws(SwitchboardError) in
            try queue.edit(target, to: text, textVersion: version, in: id, at: 0)
        }
        self.wanted[clientID] = .text(text)
    }

    mutating func delete() {
        let app = anyConversation()
        guard let (clientID, target, _) = anyTarget(in: app) else { return }
        let id = queue.resolve(app)
        attempt { (queue) throws(SwitchboardError) in try queue.delete(target, in: id, at: 0) }
        wanted[clientID] = .gone
    }

    mutating func writeOther() {
        switch Int.random(in: 0..<16, using: &random) {
        case 0: create()
        case 1: forward()
        case 2..<7: mark()
        case 7: clear()
        case 8..<11: changeMembership()
        case 11..<13: schedule()
        default: changeScheduled()
        }
    }

    private mutating func create() {
        guard conversations.count < 5 else { return }
        var made: ConversationID?
        attempt { (queue) throws(SwitchboardError) in
            made = try queue.create(.group(name: nil, members: ["ben"]), at: 0)
        }
        if let made { conversations.append(made) }
    }

    private mutating func forward() {
        guard let source = server.messages["c1"]?.first(where: { $0.deletedAt == nil }) else { return }
        let (app, clientID) = (anyConversation(), MessageClientID("m\(wanted.count)"))
        let id = queue.resolve(app)
        attempt { (queue) throws(SwitchboardError) in
            try queue.forward(
                .init(conversation: "c1", number: source.number), text: source.text, to: id, as: clientID, at: 0)
        }
        write(clientID, .forwarded, in: app)
    }

    /// A reaction, a star, a pin and the like on a message that the server has.
    private mutating func mark() {
        let app = anyConversation()
        guard case (_, .number(let number), _)? = anyTarget(in: app) else { return }
        let kinds: [WriteEntry.Kind] = [.react, .removeReaction, .star, .unstar, .pin, .unpin, .hide, .listen]
        guard let kind = kinds.randomElement(using: &random) else { return }
        let (name, isOn) = Self.state(of: kind)
        let emoji = name == "react" ? ["👍", "🎉"].randomElement(using: &random) : nil
        let id = queue.resolve(app)
        attempt { (queue) throws(SwitchboardError) in
            try queue.write(kind, .number(number), emoji: emoji, in: id, at: 0)
        }
        states[.init(conversation: id, name: name, number: number, emoji: emoji)] = .flag(isOn)
    }

    private static func state(of kind: WriteEntry.Kind) -> (name: String, isOn: Bool) {
        switch kind {
        case .react, .removeReaction: ("react", kind == .react)
        case .star, .unstar: ("star", kind == .star)
        case .pin, .unpin: ("pin", kind == .pin)
        case .hide: ("hide", true)
        default: ("listen", true)
        }
    }

    private mutating func clear() {
        let app = anyConversation()
        let id = queue.resolve(app)
        guard !id.isProvisional else { return }
        let number = server.messages[id, default: []].count
        let kind: WriteEntry.Kind = Bool.random(using: &random) ? .clear : .deleteForMe
        attempt { (queue) throws(SwitchboardError) in try queue.clear(kind, upTo: number, in: id, at: 0) }
        cleared[id] = max(cleared[id] ?? 0, number)
    }

    private mutating func changeMembership() {
        let app = anyConversation()
        let (id, isOn) = (queue.resolve(app), Bool.random(using: &random))
        let changes: [MembershipChange] = [
            .muted(isOn ? Mute(until: nil, mentions: true) : nil), .pinned(isOn), .archived(isOn), .markedUnread(isOn),
            .receipts(isOn ? nil : false), .draft(Draft(text: makeText(), revision: texts)),
        ]
        guard let change = changes.randomElement(using: &random) else { return }
        attempt { (queue) throws(SwitchboardError) in try queue.change(change, in: id, at: 0) }
        states[.init(conversation: app, name: change.name)] = .membership(change)
    }

    private mutating func schedule() {
        let (app, clientID) = (anyConversation(), MessageClientID("s\(wanted.count)"))
        let (text, id, time) = (makeText(), queue.resolve(app), makeTime())
        attempt { (queue) throws(SwitchboardError) in
            try queue.schedule(text, at: time, in: id, as: clientID, at: 0)
        }
        scheduled[clientID] = .init(conversation: app, text: text, sendAt: time)
        // Its name is taken.
        wanted[clientID] = .gone
    }

    private mutating func makeTime() -> Date {
        Date(timeIntervalSince1970: 4_000_000_000 + Double(Int.random(in: 0..<1_000, using: &random)))
    }

    private mutating func changeScheduled() {
        let known = scheduled.keys.sorted { $0.rawValue < $1.rawValue }
        guard let clientID = known.randomElement(using: &random), let now = scheduled[clientID] else { return }
        let id = queue.resolve(now.conversation)
        switch Int.random(in: 0..<6, using: &random) {
        case 0..<3:
            let text = Bool.random(using: &random) ? makeText() : nil
            let time = text == nil || Bool.random(using: &random) ? makeTime() : nil
            attempt { (queue) throws(SwitchboardError) in
                try queue.reschedule(clientID, to: text, at: time, in: id, at: 0)
            }
            scheduled[clientID]?.text = text ?? now.text
            scheduled[clientID]?.sendAt = time ?? now.sendAt
            return
        case 3:
            attempt { (queue) throws(SwitchboardError) in try queue.unschedule(clientID, in: id, at: 0) }
        case 4:
            attempt { (queue) throws(SwitchboardError) in try queue.sendNow(clientID, in: id, at: 0) }
            sendLater(clientID, now)
        default:
            // The server sends it at its time, if nothing waits to change it.
            guard !queue.entries.contains(where: { $0.clientID == clientID || $0.target == .waiting(clientID) }),
                server.sendDue(clientID) != nil
            else { return }
            sendLater(clientID, now)
        }
        scheduled[clientID] = nil
    }

    private mutating func sendLater(_ clientID: MessageClientID, _ message: QueueServer.Scheduled) {
        unordered.insert(clientID)
        write(clientID, .text(message.text), in: message.conversation)
    }
}

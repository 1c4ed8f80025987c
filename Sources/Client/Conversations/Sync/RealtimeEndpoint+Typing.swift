// Who is writing in conversations.
extension RealtimeEndpoint {
    /// Who is writing in one conversation.
    final class OpenTyping {
        var book = TypingBook()
        let updates = Broadcast<[UserID: TypingActivity]>(limit: 1)
        var timer: Task<Void, Never>?
    }

    func typing(in id: ConversationID) -> AsyncStream<[UserID: TypingActivity]> {
        start()
        if let open = messaging.typing[id] { return open.updates.subscribe(first: [open.book.all]).withoutRepeats() }
        let open = OpenTyping()
        messaging.typing[id] = open
        open.updates.onNoListeners { [weak self] in
            Task { [weak self] in await self?.leaveTyping(in: id) }
        }
        let signals = open.updates.subscribe(first: [[:]]).withoutRepeats()
        act { $0.listen(StreamName.typing(id), into: &$1) }
        return signals
    }

    func deliver(_ delivery: EndpointMachine.Delivery, ofTypingIn id: ConversationID) {
        guard let open = messaging.typing[id] else { return }
        switch delivery {
        // Another device of the user's own is no news.
        case .typing(let event): if event.user != user { open.book.apply(event, at: now) }
        case .snapshot: open.book = TypingBook()
        case .closed:
            messaging.typing[id] = nil
            open.timer?.cancel()
            return open.updates.finish()
        default: return
        }
        show(open, id)
    }

    private func show(_ open: OpenTyping, _ id: ConversationID) {
        open.book.expire(now)
        open.updates.send(open.book.all)
        open.timer?.cancel()
        guard let deadline = open.book.deadline else { return }
        let wait = Duration.milliseconds(max(1, deadline - now))
        open.timer = Task { [weak self, clock] in
            try? await clock.sleep(for: wait)
            if !Task.isCancelled { await self?.expireTyping(in: id) }
        }
    }

    private func expireTyping(in id: ConversationID) {
        if let open = messaging.typing[id] { show(open, id) }
    }

    private func leaveTyping(in id: ConversationID) {
        guard let open = messaging.typing[id], open.updates.hasNoListeners else { return }
        messaging.typing[id] = nil
        open.timer?.cancel()
        act { $0.unlisten(StreamName.typing(id), into: &$1) }
    }

    /// Without a connection, it is not known who is writing.
    func disconnectedTyping() {
        for (id, open) in messaging.typing {
            open.book = TypingBook()
            show(open, id)
        }
    }

    func closeTyping() {
        for (id, open) in messaging.typing {
            act { $0.unlisten(StreamName.typing(id), into: &$1) }
            open.timer?.cancel()
            open.updates.finish()
        }
        messaging.typing = [:]
    }
}

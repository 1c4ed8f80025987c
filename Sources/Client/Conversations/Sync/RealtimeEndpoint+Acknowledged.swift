// Results that responses have acknowledged. Streams tell them too, but perhaps not before the connection breaks: if a
// result were not held and stored at once, the state before it would be shown until there is a connection again.
extension RealtimeEndpoint {
    /// Takes what a response has acknowledged of a write that was not queued.
    func keep(_ acknowledgement: Acknowledgement, in id: ConversationID) {
        if let changes = hold([acknowledgement], in: id) { cache { try $0.save(changes) } }
        show([acknowledgement], in: id)
    }

    /// Takes the result into the held state. Returns what has to be stored; nil if there is nothing to store.
    func hold(_ acknowledged: [Acknowledgement], in id: ConversationID) -> AcknowledgedChanges? {
        guard !acknowledged.isEmpty, let owner = messaging.owner else { return nil }
        var changes = AcknowledgedChanges(id: id, acknowledgements: acknowledged)
        if let conversation = messaging.open[id] {
            for one in acknowledged { one.apply(to: &conversation.state, &conversation.marks) }
            let taken = conversation.state.takeChanges()
            // Stored translations are removed with the texts.
            if !taken.isEmpty { conversation.translations.follow(conversation.state, taken) }
            changes.open = (conversation.state, taken)
            changes.marks = (conversation.marks, conversation.marks.takeChanges())
        }
        let before = messaging.inbox
        for one in acknowledged { messaging.inbox.acknowledge(one, in: id, by: owner) }
        if let row = messaging.inbox.rows[id], before.isBelow(row) {
            Task { [weak self] in try? await self?.readTotals() }
        }
        changes.inbox = (messaging.inbox, messaging.inbox.takeChanges())
        return messaging.isCacheBroken ? nil : changes
    }

    func show(_ acknowledged: [Acknowledgement], in id: ConversationID) {
        guard !acknowledged.isEmpty else { return }
        if let conversation = messaging.open[id] { changed(conversation) }
        inboxChanged()
        setExpiryTimer()
    }
}

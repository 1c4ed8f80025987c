import Foundation

// The last summary of each conversation, as it is stored.
extension RealtimeEndpoint {
    /// The sequence of a conversation, as far as it is known here: in the epoch of its stream, or of the list. 0 if the
    /// known one is of another epoch; nil if none is known.
    func knownSequence(of id: ConversationID) -> Int? {
        let (row, listed) = (messaging.inbox.rows[id], messaging.inbox.position?.epoch)
        let open = messaging.open[id]?.state.position
        var positions = [open].compactMap(\.self)
        cache { store in
            if let stored = try store.position(of: id) { positions.append(stored) }
        }
        guard row != nil || !positions.isEmpty else { return nil }
        let epoch = open?.epoch ?? listed
        var known = positions.filter { epoch == nil || $0.epoch == epoch }.map { Int($0.sequence) }
        if epoch == listed { known += [row?.lastMessage?.version, row?.conversation?.version].compactMap(\.self) }
        return known.max() ?? 0
    }

    /// Stores a summary, unless it is of a call: that one is based on what was said, and this device does not know
    /// whether that is still there.
    func keep(
        _ summary: Summary, of scope: SummaryScope, asOf sequence: Int?, in id: ConversationID, for owner: UserID?
    ) {
        guard scope.call == nil, let sequence, owner == nil || owner == messaging.owner else { return }
        let stored = StoredSummary(summary: summary, scope: scope, receivedAt: Date())
        cache { try $0.save(stored, asOf: sequence, of: id) }
        setExpiryTimer()
    }

    func storedSummary(of id: ConversationID) async -> StoredSummary? {
        await openStoreIfNeeded()
        let (id, now) = (resolve(id), Date())
        var stored: StoredSummary?
        cache { stored = try $0.summary(of: id, at: now) }
        guard var stored else { return nil }
        let removals = PendingRemovals(messaging.queue.entries)
        let count = stored.summary.items.count
        stored.summary.items.removeAll { item in item.messages.contains { removals.contain($0, in: id) } }
        return count > 0 && stored.summary.items.isEmpty ? nil : stored
    }
}

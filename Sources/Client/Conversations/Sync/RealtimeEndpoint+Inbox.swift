// The inbox: its stream, its pages, and what the app sees of it.
extension RealtimeEndpoint {
    private struct Paging: Encodable, Sendable { var limit: Int?; var cursor: String? }

    /// Signals whenever the inbox may have changed.
    func inboxSignals() async -> AsyncStream<Void> {
        start()
        messaging.inboxUpdates.onNoListeners { [weak self] in
            Task { [weak self] in await self?.leaveInbox() }
        }
        let signals = messaging.inboxUpdates.subscribe(first: [()])
        await openStoreIfNeeded()
        listenToInbox()
        return signals
    }

    /// What the app sees; nil if nothing is known yet.
    func inboxState() -> Conversations.State? {
        let inbox = messaging.inbox.applying(messaging.queue.entries)
        // Without a position, only conversations that were created here are known.
        guard
            inbox.position != nil || !inbox.rows.isEmpty
                || messaging.queue.entries.contains(where: { $0.kind == .create })
        else { return nil }
        var unsent: [ConversationID: Int] = [:]
        for entry in messaging.queue.entries where entry.isMessage { unsent[entry.conversation, default: 0] += 1 }
        var state = Conversations.State(
            rows: inbox.shown, unread: inbox.unread, unsent: unsent, hasMore: inbox.boundary != nil,
            isCurrent: messaging.isInboxOpen)
        state.apply(messaging.queue.entries)
        return state
    }

    func listenToInbox() {
        guard let owner = messaging.owner, !messaging.inboxUpdates.hasNoListeners else { return }
        let stream = StreamName.inbox(owner)
        let position = messaging.inbox.position
        act { machine, actions in
            machine.listen(stream, holding: position, into: &actions)
        }
    }

    private func leaveInbox() {
        guard let owner = messaging.owner, messaging.inboxUpdates.hasNoListeners else { return }
        messaging.isInboxOpen = false
        act { $0.unlisten(StreamName.inbox(owner), into: &$1) }
    }

    func deliverInbox(_ delivery: EndpointMachine.Delivery, of stream: String) {
        guard let owner = messaging.owner, stream == StreamName.inbox(owner) else { return }
        switch delivery {
        case .snapshot(.inbox(let page), let position):
            dropUnseen(page.conversations)
            messaging.inbox.apply(page, at: position)
            concern(page.conversations)
        case .rows(.inbox(let frame)):
            let needsTotals = frame.rows.contains { messaging.inbox.isBelow($0) }
            dropUnseen(frame.rows)
            if messaging.inbox.apply(frame) == .hole { machine.listenAgain(stream, at: now) }
            concern(frame.rows)
            if needsTotals { Task { [weak self] in try? await self?.readTotals() } }
        case .listening: messaging.isInboxOpen = true
        case .closed: messaging.isInboxOpen = false
        case .snapshot, .rows, .changes, .presence, .caption, .captionTranslation, .typing, .run: break
        }
        machine.hold(messaging.inbox.position, of: stream)
        inboxChanged()
    }

    func inboxChanged() {
        let changes = messaging.inbox.takeChanges()
        if !changes.isEmpty {
            cache { try $0.save(messaging.inbox, changes) }
            setExpiryTimer()
        }
        messaging.inboxUpdates.send(())
    }

    /// Rows say what became of one's own messages and memberships.
    private func concern(_ rows: [InboxRow]) {
        for row in rows {
            // The beginning of a text says less than the response, which brings all of it.
            if let message = row.lastMessage, message.isCut != true { observe([message]) }
            guard let conversation = messaging.open[row.id], let membership = row.membership else { continue }
            conversation.state.keep(membership)
            if conversation.state.isWithoutStream, membership.state != .left {
                conversation.state.isWithoutStream = false
                listen(to: row.id)
            }
            changed(conversation)
        }
    }

    /// Removes from the store what the user has cleared or deleted on another device. The held state of open
    /// conversations changes with their memberships.
    private func dropUnseen(_ rows: [InboxRow]) {
        for row in rows where messaging.open[row.id] == nil {
            let first = row.membership?.firstNumber ?? (row.gone == true ? .max : 0)
            guard first > messaging.inbox.rows[row.id]?.membership?.firstNumber ?? 0 else { continue }
            cache { try $0.remove(before: first, of: row.id) }
        }
    }

    /// Reads the next page of the inbox.
    func loadMoreConversations(limit: Int?) async throws {
        _ = try await owner()
        guard let cursor = messaging.inbox.nextCursor else { return }
        let page: InboxPage = try await request("inbox.list", Paging(limit: limit, cursor: cursor))
        _ = messaging.inbox.apply(page, at: cursor)
        inboxChanged()
    }

    func readTotals() async throws {
        let page: InboxPage = try await request("inbox.list", Paging(limit: 1))
        guard page.position?.epoch == messaging.inbox.position?.epoch else { return }
        messaging.inbox.count(page.totals)
        inboxChanged()
    }
}

// Pages of messages.
extension RealtimeEndpoint {
    /// Where a page is read.
    enum Anchor: Hashable, Sendable {
        case newest
        case before(Int)
        case after(Int)
        case around(Int)
    }

    private struct Paging: Encodable, Sendable {
        var conversation: ConversationID
        var before: Int?
        var after: Int?
        var around: Int?
        var limit: Int?
    }

    /// How often a page is read again that does not fit the held state.
    private static let maxReadings = 20

    /// Reads a page. A page that does not fit yet is read again once the stream has moved on.
    func read(_ anchor: Anchor, of conversation: OpenConversation, limit: Int?) async throws {
        var paging = Paging(conversation: conversation.state.id, limit: limit)
        switch anchor {
        case .newest: break
        case .before(let number): paging.before = number
        case .after(let number): paging.after = number
        case .around(let number): paging.around = number
        }
        for _ in 0..<Self.maxReadings {
            let page: MessagePage = try await request("messages.list", paging)
            let outcome = conversation.state.apply(page, before: paging.before)
            if outcome == .applied { keep(page.own, of: conversation) }
            observe(page.messages)
            changed(conversation)
            if outcome == .applied { return }
            try await clock.sleep(for: .milliseconds(100))
        }
        throw SwitchboardError.timedOut
    }

    func loadEarlier(in id: ConversationID, limit: Int?) async throws {
        let conversation = try reading(id)
        guard let run = conversation.run else { return try await read(.newest, of: conversation, limit: limit) }
        guard conversation.hasEarlier else { return }
        guard conversation.state.messages.count < OpenConversation.heldMessages else { throw SwitchboardError.overflow }
        var isStored = false
        cache { store in
            isStored = try store.loadEarlier(than: run.first, limit: limit ?? 50, into: &conversation.state)
            guard isStored, let first = conversation.state.messages.keys.min(), first < run.first else { return }
            try store.loadTranslations(
                of: first...(run.first - 1), into: &conversation.translations, beside: conversation.state)
        }
        changed(conversation)
        if isStored, !isConnected { return }
        try await read(.before(run.first), of: conversation, limit: limit)
    }

    func loadLater(in id: ConversationID, limit: Int?) async throws {
        let conversation = try reading(id)
        guard let run = conversation.run, !run.isNewest else { return }
        guard conversation.state.messages.count < OpenConversation.heldMessages else { throw SwitchboardError.overflow }
        conversation.focus = conversation.focus ?? run.last
        try await read(.after(run.last), of: conversation, limit: limit)
    }

    func load(around number: Int, in id: ConversationID, limit: Int?) async throws {
        let conversation = try reading(id)
        if !conversation.state.ranges.contains(number) {
            conversation.state.trim(to: OpenConversation.heldMessages / 2)
            try await read(.around(number), of: conversation, limit: limit)
        }
        conversation.focus = number
        refresh(conversation)
        changed(conversation)
    }

    func showNewest(in id: ConversationID) throws {
        let conversation = try reading(id)
        conversation.focus = nil
        changed(conversation)
    }

    private func reading(_ id: ConversationID) throws -> OpenConversation {
        guard let conversation = messaging.open[id] else {
            throw SwitchboardError.invalidArgument(
                "nobody reads conversation \(id): more of it can be loaded while its messages are iterated over")
        }
        return conversation
    }

    /// Reads shown messages again that may be old.
    func refresh(_ conversation: OpenConversation) {
        guard !conversation.isRefreshing else { return }
        conversation.isRefreshing = true
        let id = conversation.state.id
        Task { [weak self] in await self?.readStale(id) }
    }

    private func readStale(_ id: ConversationID) async {
        while let conversation = messaging.open[id], let stale = conversation.staleRange {
            do {
                try await read(.before(stale.last + 1), of: conversation, limit: 100)
            } catch {
                break
            }
        }
        messaging.open[id]?.isRefreshing = false
    }
}

extension OpenConversation {
    /// Whether there are more messages before the shown ones.
    var hasEarlier: Bool {
        guard let run else { return false }
        return run.first > state.start ?? 1
    }

    /// The newest range of the shown messages that may be old.
    var staleRange: HeldRange? {
        guard isOpen, let run, let sequence = state.position?.sequence else { return nil }
        return state.ranges.all.last { $0.first >= run.first && $0.last <= run.last && $0.asOf < sequence }
    }
}

// The conversations that the app reads: their streams.
extension RealtimeEndpoint {
    /// How many messages of a stored conversation are shown at first.
    private static let shownAtFirst = 200

    /// Signals whenever a conversation may have changed, which is open as long as somebody listens.
    func signals(of id: ConversationID) async -> AsyncStream<Void> {
        start()
        await openStoreIfNeeded()
        let id = resolve(id)
        let conversation = open(id)
        let signals = conversation.updates.subscribe(first: [()])
        listen(to: id)
        return signals
    }

    private func open(_ id: ConversationID) -> OpenConversation {
        if let open = messaging.open[id] { return open }
        let conversation = OpenConversation(ConversationState(id: id))
        messaging.open[id] = conversation
        loadStored(conversation)
        conversation.updates.onNoListeners { [weak self] in
            Task { [weak self] in await self?.leave(id) }
        }
        return conversation
    }

    private func loadStored(_ conversation: OpenConversation) {
        let id = conversation.state.id
        cache { store in
            if let stored = try store.conversation(id, limit: Self.shownAtFirst) { conversation.state = stored }
            conversation.draft = try store.draft(in: id)
            conversation.marks = try store.marks(of: id)
            conversation.translations = try store.translations(beside: conversation.state)
            try store.opened(id, at: wallClock)
        }
    }

    private func leave(_ id: ConversationID) {
        guard let conversation = messaging.open[id], conversation.updates.hasNoListeners else { return }
        messaging.open[id] = nil
        act { machine, actions in
            machine.unlisten(StreamName.conversation(id), into: &actions)
            machine.unlisten(StreamName.marks(id), into: &actions)
            machine.unlisten(StreamName.translations(id), into: &actions)
        }
        cache { try $0.shrink(except: Set(messaging.open.keys)) }
    }

    func listen(to id: ConversationID) {
        // Of a stream that is open nothing is resumed: another reader has come.
        guard let conversation = messaging.open[id], !conversation.isOpen, !conversation.state.isWithoutStream,
            !id.isProvisional
        else { return }
        if conversation.state.position == nil { loadStored(conversation) }
        conversation.state.resume()
        let (stream, position) = (StreamName.conversation(id), conversation.state.resumption)
        act { machine, actions in
            machine.listen(stream, holding: position, into: &actions)
        }
    }

    func deliver(_ delivery: EndpointMachine.Delivery, of conversation: OpenConversation, stream: String) {
        switch delivery {
        case .snapshot(.conversation(let snapshot), let position):
            conversation.problem = nil
            conversation.state.apply(snapshot, at: position)
            keep(snapshot.own, of: conversation)
            observe(snapshot.messages)
        case .rows(.conversation(let frame)):
            if conversation.state.apply(frame) == .hole {
                conversation.state.resume()
                machine.listenAgain(stream, at: now)
            }
            observe(frame.rows.compactMap { if case .message(let message) = $0 { message } else { nil } })
        case .listening:
            conversation.state.resumed()
            (conversation.isOpen, conversation.problem) = (true, nil)
            listenToMarks(of: conversation)
            listenToTranslations(of: conversation)
            refresh(conversation)
        case .closed(let error): closed(conversation, error)
        case .snapshot, .rows, .changes, .presence, .caption, .captionTranslation, .typing, .run: break
        }
        if conversation.focus == nil { conversation.state.trim(to: OpenConversation.heldMessages) }
        machine.hold(conversation.state.resumption, of: stream)
        changed(conversation)
    }

    /// The stream has ended: the user was removed, was never in it, or the endpoint stopped.
    private func closed(_ conversation: OpenConversation, _ error: SwitchboardError) {
        (conversation.isOpen, conversation.areMarksKnown) = (false, false)
        act { machine, actions in
            machine.unlisten(StreamName.marks(conversation.state.id), into: &actions)
            machine.unlisten(StreamName.translations(conversation.state.id), into: &actions)
        }
        switch error {
        case .streamClosed: break
        case .refused(let problem) where problem.kind == .forbidden: break
        case .refused(let problem):
            conversation.problem = problem
            if problem.kind == .notFound { withdrawAnswers(in: conversation.state.id) }
            return
        default: return
        }
        conversation.translations.removeAll()
        withdrawAnswers(in: conversation.state.id)
        conversation.state.isWithoutStream = true
        conversation.state.position = nil
        let id = conversation.state.id
        Task { [weak self] in await self?.readFormer(id) }
    }

    /// Removes everything that was derived from a conversation that the user is not in.
    func withdrawAnswers(in id: ConversationID) { cache { try $0.withdrawAll(in: id) } }

    /// Stores and shows what has changed.
    func changed(_ conversation: OpenConversation) {
        let changes = conversation.state.takeChanges()
        if !changes.isEmpty {
            conversation.translations.follow(conversation.state, changes)
            cache { try $0.save(conversation.state, changes) }
            setExpiryTimer()
        }
        let marked = conversation.marks.takeChanges()
        if !marked.isEmpty { cache { try $0.save(conversation.marks, marked, of: conversation.state.id) } }
        let translated = conversation.translations.takeChanges()
        if !translated.isEmpty {
            cache { try $0.save(conversation.translations, translated, of: conversation.state.id) }
        }
        conversation.updates.send(())
        askForPeople(of: conversation)
    }

    /// Reads the messages of a conversation that the user has left, as far as they may still see them.
    private func readFormer(_ id: ConversationID) async {
        do {
            let result: ConversationResult = try await request("conversations.get", ["conversation": id])
            guard let conversation = messaging.open[id] else { return }
            keep(.conversation(result), in: id)
            try await read(.newest, of: conversation, limit: nil)
        } catch {
            messaging.open[id]?.problem = (error as? SwitchboardError)?.problem
            if let conversation = messaging.open[id] { changed(conversation) }
        }
    }

    /// Asks for the profiles of authors who are no longer members: pages do not have these.
    private func askForPeople(of conversation: OpenConversation) {
        let state = conversation.state
        let unknown = Set(state.messages.values.map(\.author)).subtracting(state.people.keys)
            .subtracting(conversation.askedPeople)
        guard isConnected, !unknown.isEmpty else { return }
        conversation.askedPeople.formUnion(unknown)
        for user in unknown {
            Task { [weak self] in await self?.readPerson(user, for: state.id) }
        }
    }

    private func readPerson(_ user: UserID, for id: ConversationID) async {
        guard let person: User = try? await request("users.get", ["user": user]),
            let conversation = messaging.open[id]
        else { return }
        conversation.state.keep(person)
        changed(conversation)
    }
}

/// A conversation as responses have it.
struct ConversationResult: Decodable, Hashable, Sendable {
    var conversation: Conversation
    var membership: Membership
    var people: [User]
}

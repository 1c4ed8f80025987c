package import Bus
package import Logging
package import Model
package import NIOCore
import Synchronization

/// Delivers committed changes to the sessions that listen to them.
///
/// Sessions are sharded by event loop: a shard's sessions, queues and timers belong to its loop alone. Data for other
/// threads is under small locks: which streams a shard listens to, and the directory of the sessions of users and
/// endpoints. Other threads change sessions only by commands in the shard's mailbox, which are applied in order: what
/// is published or attached before a request returns reaches the socket before the request's result.
///
/// All methods may be called on any thread and, except `shutdown`, return at once.
package final class RealtimeHub: Sendable {
    let rules: SessionRules
    let clock: @Sendable () -> Timestamp
    let logger: Logger
    let bus: any EventBus
    let directory = SessionDirectory()
    let presences: PresenceRegistry
    let counters = RealtimeCounters()
    let shards: [SessionShard]
    package var limits: RealtimeLimits { rules.limits }
    /// Users about whose presence listeners are about to read anew what they see.
    private let rereadUsers = Mutex<Set<UserID>>([])
    private let recorder: (any PresenceRecorder)?
    private let isShuttingDown = Atomic(false)
    private let lastNumber = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - eventLoopGroup: The group of the transports' channels: there is one shard for each of its loops.
    ///   - bus: The source of changes and events; presence is published on it.
    ///   - recorder: Is told who is there.
    ///   - serverVersion: For the results of hellos. Nil if it is not told.
    ///   - clientBuild: The build of the web client that is served, told with the version.
    ///   - clock: Wall time.
    package init(
        eventLoopGroup: any EventLoopGroup, bus: any EventBus, limits: RealtimeLimits = RealtimeLimits(),
        serverVersion: String? = nil, clientBuild: String? = nil, recorder: (any PresenceRecorder)? = nil,
        logger: Logger = Logger(label: "realtime"),
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.clock = clock
        self.logger = logger
        self.bus = bus
        self.recorder = recorder
        presences = PresenceRegistry(grace: limits.presenceGrace)
        rules = SessionRules(limits: limits, serverVersion: serverVersion, clientBuild: clientBuild)
        shards = eventLoopGroup.makeIterator().enumerated().map { SessionShard(index: $0.offset, loop: $0.element) }
        bus.subscribe { [weak self] message in
            switch message {
            case .changes(let changes): self?.deliver(changes)
            case .conversations(let updates): self?.deliver(updates)
            case .event(let event): self?.deliver(event)
            }
        }
    }
}

// Listening on behalf of clients.
extension RealtimeHub {
    /// Lets all live sessions of a user listen to a stream: each gets its snapshot, unless it listens already.
    package func attach(user: UserID, stream: StreamName) {
        for session in directory.sessions(of: user) {
            shards[session.shard].post(.attach(stream, session: session.number))
        }
    }

    /// Lets the live session of an endpoint, where there is one, listen to a stream.
    package func attach(endpoint: EndpointID, stream: StreamName) {
        guard let session = directory.session(of: endpoint) else { return }
        shards[session.shard].post(.attach(stream, session: session.number))
    }

    /// Lets every session forget a stream that has ended, once it has sent what was published before.
    package func detach(stream: StreamName) {
        for shard in shards { shard.post(.detach(stream)) }
    }

    /// Stops a stream for a user who may no longer see it, like `drop(endpoint:from:)`.
    package func drop(user: UserID, from stream: StreamName) {
        for session in directory.sessions(of: user) {
            shards[session.shard].post(.drop(stream, session: session.number))
        }
    }

    /// Stops a stream for an endpoint that may no longer see it: its session gets `reset` with the reason `access`.
    /// What is published afterwards does not reach it.
    package func drop(endpoint: EndpointID, from stream: StreamName) {
        guard let session = directory.session(of: endpoint) else { return }
        shards[session.shard].post(.drop(stream, session: session.number))
    }
}

extension RealtimeHub {
    /// Whether the endpoint has a live session.
    package func isConnected(_ endpoint: EndpointID) -> Bool { directory.session(of: endpoint) != nil }

    /// How long ago the client of an endpoint's session last sent a message: what only an app that runs does, where a
    /// connection answers by itself, or is lost without anybody knowing. Nil without a session or a message.
    package func silence(of endpoint: EndpointID) -> Duration? {
        guard let last = directory.lastMessage(of: endpoint) else { return nil }
        return .nanoseconds((NIODeadline.now() - last).nanoseconds)
    }
}

// Ending sessions.
extension RealtimeHub {
    /// Ends the sessions of a sign-in with `bye` 4004.
    package func revoke(signIn: SignInID) {
        for session in directory.sessions(signedInWith: signIn) {
            shards[session.shard].post(.end(.session(session.number), .revoked))
        }
    }

    /// Ends all sessions of a user with `bye` 4004.
    package func revoke(user: UserID) {
        for shard in shards { shard.post(.end(.user(user), .revoked)) }
    }

    /// Ends all sessions with `bye` 4000 and a random reconnection delay; rejects new ones. Returns when the last
    /// connection is closed, which takes at most `RealtimeLimits.closeTimeout` and a sweep.
    package func shutdown() async {
        isShuttingDown.store(true, ordering: .sequentiallyConsistent)
        for shard in shards {
            shard.post(.end(.all, .shuttingDown))
            try? await shard.emptied().get()
        }
    }
}

// Sessions.
extension RealtimeHub {
    /// Opens a session for a connection on `loop`. To be called on that loop; nil when the loop does not belong to the
    /// hub.
    func open(
        on loop: any EventLoop, transport: any SessionTransport, services: RealtimeServices
    ) -> Session? {
        guard let shard = shards.first(where: { $0.loop === loop }) else { return nil }
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let session = Session(
            id: SessionID.make(at: clock()), number: number, hub: self, shard: shard, transport: transport,
            services: services)
        shard.sessions.add(session)
        if isShuttingDown.load(ordering: .sequentiallyConsistent) { session.end(.shuttingDown) }
        return session
    }
}

// Presence.
extension RealtimeHub {
    /// The user's presence as others see it, without `lastSeenAt`.
    package func presence(of user: UserID) -> Presence {
        presences.presence(of: user)
    }

    /// The person at an endpoint is there, or not: users are online while they are at one of theirs. A session begins active.
    /// Returns whether the endpoint has a session.
    package func setActive(_ isActive: Bool, of endpoint: EndpointID) -> Bool {
        guard let session = directory.session(of: endpoint) else { return false }
        shards[session.shard].post(.setActive(isActive, session: session.number))
        return true
    }

    /// Applies the user's setting: a hidden user is never online.
    package func setPresenceShown(_ isShown: Bool, of user: UserID) {
        presences.setShown(isShown, of: user)
        publishPresence(of: user)
    }

    /// Who may see the user's presence has changed, or whose presence the user may see: their listeners get what they see
    /// from now on. However often it changes, that is read once in so many milliseconds.
    package func rereadPresence(of user: UserID) {
        guard rereadUsers.withLock({ $0.insert(user).inserted }), let loop = shards.first?.loop else { return }
        loop.scheduleTask(in: limits.presenceInterval) {
            _ = self.rereadUsers.withLock { $0.remove(user) }
            let own = self.directory.sessions(of: user)
            for shard in self.shards {
                let own = own.filter { $0.shard == shard.index }.map(\.number)
                guard !own.isEmpty || shard.isListened(.presence(user)) else { continue }
                shard.post(.rereadPresence(of: user, own: own))
            }
        }
    }

    /// A session of the user has become live.
    func presenceArrived(_ user: UserID, isShown: Bool) {
        presences.arrived(user, isShown: isShown)
        publishPresence(of: user)
    }

    /// A live session of the user has ended.
    func presenceLeft(_ user: UserID, at now: NIODeadline) {
        presences.left(user, at: now, wallClock: clock())
        guard let loop = shards.first?.loop else { return }
        loop.scheduleTask(deadline: now + limits.presenceGrace) {
            for (user, presence) in self.presences.sweep(at: now + self.limits.presenceGrace) {
                self.publish(presence, of: user)
            }
        }
    }

    /// Presence is published on one loop, so that it is published in the order of the decisions.
    private func publishPresence(of user: UserID) {
        guard let loop = shards.first?.loop else { return }
        loop.execute {
            guard let presence = self.presences.update(user, at: loop.now) else { return }
            self.publish(presence, of: user)
        }
    }

    private func publish(_ presence: Presence, of user: UserID) {
        recorder?.note(presence, of: user)
        bus.publish(EphemeralEvent(presence, of: user))
    }
}

// Delivery from the bus.
extension RealtimeHub {
    /// Called on the store's writer thread: frames are encoded later, on a loop that has a listener.
    private func deliver(_ changes: [Change]) {
        for user in changes.compactMap(\.presenceChange) { rereadPresence(of: user) }
        let batches = StreamBatch.batches(of: changes)
        for shard in shards {
            shard.post(batches.filter { shard.isListened($0.stream) }.map { .receiveChanges($0) })
        }
    }

    /// Who may no longer listen is dropped first, and hears nothing of it.
    private func deliver(_ updates: [ConversationUpdate]) {
        for update in updates {
            let stream = StreamName.conversation(update.conversation)
            for user in update.presenceChanges { rereadPresence(of: user) }
            for change in update.listenChanges {
                for session in directory.sessions(of: change.user) {
                    switch change.kind {
                    case .drop: shards[session.shard].post(.drop(change.stream, session: session.number))
                    case .reread: shards[session.shard].post(.reread(change.stream, session: session.number))
                    }
                }
            }
            deliverMarks(of: update)
            deliverTranslations(of: update)
            guard update.upTo > update.after else { continue }
            let batch = StreamBatch(update)
            for shard in shards where shard.isListened(stream) { shard.post(.receiveChanges(batch)) }
        }
    }

    private func deliverMarks(of update: ConversationUpdate) {
        let stream = StreamName.marks(update.conversation)
        guard !update.marks.isEmpty || !update.hasMarks else { return }
        let batch = StreamBatch(marksOf: update)
        for shard in shards where shard.isListened(stream) { shard.post(.receiveChanges(batch)) }
    }

    private func deliverTranslations(of update: ConversationUpdate) {
        guard let batch = StreamBatch(translationsOf: update) else { return }
        for shard in shards where shard.isListened(batch.stream) { shard.post(.receiveChanges(batch)) }
    }

    /// Lets a user's sessions read all streams of a form anew, of which they see other things than before: marks after they
    /// have changed whether they send receipts, translations after they have changed their language.
    package func rereadAll(_ pattern: StreamPattern, of user: UserID) {
        for session in directory.sessions(of: user) {
            shards[session.shard].post(.rereadAll(pattern, session: session.number))
        }
    }

    /// As of all users, such as after something of all of them was erased.
    package func rereadAll(_ pattern: StreamPattern) {
        for shard in shards { shard.post(.rereadAll(pattern, session: nil)) }
    }

    /// Notifies the sessions that listen to a user's inbox which of its rows have moved. Notices of one user have to come in
    /// the order of their counters, each with everything of its counter.
    package func deliver(_ notice: InboxNotice) {
        let stream = StreamName.inbox(notice.user)
        for shard in shards where shard.isListened(stream) { shard.post(.receiveNotice(notice)) }
    }

    /// Lets all sessions read on in the inboxes that they listen to, as after notices were lost.
    package func rereadInboxes() {
        for shard in shards { shard.post(.rereadInboxes) }
    }

    /// Whether a session listens to the user's inbox.
    package func listensToInbox(_ user: UserID) -> Bool { isListened(.inbox(user)) }

    /// Whether a session listens to the stream. One that begins to listen later reads what was committed before.
    package func isListened(_ stream: StreamName) -> Bool {
        shards.contains { $0.isListened(stream) }
    }

    private func deliver(_ event: EphemeralEvent) {
        let shared = StreamEvent(event)
        for shard in shards where shard.isListened(event.stream) {
            shard.post(.receiveEvent(shared))
        }
    }
}

extension RealtimeHub {
    /// The counters since the start, and the current state (of queues: at the latest sweep).
    package var stats: RealtimeStats {
        var stats = counters.stats
        for shard in shards {
            stats.queuedBytes += shard.queuedBytes.load(ordering: .relaxed)
            stats.laggingStreams += shard.laggingStreams.load(ordering: .relaxed)
        }
        return stats
    }
}

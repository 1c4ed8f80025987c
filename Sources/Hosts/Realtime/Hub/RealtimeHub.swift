package import Bus
package import Logging
package import Model
package import NIOCore
import Synchronization

/// Where committed changes meet the sessions that listen to them.
///
/// Sessions are sharded by event loop: a shard's sessions, queues and timers belong to its loop alone. What other threads
/// need to know stands beside it under small locks: which streams a shard listens to, and in the directory which
/// sessions a user or an endpoint has. Everything done to sessions from outside travels as a command through the shard's
/// mailbox, so it happens in the order in which it was asked for: what is published or attached before a request's
/// answer is returned reaches the socket before the answer does.
///
/// All methods may be called on any thread and, but for `shutdown`, return at once.
package final class RealtimeHub: Sendable {
    let rules: SessionRules
    let clock: @Sendable () -> Timestamp
    let logger: Logger
    let bus: any EventBus
    let directory = SessionDirectory()
    let presences: PresenceBoard
    let counters = RealtimeCounters()
    let shards: [SessionShard]
    var limits: RealtimeLimits { rules.limits }
    private let isShuttingDown = Atomic(false)
    private let lastNumber = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - eventLoopGroup: The group that serves the doors' channels: there is one shard for each of its loops.
    ///   - bus: Changes and events come from here, and presence is published on it.
    ///   - clock: Wall time.
    package init(
        eventLoopGroup: any EventLoopGroup, bus: any EventBus, limits: RealtimeLimits = RealtimeLimits(),
        logger: Logger = Logger(label: "realtime"), clock: @escaping @Sendable () -> Timestamp
    ) {
        self.clock = clock
        self.logger = logger
        self.bus = bus
        presences = PresenceBoard(grace: limits.presenceGrace)
        rules = SessionRules(limits: limits)
        shards = eventLoopGroup.makeIterator().enumerated().map { SessionShard(index: $0.offset, loop: $0.element) }
        bus.subscribe { [weak self] message in
            switch message {
            case .changes(let changes): self?.deliver(changes)
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

    /// Lets every session forget a stream that is over, once it has sent what was published before.
    package func detach(stream: StreamName) {
        for shard in shards { shard.post(.detach(stream)) }
    }

    /// Stops a stream for an endpoint that may no longer see it: its session gets `reset` with the reason `access`. What
    /// is published afterwards does not reach it.
    package func drop(endpoint: EndpointID, from stream: StreamName) {
        guard let session = directory.session(of: endpoint) else { return }
        shards[session.shard].post(.drop(stream, session: session.number))
    }
}

extension RealtimeHub {
    /// Whether the endpoint has a live session.
    package func isConnected(_ endpoint: EndpointID) -> Bool { directory.session(of: endpoint) != nil }
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

    /// Ends all sessions with `bye` 4000 and a time to come back that differs for each; refuses new ones. Returns when the
    /// last connection is closed, which takes at most `RealtimeLimits.farewell` and a sweep.
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
    /// Opens a session for a connection that lives on `loop`, where this must be called; nil when the loop is none of the
    /// hub's.
    func open(
        on loop: any EventLoop, transport: any SessionTransport, services: RealtimeServices
    ) -> Session? {
        guard let shard = shards.first(where: { $0.loop === loop }) else { return nil }
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let session = Session(
            id: SessionID.make(at: clock()), number: number, hub: self, shard: shard, transport: transport,
            services: services)
        shard.sessions.enter(session)
        if isShuttingDown.load(ordering: .sequentiallyConsistent) { session.end(.shuttingDown) }
        return session
    }
}

// Presence.
extension RealtimeHub {
    /// Whether others see the user as there. `lastSeenAt` is left to whoever keeps it.
    package func presence(of user: UserID) -> Presence {
        presences.presence(of: user)
    }

    /// Follows the user's setting: whoever is not shown is never there.
    package func setPresenceShown(_ isShown: Bool, of user: UserID) {
        presences.setShown(isShown, of: user)
        settlePresence(of: user)
    }

    /// Keeps a user's presence from another one, as after blocking them: to that one the user goes now and stays away.
    package func hidePresence(of user: UserID, from other: UserID) {
        let gone = EphemeralEvent(stream: .presence(user), data: Presence(online: false).json)
        let event = StreamEvent(gone)
        for shard in Set(directory.sessions(of: other).map(\.shard)) {
            shards[shard].post(.conclude(event, for: other))
        }
    }

    /// A session of the user became live.
    func presenceArrived(_ user: UserID, isShown: Bool) {
        presences.arrived(user, isShown: isShown)
        settlePresence(of: user)
    }

    /// A live session of the user is over.
    func presenceLeft(_ user: UserID, at now: NIODeadline) {
        presences.left(user, at: now, wallClock: clock())
        guard let loop = shards.first?.loop else { return }
        loop.scheduleTask(deadline: now + limits.presenceGrace) {
            for (user, presence) in self.presences.sweep(at: now + self.limits.presenceGrace) {
                self.bus.publish(EphemeralEvent(stream: .presence(user), data: presence.json))
            }
        }
    }

    /// Presence is settled on one loop, so that it is published in the order in which it was decided.
    private func settlePresence(of user: UserID) {
        guard let loop = shards.first?.loop else { return }
        loop.execute {
            guard let news = self.presences.settle(user, at: loop.now) else { return }
            self.bus.publish(EphemeralEvent(stream: .presence(user), data: news.json))
        }
    }
}

// What the bus brings.
extension RealtimeHub {
    /// Called on the store's writer thread: what is encoded is encoded later, on a loop that has a listener.
    private func deliver(_ changes: [Change]) {
        let batches = StreamBatch.batches(of: changes)
        for shard in shards {
            shard.post(batches.filter { shard.isListened($0.stream) }.map { .changed($0) })
        }
    }

    private func deliver(_ event: EphemeralEvent) {
        let shared = StreamEvent(event)
        for shard in shards where shard.isListened(event.stream) {
            shard.post(.happened(shared))
        }
    }
}

extension RealtimeHub {
    /// What was counted since the start, and what there is now (of queues: at the latest sweep).
    package var figures: RealtimeFigures {
        var figures = counters.figures
        for shard in shards {
            figures.queuedBytes += shard.queuedBytes.load(ordering: .relaxed)
            figures.laggingStreams += shard.laggingStreams.load(ordering: .relaxed)
        }
        return figures
    }
}

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
    private let isShuttingDown = Atomic(false)
    private let lastNumber = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - eventLoopGroup: The group of the transports' channels: there is one shard for each of its loops.
    ///   - bus: The source of changes and events; presence is published on it.
    ///   - serverVersion: For the results of hellos. Nil if it is not told.
    ///   - clock: Wall time.
    package init(
        eventLoopGroup: any EventLoopGroup, bus: any EventBus, limits: RealtimeLimits = RealtimeLimits(),
        serverVersion: String? = nil, logger: Logger = Logger(label: "realtime"),
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.clock = clock
        self.logger = logger
        self.bus = bus
        presences = PresenceRegistry(grace: limits.presenceGrace)
        rules = SessionRules(limits: limits, serverVersion: serverVersion)
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

    /// Lets every session forget a stream that has ended, once it has sent what was published before.
    package func detach(stream: StreamName) {
        for shard in shards { shard.post(.detach(stream)) }
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

    /// Applies the user's setting: a hidden user is never online.
    package func setPresenceShown(_ isShown: Bool, of user: UserID) {
        presences.setShown(isShown, of: user)
        publishPresence(of: user)
    }

    /// Hides a user's presence from another one, as after blocking: to that one the user goes offline and stays
    /// offline.
    package func hidePresence(of user: UserID, from other: UserID) {
        let offline = EphemeralEvent(stream: .presence(user), data: Presence(online: false).json)
        let event = StreamEvent(offline)
        for shard in Set(directory.sessions(of: other).map(\.shard)) {
            shards[shard].post(.conclude(event, for: other))
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
                self.bus.publish(EphemeralEvent(stream: .presence(user), data: presence.json))
            }
        }
    }

    /// Presence is published on one loop, so that it is published in the order of the decisions.
    private func publishPresence(of user: UserID) {
        guard let loop = shards.first?.loop else { return }
        loop.execute {
            guard let presence = self.presences.update(user, at: loop.now) else { return }
            self.bus.publish(EphemeralEvent(stream: .presence(user), data: presence.json))
        }
    }
}

// Delivery from the bus.
extension RealtimeHub {
    /// Called on the store's writer thread: frames are encoded later, on a loop that has a listener.
    private func deliver(_ changes: [Change]) {
        let batches = StreamBatch.batches(of: changes)
        for shard in shards {
            shard.post(batches.filter { shard.isListened($0.stream) }.map { .receiveChanges($0) })
        }
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

import Bus
import Model
import NIOCore
import Synchronization

/// The sessions of one event loop. Used on that loop only.
final class ShardSessions {
    /// The precision of deadlines.
    static let sweepInterval: TimeAmount = .milliseconds(500)
    /// A sweep that is later than this shows that the loop did not run.
    static let lateness: TimeAmount = .seconds(1)

    private let loop: any EventLoop
    private var sessions: [UInt64: Session] = [:]
    private var sweeper: RepeatedTask?
    private var lastSweep: NIODeadline
    private var whenEmpty: [EventLoopPromise<Void>] = []
    /// Sessions that wrote something while the mailbox was drained: each is flushed once.
    private var unflushed: [Session] = []
    private var isDraining = false
    private var scratch: [SessionAction] = []

    init(loop: any EventLoop) {
        self.loop = loop
        lastSweep = loop.now
    }

    func add(_ session: Session) {
        sessions[session.number] = session
        guard sweeper == nil else { return }
        lastSweep = loop.now
        let shard = NIOLoopBound(session.shard, eventLoop: loop)
        sweeper = loop.scheduleRepeatedTask(initialDelay: Self.sweepInterval, delay: Self.sweepInterval) { _ in
            shard.value.sessions.sweep(shard.value)
        }
    }

    func remove(_ session: Session) {
        guard sessions.removeValue(forKey: session.number) != nil else { return }
        session.hub.counters.sessions.add(-1)
        guard sessions.isEmpty else { return }
        sweeper?.cancel()
        sweeper = nil
        for promise in exchange(&whenEmpty, with: []) { promise.succeed() }
    }

    /// Completes when no session is left.
    func emptied() -> EventLoopFuture<Void> {
        guard !sessions.isEmpty else { return loop.makeSucceededVoidFuture() }
        let promise = loop.makePromise(of: Void.self)
        whenEmpty.append(promise)
        return promise.futureResult
    }

    /// Applies the commands of other threads in order.
    func apply(_ commands: [ShardCommand], listeners: (StreamName) -> [UInt64]) {
        isDraining = true
        for command in commands { apply(command, listeners: listeners) }
        isDraining = false
        for session in exchange(&unflushed, with: []) { session.flush() }
    }

    private func apply(_ command: ShardCommand, listeners: (StreamName) -> [UInt64]) {
        switch command {
        case .receiveChanges(let batch):
            for number in listeners(batch.stream) { sessions[number]?.receiveChanges(batch) }
        case .receiveEvent(let event):
            for number in listeners(event.event.stream) {
                guard let session = sessions[number], event.isFor(session.principal?.endpoint) else { continue }
                session.receiveEvent(event)
            }
        case .receiveNotice(let notice):
            for number in listeners(.inbox(notice.user)) { sessions[number]?.receiveNotice(notice) }
        case .rereadInboxes:
            for session in Array(sessions.values) { session.rereadInboxes() }
        case .rereadAll(let pattern, let number):
            let some = number.map { [sessions[$0]].compactMap(\.self) } ?? Array(sessions.values)
            for session in some { session.rereadAll(pattern) }
        case .reread(let stream, let number):
            sessions[number]?.reread(stream)
        case .attach(let stream, let number):
            sessions[number]?.attach(stream)
        case .detach(let stream):
            for number in listeners(stream) { sessions[number]?.detach(stream) }
        case .drop(let stream, let number):
            sessions[number]?.drop(stream)
        case .rereadPresence(let user, let own):
            for number in Set(listeners(.presence(user)) + own) { sessions[number]?.rereadPresence(about: user) }
        case .setActive(let isActive, let number):
            sessions[number]?.setActive(isActive)
        case .end(let ended, let bye):
            end(ended, bye)
        }
    }

    private func end(_ ended: ShardCommand.Ended, _ bye: Bye) {
        switch ended {
        case .all: for session in Array(sessions.values) { session.end(bye) }
        case .session(let number): sessions[number]?.end(bye)
        case .user(let user):
            for session in sessions.values.filter({ $0.principal?.user == user }) { session.end(bye) }
        }
    }

    private func sweep(_ shard: SessionShard) {
        let now = loop.now
        let stall = now - lastSweep
        lastSweep = now
        if stall > Self.sweepInterval + Self.lateness {
            for session in sessions.values { session.extend(by: stall, at: now) }
        }
        var heartbeat: OutboundFrame?
        var queuedBytes = 0
        var laggingStreams = 0
        for session in Array(sessions.values) {
            session.sweep(at: now) {
                if let heartbeat { return heartbeat }
                let frame = OutboundFrame.heartbeat(at: session.hub.clock())
                heartbeat = frame
                return frame
            }
            queuedBytes += session.queuedBytes
            if session.queuedBytes > 0 { laggingStreams += session.laggingStreams }
        }
        shard.queuedBytes.store(queuedBytes, ordering: .relaxed)
        shard.laggingStreams.store(laggingStreams, ordering: .relaxed)
    }
}

// Resources that sessions share, since only one runs at a time.
extension ShardSessions {
    func scheduleFlush(_ session: Session) {
        if isDraining {
            unflushed.append(session)
        } else {
            session.flush()
        }
    }

    /// An empty array with capacity, for a session's actions.
    func takeScratch() -> [SessionAction] {
        exchange(&scratch, with: [])
    }

    func returnScratch(_ actions: inout [SessionAction]) {
        actions.removeAll(keepingCapacity: true)
        swap(&scratch, &actions)
    }
}

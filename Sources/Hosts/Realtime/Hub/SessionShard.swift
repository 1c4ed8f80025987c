import Model
import NIOCore
import Synchronization

/// The part of the hub that belongs to one event loop, as other threads see it: its mailbox, and the streams that its
/// sessions listen to.
///
/// A publisher checks the streams first, so that a commit without listeners here costs only a hash lookup and no
/// wake-up. A session subscribes before it reads the stream, so every change is either in what it reads or in the
/// mailbox.
final class SessionShard: Sendable {
    private struct Mailbox {
        var commands: [ShardCommand] = []
        var isDrainScheduled = false
    }

    let index: Int
    let loop: any EventLoop
    /// The sessions that listen to each stream; written on the loop only.
    private let listeners = Mutex<[StreamName: [UInt64]]>([:])
    /// Written by the sweep, read by the metrics page.
    let queuedBytes = Atomic(0)
    let laggingStreams = Atomic(0)
    /// Runs the asynchronous operations of the shard's sessions.
    let executor: LoopExecutor
    private let mailbox = Mutex(Mailbox())
    private let confined: NIOLoopBoundBox<ShardSessions>

    init(index: Int, loop: any EventLoop) {
        self.index = index
        self.loop = loop
        executor = LoopExecutor(loop: loop)
        confined = .makeBoxSendingValue(ShardSessions(loop: loop), eventLoop: loop)
    }

    /// The shard's sessions: only on its loop.
    var sessions: ShardSessions { confined.value }

    /// Puts commands into the mailbox, and wakes the loop unless it was woken already.
    func post(_ commands: [ShardCommand]) {
        guard !commands.isEmpty else { return }
        let mustSchedule = mailbox.withLock { mailbox in
            mailbox.commands.append(contentsOf: commands)
            defer { mailbox.isDrainScheduled = true }
            return !mailbox.isDrainScheduled
        }
        if mustSchedule { loop.execute { self.drain() } }
    }

    func post(_ command: ShardCommand) {
        post([command])
    }

    /// Completes when the shard has no session left.
    func emptied() -> EventLoopFuture<Void> {
        loop.flatSubmit { self.sessions.emptied() }
    }

    private func drain() {
        let commands = mailbox.withLock { mailbox in
            mailbox.isDrainScheduled = false
            return exchange(&mailbox.commands, with: [])
        }
        sessions.apply(commands) { self.listeners(to: $0) }
    }
}

// Subscriptions.
extension SessionShard {
    func isListened(_ stream: StreamName) -> Bool {
        listeners.withLock { $0[stream] != nil }
    }

    func listeners(to stream: StreamName) -> [UInt64] {
        listeners.withLock { $0[stream] ?? [] }
    }

    func subscribe(_ session: UInt64, to stream: StreamName) {
        listeners.withLock { $0[stream, default: []].append(session) }
    }

    func unsubscribe(_ session: UInt64, from stream: StreamName) {
        listeners.withLock { listeners in
            guard var sessions = listeners.removeValue(forKey: stream) else { return }
            if let index = sessions.firstIndex(of: session) {
                sessions.swapAt(index, sessions.count - 1)
                sessions.removeLast()
            }
            if !sessions.isEmpty { listeners[stream] = sessions }
        }
    }
}

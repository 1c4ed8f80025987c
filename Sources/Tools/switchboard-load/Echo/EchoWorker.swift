import DatagramIO
import SDP
import Synchronization
import Wire

/// The thread on which all legs run.
final class EchoWorker: Sendable {
    typealias LegID = UInt32

    fileprivate enum Command: Sendable {
        case open(LegID, EchoLegPlan, EchoCounts, @Sendable (EchoLegEvent) -> Void)
        case change(LegID, EchoChange)
        case close(LegID)
        case stop
    }

    fileprivate let mailbox: CommandMailbox<Command>
    private let lastID = Atomic<LegID>(0)
    private let thread = Mutex<WorkerThread?>(nil)

    init() throws {
        mailbox = try CommandMailbox()
        let started = WorkerThread.start("echo-media") { [self] in EchoLoop(self)?.run() }
        guard let started else { throw MediaFailure("the system starts no more threads") }
        thread.withLock { $0 = started }
    }

    /// Begins a leg and returns its id. `report` is called on the thread.
    func open(
        _ plan: EchoLegPlan, _ counts: EchoCounts, report: @escaping @Sendable (LegID, EchoLegEvent) -> Void
    ) -> LegID {
        let id = lastID.wrappingAdd(1, ordering: .relaxed).newValue
        mailbox.post(.open(id, plan, counts) { report(id, $0) })
        return id
    }

    func change(_ leg: LegID, _ change: EchoChange) { mailbox.post(.change(leg, change)) }

    /// Closes the leg, which then reports nothing more.
    func close(_ leg: LegID) { mailbox.post(.close(leg)) }

    /// Closes every leg, and waits for the thread, which takes milliseconds.
    func stop() {
        mailbox.post(.stop)
        thread.withLock { $0 }?.join()
    }
}

/// The packets of one call, written by the thread.
final class EchoCounts: Sendable {
    struct Values: Hashable, Sendable {
        var received = 0
        var sent: [MediaKind: Int] = [:]
    }

    private let values = Mutex(Values())

    var current: Values { values.withLock { $0 } }
    func receive() { values.withLock { $0.received += 1 } }
    func send(_ kind: MediaKind) { values.withLock { $0.sent[kind, default: 0] += 1 } }
}

/// The state of the thread.
private final class EchoLoop {
    private static let wakeTag = UInt64.max
    private static let tickInterval: UInt64 = 20_000_000

    private let worker: EchoWorker
    private let queue: EventQueue
    private let tools: MediaTools
    private var legs: [EchoWorker.LegID: EchoLeg] = [:]
    private var isStopped = false

    init?(_ worker: EchoWorker) {
        guard let queue = EventQueue(), let tools = MediaTools(),
            queue.watch(worker.mailbox.wake.descriptor, as: Self.wakeTag)
        else { return nil }
        self.worker = worker
        self.queue = queue
        self.tools = tools
    }

    func run() {
        var nextTick = SystemClock.now().nanoseconds
        while true {
            for command in worker.mailbox.takeAll() { handle(command) }
            if isStopped { break }
            let now = SystemClock.now()
            if now.nanoseconds >= nextTick {
                nextTick = now.nanoseconds &+ Self.tickInterval
                for leg in legs.values { leg.tick(now) }
                legs = legs.filter { !$0.value.isOver }
            }
            tools.flush()
            // Without legs it waits for a command.
            let wait =
                legs.isEmpty ? -1 : Int32(clamping: (nextTick &- min(nextTick, now.nanoseconds)) / 1_000_000 &+ 1)
            for index in 0..<queue.wait(milliseconds: wait) {
                let tag = queue[index]
                if tag == Self.wakeTag { worker.mailbox.wake.clear() } else { read(tag) }
            }
        }
        for leg in legs.values { leg.close() }
    }

    private func handle(_ command: EchoWorker.Command) {
        switch command {
        case .open(let id, let plan, let counts, let report):
            let leg = EchoLeg(id, plan, counts, tools, at: SystemClock.now(), report: report)
            let areWatched = plan.sockets.indices.allSatisfy { index in
                queue.watch(plan.sockets[index].descriptor, as: Self.tag(id, index))
            }
            guard areWatched else { return report(.ended("no more descriptors: raise ulimit -n")) }
            legs[id] = leg
        case .change(let id, let change): legs[id]?.apply(change)
        case .close(let id): legs.removeValue(forKey: id)?.close()
        case .stop: isStopped = true
        }
    }

    private static func tag(_ leg: EchoWorker.LegID, _ socket: Int) -> UInt64 {
        UInt64(leg) << 32 | UInt64(truncatingIfNeeded: socket)
    }

    private func read(_ tag: UInt64) {
        let index = Int(truncatingIfNeeded: tag & 0xFFFF_FFFF)
        guard let leg = legs[EchoWorker.LegID(truncatingIfNeeded: tag >> 32)], leg.sockets.indices.contains(index)
        else {
            return
        }
        let socket = leg.sockets[index]
        while true {
            let slots = tools.received.receive(from: socket.descriptor, limit: ReceiveBatch.capacity)
            let now = SystemClock.now()
            for slot in slots {
                guard let source = tools.received.source(of: slot) else { continue }
                leg.receive(
                    tools.received.datagram(slot), on: Flow(.udp, local: socket.address, remote: source), at: now)
            }
            tools.received.reset()
            if slots.count < ReceiveBatch.capacity { break }
        }
    }
}

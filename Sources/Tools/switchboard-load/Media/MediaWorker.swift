import DatagramIO
import HeapModule
import OpenSSLCrypto
import SecureMedia
import Synchronization
import Wire

/// A thread with its own legs: it sends packets that are due, reads datagrams, and handles commands from a mailbox.
final class MediaWorker: Sendable {
    typealias LegID = Int

    enum Command: Sendable {
        case join(LegPlan, MediaContext, LegBegin, CheckedContinuation<LegID, any Error>)
        case leave(LegID, CheckedContinuation<Void, Never>)
        case expectEnd(LegID, CheckedContinuation<Void, Never>)
        case measure
        /// Sends no more media, except for retransmissions.
        case stopMedia
        case collect(CheckedContinuation<MediaCounters, Never>)
        case stop
    }

    struct Load: Sendable {
        /// Bits of video a second of each publisher.
        var bitrate: Int
        /// Packets of junk that each leg sends in a second.
        var junk: Double
        /// The speech of publishers, instead of noise.
        var speech: SpokenClip?
    }

    fileprivate let mailbox: CommandMailbox<Command>
    private let thread = Mutex<WorkerThread?>(nil)
    let load: Load

    init(_ number: Int, _ load: Load) throws {
        mailbox = try CommandMailbox()
        self.load = load
        let started = WorkerThread.start("load-media-\(number)") { [self] in
            MediaLoop(self)?.run()
        }
        guard let started else { throw MediaFailure("the system starts no more threads") }
        thread.withLock { $0 = started }
    }

    /// Returns the leg's id once media can flow.
    func join(_ plan: LegPlan, _ context: MediaContext, _ begin: LegBegin) async throws -> LegID {
        try await withCheckedThrowingContinuation { post(.join(plan, context, begin, $0)) }
    }

    /// Marks the leg as leaving, so that its end is no error.
    func expectEnd(_ leg: LegID) async {
        await withCheckedContinuation { post(.expectEnd(leg, $0)) }
    }

    /// Closes the leg, and returns when its goodbye was sent.
    func leave(_ leg: LegID) async {
        await withCheckedContinuation { post(.leave(leg, $0)) }
    }

    func collect() async -> MediaCounters {
        await withCheckedContinuation { post(.collect($0)) }
    }

    func post(_ command: Command) { mailbox.post(command) }

    func stop() {
        post(.stop)
        thread.withLock { $0 }?.join()
    }
}

/// The state of the thread.
private final class MediaLoop {
    private static let wakeTag = UInt64.max
    /// The maximum time that the loop sleeps.
    private static let maxWaitMilliseconds: Int32 = 5

    private let worker: MediaWorker
    private let queue: EventQueue
    private let tools: MediaTools
    private var legs: [MediaLeg?] = []
    private var joining: [Int: CheckedContinuation<Int, any Error>] = [:]
    private var agenda = Heap<Due>()
    private var isMediaStopped = false
    private var isStopped = false

    /// A timer of a leg: a track's next packets, or its housekeeping.
    private struct Due: Comparable {
        let at: UInt64
        let leg: MediaLeg
        let id: MediaWorker.LegID
        /// The index of the track; -1 for housekeeping.
        let track: Int

        static func == (left: Due, right: Due) -> Bool { left.at == right.at }
        static func < (left: Due, right: Due) -> Bool { left.at < right.at }
    }

    init?(_ worker: MediaWorker) {
        guard let queue = EventQueue(), let tools = MediaTools(),
            queue.watch(worker.mailbox.wake.descriptor, as: Self.wakeTag)
        else { return nil }
        self.worker = worker
        self.queue = queue
        self.tools = tools
    }

    func run() {
        while !isStopped {
            for command in worker.mailbox.takeAll() { handle(command) }
            let now = SystemClock.now().nanoseconds
            while let due = agenda.min, due.at <= now {
                agenda.removeMin()
                handle(due, now)
            }
            tools.flush()
            let next = agenda.min?.at ?? .max
            let wait = next > now ? min((next - now) / 1_000_000, UInt64(Self.maxWaitMilliseconds)) : 0
            let count = queue.wait(milliseconds: Int32(wait))
            for index in 0..<count {
                let tag = queue[index]
                if tag == Self.wakeTag { worker.mailbox.wake.clear() } else { read(Int(clamping: tag)) }
            }
        }
        for leg in legs { leg?.close() }
        for (_, continuation) in joining { continuation.resume(throwing: MediaFailure("the run is over")) }
    }

    private func handle(_ command: MediaWorker.Command) {
        switch command {
        case .join(let plan, let context, let begin, let continuation):
            do {
                try join(plan, context, begin, continuation)
            } catch {
                continuation.resume(throwing: error)
            }
        case .leave(let id, let continuation):
            defer { continuation.resume() }
            guard id < legs.count, let leg = legs[id] else { return }
            leg.close()
            tools.counters.left += 1
            remove(leg, id)
        case .expectEnd(let id, let continuation):
            if id < legs.count { legs[id]?.isLeaving = true }
            continuation.resume()
        case .measure:
            tools.counters.measure()
            for leg in legs {
                guard let leg else { continue }
                for index in leg.streams.indices { leg.streams[index].account.reset() }
            }
        case .stopMedia: isMediaStopped = true
        case .collect(let continuation):
            for leg in legs { if let leg { settle(leg) } }
            continuation.resume(returning: tools.counters)
        case .stop: isStopped = true
        }
    }

    private func join(
        _ plan: LegPlan, _ context: MediaContext, _ begin: LegBegin, _ continuation: CheckedContinuation<Int, any Error>
    ) throws {
        let leg = try MediaLeg(
            plan, context, begin, bitrate: worker.load.bitrate, speech: worker.load.speech, tools)
        // Ids are not reused, so that an event of a leg that has ended cannot reach another.
        let id = legs.count
        guard queue.watch(leg.descriptor, as: UInt64(id)) else {
            throw MediaFailure("no more descriptors: raise ulimit -n")
        }
        leg.junk.isKept = worker.load.junk > 0
        legs.append(leg)
        joining[id] = continuation
        agenda.insert(Due(at: 0, leg: leg, id: id, track: -1))
    }

    private func remove(_ leg: MediaLeg, _ id: MediaWorker.LegID) {
        settle(leg)
        legs[id] = nil
    }

    /// Adds the counts of the leg's streams to the counters, once.
    private func settle(_ leg: MediaLeg) {
        guard leg.isLive else { return }
        for index in leg.streams.indices {
            tools.counters[leg.streams[index].plan.kind].add(leg.streams[index].account)
            leg.streams[index].account.reset()
        }
    }

    private func handle(_ due: Due, _ now: UInt64) {
        guard due.id < legs.count, legs[due.id] === due.leg else { return }
        guard due.track >= 0 else {
            due.leg.tick(Instant(nanoseconds: now))
            if due.leg.isLive { sendJunk(due.leg) }
            agenda.insert(
                Due(at: now + MediaLeg.tickInterval, leg: due.leg, id: due.id, track: -1))
            return handleStage(of: due.leg, due.id)
        }
        guard !isMediaStopped else { return }
        let track = due.leg.tracks[due.track]
        track.send(on: due.leg)
        // Flush at once, so that a packet's latency is measured from when it is sent.
        tools.flush()
        // Late packets are sent late, up to a limit: a camera drops frames too.
        let next = due.at + track.interval
        agenda.insert(
            Due(
                at: next + 1_000_000_000 < now ? now : next, leg: due.leg, id: due.id, track: due.track))
    }

    private func sendJunk(_ leg: MediaLeg) {
        var count = worker.load.junk * Double(MediaLeg.tickInterval) / 1e9
        while count > 0, count >= 1 || Double.random(in: 0..<1, using: &tools.random) < count {
            leg.sendJunk()
            count -= 1
        }
    }

    /// Handles the stage of a leg: resumes those who wait for it, and starts its media.
    private func handleStage(of leg: MediaLeg, _ id: MediaWorker.LegID) {
        switch leg.stage {
        case .checking, .handshaking: return
        case .live:
            guard let continuation = joining.removeValue(forKey: id) else { return }
            MediaCounters.record(leg.clock().nanoseconds &- leg.begin.offered, in: &tools.counters.connected)
            tools.counters.joined += 1
            let now = leg.clock().nanoseconds
            for index in leg.tracks.indices {
                // Participants speak at the same rate, but not at the same moment.
                let phase = UInt64.random(in: 0..<leg.tracks[index].interval, using: &tools.random)
                agenda.insert(Due(at: now + phase, leg: leg, id: id, track: index))
            }
            continuation.resume(returning: id)
        case .over(let why):
            let waiting = joining.removeValue(forKey: id)
            if let waiting {
                waiting.resume(throwing: MediaFailure(why))
            } else if leg.isLeaving {
                tools.counters.left += 1
            } else {
                tools.counters.count(error: why)
            }
            remove(leg, id)
        }
    }

    private func read(_ id: MediaWorker.LegID) {
        guard id < legs.count, let leg = legs[id] else { return }
        while true {
            let slots = tools.received.receive(from: leg.descriptor, limit: ReceiveBatch.capacity)
            let now = SystemClock.now()
            for slot in slots {
                guard let source = tools.received.source(of: slot) else { continue }
                let arrival = tools.received.arrival(of: slot).map(tools.instant(wallClock:))
                leg.receive(tools.received.datagram(slot), from: source, arrival: arrival, at: now)
            }
            tools.received.reset()
            if slots.count < ReceiveBatch.capacity { break }
        }
        handleStage(of: leg, id)
    }
}

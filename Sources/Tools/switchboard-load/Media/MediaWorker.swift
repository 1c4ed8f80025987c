import DatagramIO
import HeapModule
import OpenSSLCrypto
import SecureMedia
import Synchronization
import Wire

/// A thread with legs of its own: it sends what is due, reads what comes, and does what it is told through a mailbox.
final class MediaWorker: Sendable {
    typealias LegID = Int

    enum Command: Sendable {
        case join(LegPlan, MediaContext, LegBegin, CheckedContinuation<LegID, any Error>)
        case leave(LegID, CheckedContinuation<Void, Never>)
        case expectEnd(LegID, CheckedContinuation<Void, Never>)
        case measure
        /// No media from now on, but for what is asked for again.
        case hush
        case collect(CheckedContinuation<MediaTally, Never>)
        case stop
    }

    struct Load: Sendable {
        /// Bits of video a second of each publisher.
        var bitrate: Int
        /// Packets of junk that each leg sends in a second.
        var junk: Double
        /// What publishers say, instead of noise.
        var speech: SpokenClip?
    }

    private let mailbox = Mutex<[Command]>([])
    private let wake: WakeSignal
    private let thread = Mutex<WorkerThread?>(nil)
    let load: Load

    init(_ number: Int, _ load: Load) throws {
        guard let wake = WakeSignal() else { throw MediaFailure("no more descriptors: raise ulimit -n") }
        self.wake = wake
        self.load = load
        let started = WorkerThread.start("load-media-\(number)") { [self] in
            MediaLoop(self, wake)?.run()
        }
        guard let started else { throw MediaFailure("the system starts no more threads") }
        thread.withLock { $0 = started }
    }

    /// Comes back when media can flow, with the leg's number.
    func join(_ plan: LegPlan, _ context: MediaContext, _ begin: LegBegin) async throws -> LegID {
        try await withCheckedThrowingContinuation { post(.join(plan, context, begin, $0)) }
    }

    /// Comes back when the leg's end will be no error.
    func expectEnd(_ leg: LegID) async {
        await withCheckedContinuation { post(.expectEnd(leg, $0)) }
    }

    /// Comes back when the leg has said goodbye.
    func leave(_ leg: LegID) async {
        await withCheckedContinuation { post(.leave(leg, $0)) }
    }

    func collect() async -> MediaTally {
        await withCheckedContinuation { post(.collect($0)) }
    }

    func post(_ command: Command) {
        mailbox.withLock { $0.append(command) }
        wake.raise()
    }

    func stop() {
        post(.stop)
        thread.withLock { $0 }?.join()
    }

    fileprivate func takeCommands() -> [Command] {
        mailbox.withLock { commands in
            defer { commands.removeAll(keepingCapacity: true) }
            return commands
        }
    }
}

/// What the thread itself has.
private final class MediaLoop {
    private static let wakeTag = UInt64.max
    /// No leg sleeps longer.
    private static let longestWait: Int32 = 5

    private let worker: MediaWorker
    private let wake: WakeSignal
    private let queue: EventQueue
    private let tools: MediaTools
    private var legs: [MediaLeg?] = []
    private var joining: [Int: CheckedContinuation<Int, any Error>] = [:]
    private var agenda = Heap<Due>()
    private var isHushed = false
    private var isOver = false

    /// Something that a leg has to do at a time: a track's next packets, or its housekeeping.
    private struct Due: Comparable {
        let at: UInt64
        let leg: MediaLeg
        let place: Int
        /// -1 for housekeeping.
        let track: Int

        static func == (left: Due, right: Due) -> Bool { left.at == right.at }
        static func < (left: Due, right: Due) -> Bool { left.at < right.at }
    }

    init?(_ worker: MediaWorker, _ wake: WakeSignal) {
        guard let queue = EventQueue(), let tools = MediaTools(), queue.watch(wake.descriptor, as: Self.wakeTag) else {
            return nil
        }
        self.worker = worker
        self.wake = wake
        self.queue = queue
        self.tools = tools
    }

    func run() {
        while !isOver {
            for command in worker.takeCommands() { obey(command) }
            let now = SystemClock.now().nanoseconds
            while let due = agenda.min, due.at <= now {
                agenda.removeMin()
                perform(due, now)
            }
            tools.flush()
            let next = agenda.min?.at ?? .max
            let wait = next > now ? min((next - now) / 1_000_000, UInt64(Self.longestWait)) : 0
            let count = queue.wait(milliseconds: Int32(wait))
            for index in 0..<count {
                let tag = queue[index]
                if tag == Self.wakeTag { wake.clear() } else { read(Int(clamping: tag)) }
            }
        }
        for leg in legs { leg?.close() }
        for (_, continuation) in joining { continuation.resume(throwing: MediaFailure("the run is over")) }
    }

    private func obey(_ command: MediaWorker.Command) {
        switch command {
        case .join(let plan, let context, let begin, let continuation):
            do {
                try join(plan, context, begin, continuation)
            } catch {
                continuation.resume(throwing: error)
            }
        case .leave(let place, let continuation):
            defer { continuation.resume() }
            guard place < legs.count, let leg = legs[place] else { return }
            leg.close()
            tools.tally.left += 1
            remove(leg, at: place)
        case .expectEnd(let place, let continuation):
            if place < legs.count { legs[place]?.isLeaving = true }
            continuation.resume()
        case .measure:
            tools.tally.measure()
            for leg in legs {
                guard let leg else { continue }
                for index in leg.streams.indices { leg.streams[index].account.reset() }
            }
        case .hush: isHushed = true
        case .collect(let continuation):
            for leg in legs { if let leg { settle(leg) } }
            continuation.resume(returning: tools.tally)
        case .stop: isOver = true
        }
    }

    private func join(
        _ plan: LegPlan, _ context: MediaContext, _ begin: LegBegin, _ continuation: CheckedContinuation<Int, any Error>
    ) throws {
        let leg = try MediaLeg(
            plan, context, begin, bitrate: worker.load.bitrate, speech: worker.load.speech, tools)
        // Places are not used again: what is told of a leg that has gone must not reach another.
        let place = legs.count
        guard queue.watch(leg.descriptor, as: UInt64(place)) else {
            throw MediaFailure("no more descriptors: raise ulimit -n")
        }
        leg.junk.isKept = worker.load.junk > 0
        legs.append(leg)
        joining[place] = continuation
        agenda.insert(Due(at: 0, leg: leg, place: place, track: -1))
    }

    private func remove(_ leg: MediaLeg, at place: Int) {
        settle(leg)
        legs[place] = nil
    }

    /// Adds what the leg's streams counted to the tally, once.
    private func settle(_ leg: MediaLeg) {
        guard leg.isLive else { return }
        for index in leg.streams.indices {
            tools.tally[leg.streams[index].plan.kind].add(leg.streams[index].account)
            leg.streams[index].account.reset()
        }
    }

    private func perform(_ due: Due, _ now: UInt64) {
        guard due.place < legs.count, legs[due.place] === due.leg else { return }
        guard due.track >= 0 else {
            due.leg.tick(Instant(nanoseconds: now))
            if due.leg.isLive { sendJunk(due.leg) }
            agenda.insert(
                Due(at: now + MediaLeg.tickInterval, leg: due.leg, place: due.place, track: -1))
            return follow(due.leg, due.place)
        }
        guard !isHushed else { return }
        let track = due.leg.tracks[due.track]
        track.send(on: due.leg)
        // At once, so that a packet's time begins when it leaves.
        tools.flush()
        // What could not be sent in time is sent late, up to a bound: a camera leaves frames out too.
        let next = due.at + track.interval
        agenda.insert(
            Due(
                at: next + 1_000_000_000 < now ? now : next, leg: due.leg, place: due.place, track: due.track))
    }

    private func sendJunk(_ leg: MediaLeg) {
        var wanted = worker.load.junk * Double(MediaLeg.tickInterval) / 1e9
        while wanted > 0, wanted >= 1 || Double.random(in: 0..<1, using: &tools.chance) < wanted {
            leg.sendJunk()
            wanted -= 1
        }
    }

    /// Tells those who wait what has become of a leg, and begins its media.
    private func follow(_ leg: MediaLeg, _ place: Int) {
        switch leg.stage {
        case .checking, .shaking: return
        case .live:
            guard let continuation = joining.removeValue(forKey: place) else { return }
            MediaTally.record(leg.clock().nanoseconds &- leg.begin.offered, in: &tools.tally.connected)
            tools.tally.joined += 1
            let now = leg.clock().nanoseconds
            for index in leg.tracks.indices {
                // Participants speak at the same rate, but not at the same moment.
                let phase = UInt64.random(in: 0..<leg.tracks[index].interval, using: &tools.chance)
                agenda.insert(Due(at: now + phase, leg: leg, place: place, track: index))
            }
            continuation.resume(returning: place)
        case .over(let why):
            let waiting = joining.removeValue(forKey: place)
            if let waiting {
                waiting.resume(throwing: MediaFailure(why))
            } else if leg.isLeaving {
                tools.tally.left += 1
            } else {
                tools.tally.count(error: why)
            }
            remove(leg, at: place)
        }
    }

    private func read(_ place: Int) {
        guard place < legs.count, let leg = legs[place] else { return }
        while true {
            let slots = tools.received.receive(from: leg.descriptor, limit: ReceiveBatch.capacity)
            let now = SystemClock.now()
            for slot in slots {
                guard let source = tools.received.source(of: slot) else { continue }
                let arrival = tools.received.arrival(of: slot).map(tools.instant(wallClock:))
                leg.take(tools.received.datagram(slot), from: source, arrival: arrival, at: now)
            }
            tools.received.reset()
            if slots.count < ReceiveBatch.capacity { break }
        }
        follow(leg, place)
    }
}

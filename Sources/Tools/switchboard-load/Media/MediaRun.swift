import DatagramIO
import Foundation
import SecureMedia
import Synchronization
import Wire

/// How many do what in a run.
struct MediaLoad: Sendable {
    var calls: Int
    var participants: Int
    /// Of each call.
    var publishers: Int
    var video: Bool
    var bitrate: Int
    var seconds: Double
    var warmUp = 1.0
    var profiles: [SRTPProfile]
    /// Participants that go and come back in a second, over all calls.
    var churn: Double
    var junk: Double
    var threads: Int
    /// What publishers say, instead of noise.
    var speech: SpokenClip?

    private static let audioSlots = 5
    private static let videoSlots = 25

    /// What a participant sends and wants to see: everybody else who publishes, as far as there are slots.
    func wishes(_ seat: Int) -> MediaWishes {
        let others = publishers - (seat < publishers ? 1 : 0)
        return MediaWishes(
            audio: seat < publishers, video: video && seat < publishers, audioSlots: min(others, Self.audioSlots),
            videoSlots: video ? min(others, Self.videoSlots) : 0)
    }
}

/// One run: everybody joins, media flows, and is measured for some seconds.
final class MediaRun: Sendable {
    /// After the last packet, for those still under way or asked for again.
    private static let grace = Duration.milliseconds(700)
    /// Calls whose participants join at the same time.
    private static let atOnce = 4
    private static let absence = Duration.milliseconds(300)

    let load: MediaLoad
    let door: any MediaDoor
    let people: [VirtualUser]
    let processID: Int?
    /// Nil when nothing is to be recorded.
    let recordings: CallRecordings?
    /// Nil when nothing is to be written down.
    let captions: CallCaptions?
    private let bar = ProgressBar()
    private let failures = Mutex<[String: Int]>([:])
    /// How many have left each call, to come back.
    private let away = Mutex<[String: Int]>([:])

    init(
        _ load: MediaLoad, _ door: any MediaDoor, people: [VirtualUser], processID: Int?,
        recordings: CallRecordings? = nil, captions: CallCaptions? = nil
    ) {
        self.recordings = recordings
        self.captions = captions
        self.load = load
        self.door = door
        self.people = people
        self.processID = processID
    }

    /// A participant who has joined.
    private struct Guest: Sendable {
        let call: MediaCall
        let seat: Int
        var legs: [LegMaker.Leg]
        /// How often it went and came back.
        var returns = 0
    }

    func perform() async throws -> MediaReport {
        _ = DescriptorLimit.raise()
        let idleMemory = try processID.map { try ProcessMemory.resident(of: $0) }
        let workers = try (0..<load.threads).map {
            try MediaWorker($0, .init(bitrate: load.bitrate, junk: load.junk, speech: load.speech))
        }
        defer { for worker in workers { worker.stop() } }
        var guests = await join(workers)
        var report = MediaReport(load, legs: guests.reduce(0) { $0 + $1.legs.count })
        if !guests.isEmpty {
            let calls = guests.filter { $0.seat == 0 }.map(\.call)
            await recordings?.begin(calls)
            await captions?.begin(calls)
            try await Task.sleep(for: .seconds(load.warmUp))
            try await measure(workers, &guests, &report)
            report.recordings = await recordings?.end()
            report.captions = await captions?.end(calls)
            report.idleMemory = idleMemory
            for worker in workers { report.tally.add(await worker.collect()) }
        }
        report.tally.errors.merge(failures.withLock { $0 }, uniquingKeysWith: +)
        bar.clear()
        await leave(guests)
        return report
    }

    private func measure(_ workers: [MediaWorker], _ guests: inout [Guest], _ report: inout MediaReport) async throws {
        let before = try processID.map { try ProcessTimes(of: $0) }
        let ownBefore = try ProcessTimes(of: nil)
        let start = SystemClock.now().nanoseconds
        report.began = start
        for worker in workers { worker.post(.measure) }
        let end = start + UInt64(load.seconds * 1e9)
        guests = try await pass(from: start, to: end, guests, workers)
        let after = try processID.map { try ProcessTimes(of: $0) }
        report.own = try ProcessTimes(of: nil).since(ownBefore)
        report.seconds = Double(SystemClock.now().nanoseconds - start) / 1e9
        report.server = before.flatMap { before in after.map { $0.since(before) } }
        report.memory = try processID.map { try ProcessMemory.resident(of: $0) }
        for worker in workers { worker.post(.hush) }
        try await Task.sleep(for: Self.grace)
    }

    /// Lets the time pass, while legs come and go where that is asked for.
    private func pass(
        from start: UInt64, to end: UInt64, _ guests: [Guest], _ workers: [MediaWorker]
    ) async throws -> [Guest] {
        var guests = guests
        var next = 0
        var moved = 0
        while true {
            let now = SystemClock.now().nanoseconds
            bar.show(
                min(1, Double(now - start) / Double(end - start)),
                "measuring \(guests.count) participants, \(failures.withLock { $0.values.reduce(0, +) }) errors")
            guard now < end else { return guests }
            let wait = load.churn > 0 ? min(0.5, 1 / load.churn) : 0.5
            try await Task.sleep(for: .seconds(min(wait, Double(end - now) / 1e9)))
            guard load.churn > 0, !guests.isEmpty else { continue }
            let due = Int(Double(SystemClock.now().nanoseconds - start) / 1e9 * load.churn) - moved
            moved += max(0, due)
            // Who is away cannot go.
            let turn = (0..<min(max(0, due), guests.count)).map { (next + $0) % guests.count }
            next += turn.count
            await withTaskGroup(of: (Int, Guest).self) { group in
                for index in turn {
                    group.addTask { [guest = guests[index]] in (index, await self.comeBack(guest, workers)) }
                }
                for await (index, guest) in group { guests[index] = guest }
            }
        }
    }

    /// A participant goes and comes back: its page is loaded again, so that its legs go and others come with another
    /// certificate, or it leaves the call, which ends its legs, and joins it again.
    private func comeBack(_ guest: Guest, _ workers: [MediaWorker]) async -> Guest {
        var guest = guest
        let leavesCall = guest.returns % 2 == 1 && mayLeave(guest.call)
        guest.returns += 1
        let worker = workers[guest.seat % workers.count]
        do {
            if leavesCall {
                for leg in guest.legs { await leg.expectEnd() }
                try await door.leave(guest.seat, of: guest.call)
            }
            for leg in guest.legs { await leg.leave() }
            guest.legs = []
            try await Task.sleep(for: Self.absence)
            if leavesCall {
                try await door.enter(guest.seat, of: guest.call)
                away.withLock { $0[guest.call.id, default: 0] -= 1 }
            }
            guest.legs = try await join(guest.call, guest.seat, worker, expectsMedia: load.publishers > 1)
            guest.legs += try await watch(guest, worker)
        } catch {
            count(error)
        }
        return guest
    }

    /// Whether the call goes on when one more leaves it, who is then taken for away: a call of two ends when one of them
    /// leaves, a larger one when nobody is left. Where this machine is slow many go at once, to make up for lost time.
    private func mayLeave(_ call: MediaCall) -> Bool {
        away.withLock { away in
            guard load.participants > 2, away[call.id, default: 0] + 1 < load.participants else { return false }
            away[call.id, default: 0] += 1
            return true
        }
    }

    // MARK: Coming and going

    private func join(_ workers: [MediaWorker]) async -> [Guest] {
        let total = load.calls * load.participants
        return await withTaskGroup(of: [Guest].self) { group in
            var guests: [Guest] = []
            for call in 0..<load.calls {
                if call >= Self.atOnce, let made = await group.next() {
                    guests += made
                    bar.show(Double(guests.count) / Double(total), "joining \(guests.count) of \(total)")
                }
                let first = call * load.participants
                let people = Array(people[first..<first + load.participants])
                group.addTask { await self.fill(people, call, workers) }
            }
            for await made in group { guests += made }
            return guests
        }
    }

    /// One call's participants, one after the other.
    private func fill(_ people: [VirtualUser], _ number: Int, _ workers: [MediaWorker]) async -> [Guest] {
        var guests: [Guest] = []
        do {
            let call = try await door.begin(people, video: load.video)
            for seat in people.indices {
                do {
                    let worker = workers[(number + seat) % workers.count]
                    if seat > 1 { try await door.enter(seat, of: call) }
                    let legs = try await join(call, seat, worker, expectsMedia: seat > 0)
                    guests.append(Guest(call: call, seat: seat, legs: legs))
                } catch {
                    count(error)
                }
            }
            for index in guests.indices {
                do {
                    guests[index].legs += try await watch(guests[index], workers[(number + index) % workers.count])
                } catch {
                    count(error)
                }
            }
        } catch {
            count(error)
        }
        return guests
    }

    private func join(
        _ call: MediaCall, _ seat: Int, _ worker: MediaWorker, expectsMedia: Bool
    ) async throws -> [LegMaker.Leg] {
        let maker = try LegMaker(
            load.profiles, on: worker, expectsMedia: expectsMedia, speech: captions?.log(call.seats[seat].person.user))
        return try await door.join(seat, of: call, load.wishes(seat), maker)
    }

    private func watch(_ guest: Guest, _ worker: MediaWorker) async throws -> [LegMaker.Leg] {
        let maker = try LegMaker(load.profiles, on: worker, expectsMedia: true)
        return try await door.watch(guest.seat, of: guest.call, load.wishes(guest.seat), maker)
    }

    private func leave(_ guests: [Guest]) async {
        for guest in guests { for leg in guest.legs { await leg.leave() } }
        var ended: Set<String> = []
        for guest in guests where ended.insert(guest.call.id).inserted { await door.end(guest.call) }
    }

    private func count(_ error: any Error) {
        failures.withLock { $0["\(error)", default: 0] += 1 }
    }
}

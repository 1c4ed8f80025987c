import DatagramIO
import Foundation
import SecureMedia
import Synchronization
import Wire

/// The parameters of a run.
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
    /// Participants that leave and rejoin in a second, over all calls.
    var churn: Double
    var junk: Double
    var threads: Int
    /// The speech of publishers, instead of noise.
    var speech: SpokenClip?

    private static let audioSlots = 5
    private static let videoSlots = 25

    /// What a participant sends and receives: all other publishers, as far as there are slots.
    func parameters(forMember index: Int) -> MediaParameters {
        let others = publishers - (index < publishers ? 1 : 0)
        return MediaParameters(
            audio: index < publishers, video: video && index < publishers, audioSlots: min(others, Self.audioSlots),
            videoSlots: video ? min(others, Self.videoSlots) : 0)
    }
}

/// One run: everybody joins, media flows, and is measured for some seconds.
final class MediaRun: Sendable {
    /// After the last packet, for packets in transit and retransmissions.
    private static let grace = Duration.milliseconds(700)
    /// How many calls are joined at the same time.
    private static let atOnce = 4
    private static let absence = Duration.milliseconds(300)

    let load: MediaLoad
    let client: any MediaServerClient
    let people: [VirtualUser]
    let processID: Int?
    /// Nil if nothing is to be recorded.
    let recordings: CallRecordings?
    /// Nil if nothing is to be captioned.
    let captions: CallCaptions?
    private let bar = ProgressBar()
    private let failures = Mutex<[String: Int]>([:])
    /// How many participants have left each call temporarily.
    private let away = Mutex<[String: Int]>([:])

    init(
        _ load: MediaLoad, _ client: any MediaServerClient, people: [VirtualUser], processID: Int?,
        recordings: CallRecordings? = nil, captions: CallCaptions? = nil
    ) {
        self.recordings = recordings
        self.captions = captions
        self.load = load
        self.client = client
        self.people = people
        self.processID = processID
    }

    /// A participant who has joined.
    private struct JoinedParticipant: Sendable {
        let call: MediaCall
        let memberIndex: Int
        var legs: [LegMaker.Leg]
        /// How often it left and rejoined.
        var returns = 0
    }

    func run() async throws -> MediaReport {
        _ = DescriptorLimit.raise()
        let idleMemory = try processID.map { try ProcessMemory.resident(of: $0) }
        let workers = try (0..<load.threads).map {
            try MediaWorker($0, .init(bitrate: load.bitrate, junk: load.junk, speech: load.speech))
        }
        defer { for worker in workers { worker.stop() } }
        var joined = await join(workers)
        var report = MediaReport(load, legs: joined.reduce(0) { $0 + $1.legs.count })
        if !joined.isEmpty {
            let calls = joined.filter { $0.memberIndex == 0 }.map(\.call)
            await recordings?.begin(calls)
            await captions?.begin(calls)
            try await Task.sleep(for: .seconds(load.warmUp))
            try await measure(workers, &joined, &report)
            report.recordings = await recordings?.end()
            report.captions = await captions?.end(calls)
            report.idleMemory = idleMemory
            for worker in workers { report.counters.add(await worker.collect()) }
        }
        report.counters.errors.merge(failures.withLock { $0 }, uniquingKeysWith: +)
        bar.clear()
        await leave(joined)
        return report
    }

    private func measure(
        _ workers: [MediaWorker], _ joined: inout [JoinedParticipant], _ report: inout MediaReport
    ) async throws {
        let before = try processID.map { try ProcessTimes(of: $0) }
        let ownBefore = try ProcessTimes(of: nil)
        let start = SystemClock.now().nanoseconds
        report.began = start
        for worker in workers { worker.post(.measure) }
        let end = start + UInt64(load.seconds * 1e9)
        joined = try await pass(from: start, to: end, joined, workers)
        let after = try processID.map { try ProcessTimes(of: $0) }
        report.own = try ProcessTimes(of: nil).since(ownBefore)
        report.seconds = Double(SystemClock.now().nanoseconds - start) / 1e9
        report.server = before.flatMap { before in after.map { $0.since(before) } }
        report.memory = try processID.map { try ProcessMemory.resident(of: $0) }
        for worker in workers { worker.post(.stopMedia) }
        try await Task.sleep(for: Self.grace)
    }

    /// Waits until the end, while participants leave and rejoin if there is churn.
    private func pass(
        from start: UInt64, to end: UInt64, _ joined: [JoinedParticipant], _ workers: [MediaWorker]
    ) async throws -> [JoinedParticipant] {
        var joined = joined
        var next = 0
        var moved = 0
        while true {
            let now = SystemClock.now().nanoseconds
            bar.show(
                min(1, Double(now - start) / Double(end - start)),
                "measuring \(joined.count) participants, \(failures.withLock { $0.values.reduce(0, +) }) errors")
            guard now < end else { return joined }
            let wait = load.churn > 0 ? min(0.5, 1 / load.churn) : 0.5
            try await Task.sleep(for: .seconds(min(wait, Double(end - now) / 1e9)))
            guard load.churn > 0, !joined.isEmpty else { continue }
            let due = Int(Double(SystemClock.now().nanoseconds - start) / 1e9 * load.churn) - moved
            moved += max(0, due)
            // Participants who are away cannot leave.
            let leaving = (0..<min(max(0, due), joined.count)).map { (next + $0) % joined.count }
            next += leaving.count
            await withTaskGroup(of: (Int, JoinedParticipant).self) { group in
                for index in leaving {
                    group.addTask { [participant = joined[index]] in
                        (index, await self.leaveAndRejoin(participant, workers))
                    }
                }
                for await (index, participant) in group { joined[index] = participant }
            }
        }
    }

    /// A participant leaves and rejoins: alternately its page is reloaded, which replaces its legs by new ones with
    /// another certificate, or it leaves the call, which ends its legs, and joins it again.
    private func leaveAndRejoin(_ participant: JoinedParticipant, _ workers: [MediaWorker]) async -> JoinedParticipant {
        var participant = participant
        let leavesCall = participant.returns % 2 == 1 && mayLeave(participant.call)
        participant.returns += 1
        let worker = workers[participant.memberIndex % workers.count]
        do {
            if leavesCall {
                for leg in participant.legs { await leg.expectEnd() }
                try await client.leave(participant.memberIndex, of: participant.call)
            }
            for leg in participant.legs { await leg.leave() }
            participant.legs = []
            try await Task.sleep(for: Self.absence)
            if leavesCall {
                try await client.enter(participant.memberIndex, of: participant.call)
                away.withLock { $0[participant.call.id, default: 0] -= 1 }
            }
            participant.legs = try await join(
                participant.call, participant.memberIndex, worker, expectsMedia: load.publishers > 1)
            participant.legs += try await watch(participant, worker)
        } catch {
            count(error)
        }
        return participant
    }

    /// Whether the call goes on if one more participant leaves it, who is then counted as away: a call of two ends when
    /// one of them leaves, a larger one when nobody is left. On a slow machine many leave at once, to make up for lost
    /// time.
    private func mayLeave(_ call: MediaCall) -> Bool {
        away.withLock { away in
            guard load.participants > 2, away[call.id, default: 0] + 1 < load.participants else { return false }
            away[call.id, default: 0] += 1
            return true
        }
    }

    // MARK: Joining and leaving

    private func join(_ workers: [MediaWorker]) async -> [JoinedParticipant] {
        let total = load.calls * load.participants
        return await withTaskGroup(of: [JoinedParticipant].self) { group in
            var joined: [JoinedParticipant] = []
            for call in 0..<load.calls {
                if call >= Self.atOnce, let participants = await group.next() {
                    joined += participants
                    bar.show(Double(joined.count) / Double(total), "joining \(joined.count) of \(total)")
                }
                let first = call * load.participants
                let people = Array(people[first..<first + load.participants])
                group.addTask { await self.fill(people, call, workers) }
            }
            for await participants in group { joined += participants }
            return joined
        }
    }

    /// Joins one call's participants, one after the other.
    private func fill(_ people: [VirtualUser], _ number: Int, _ workers: [MediaWorker]) async -> [JoinedParticipant] {
        var joined: [JoinedParticipant] = []
        do {
            let call = try await client.begin(people, video: load.video)
            for index in people.indices {
                do {
                    let worker = workers[(number + index) % workers.count]
                    if index > 1 { try await client.enter(index, of: call) }
                    let legs = try await join(call, index, worker, expectsMedia: index > 0)
                    joined.append(JoinedParticipant(call: call, memberIndex: index, legs: legs))
                } catch {
                    count(error)
                }
            }
            for index in joined.indices {
                do {
                    joined[index].legs += try await watch(joined[index], workers[(number + index) % workers.count])
                } catch {
                    count(error)
                }
            }
        } catch {
            count(error)
        }
        return joined
    }

    private func join(
        _ call: MediaCall, _ index: Int, _ worker: MediaWorker, expectsMedia: Bool
    ) async throws -> [LegMaker.Leg] {
        let maker = try LegMaker(
            load.profiles, on: worker, expectsMedia: expectsMedia,
            speech: captions?.log(call.members[index].person.user))
        return try await client.join(index, of: call, load.parameters(forMember: index), maker)
    }

    private func watch(_ participant: JoinedParticipant, _ worker: MediaWorker) async throws -> [LegMaker.Leg] {
        let maker = try LegMaker(load.profiles, on: worker, expectsMedia: true)
        let index = participant.memberIndex
        return try await client.watch(index, of: participant.call, load.parameters(forMember: index), maker)
    }

    private func leave(_ joined: [JoinedParticipant]) async {
        for participant in joined { for leg in participant.legs { await leg.leave() } }
        var ended: Set<String> = []
        for participant in joined where ended.insert(participant.call.id).inserted {
            await client.end(participant.call)
        }
    }

    private func count(_ error: any Error) {
        failures.withLock { $0["\(error)", default: 0] += 1 }
    }
}

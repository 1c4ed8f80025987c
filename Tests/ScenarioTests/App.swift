import SecureMedia
import SwitchboardClient
import Synchronization
import Testing

@testable import switchboard_load

/// An app in a call of the media gateway: it makes a leg whenever the SDK requires one, sends audio and video, and has
/// slots for those of others.
final class App: Sendable {
    let me: Me
    let call: LiveCall
    private let client: Switchboard
    private let worker: MediaWorker
    private let state = Mutex(State())
    private let others: Int
    private let keeping = Mutex<Task<Void, Never>?>(nil)

    private struct State {
        var needs: [LegState.Need] = []
        var offers: [String] = []
        var leg: LegMaker.Leg?
        var failures: [String] = []
    }

    private init(_ client: Switchboard, _ me: Me, _ call: LiveCall, others: Int, speech: SpokenClip?) throws {
        self.client = client
        self.me = me
        self.call = call
        self.others = others
        worker = try MediaWorker(0, .init(bitrate: 200_000, junk: 0, speech: speech))
        keeping.withLock { $0 = Task { [weak self] in await self?.keepLeg() } }
    }

    /// People in one call, created by the first of them; each has joined.
    ///
    /// - Parameter speech: what each of them says again and again, instead of noise.
    static func group(
        _ names: [String], on server: RealServer, mode: String? = nil, speech: SpokenClip? = nil
    ) async throws -> [App] {
        var people: [(client: Switchboard, me: Me)] = []
        for name in names { people.append(try await server.person(name)) }
        var ringing: [AsyncStream<LiveCall>.Iterator] = []
        for person in people.dropFirst() { ringing.append(await person.client.incomingCalls.makeAsyncIterator()) }
        let created = try await people[0].client.call(people.dropFirst().map(\.me.id), kind: .video, mode: mode)
        var apps = [try App(people[0].client, people[0].me, created, others: people.count - 1, speech: speech)]
        for (index, person) in people.dropFirst().enumerated() {
            let call = try #require(await ringing[index].next())
            #expect(call.id == created.id)
            try await call.accept()
            apps.append(try App(person.client, person.me, call, others: people.count - 1, speech: speech))
        }
        for app in apps { try await app.untilShown(people.map(\.me.id).filter { $0 != app.me.id }) }
        return apps
    }

    /// Why legs were needed, in order.
    var needs: [LegState.Need] { state.withLock { $0.needs } }
    /// The offer of the current leg.
    var lastOffer: String { state.withLock { $0.offers.last ?? "" } }

    private func keepLeg() async {
        for await state in call.legStates {
            guard let need = state.need else { continue }
            self.state.withLock { $0.needs.append(need) }
            do {
                try await makeLeg()
            } catch {
                self.state.withLock { $0.failures.append("\(error)") }
            }
        }
    }

    private func makeLeg() async throws {
        await state.withLock { $0.leg }?.leave()
        let maker = try LegMaker(SRTPProfile.preferred, on: worker, expectsMedia: false)
        let opening = try maker.open(
            MediaParameters(audio: true, video: true, audioSlots: others, videoSlots: others))
        let answered = try await call.leg(offer: opening.offer.text)
        state.withLock { $0.offers.append(opening.offer.text) }
        let leg = try await maker.connect(opening, LegPlan(opening.offer, answer: answered.answer))
        state.withLock { $0.leg = leg }
    }

    /// Closes the app's peer connection without notifying the SDK.
    func hangUpLeg() async { await state.withLock { $0.leg }?.leave() }

    // MARK: Waiting

    /// Waits until slots of both kinds show these users, each once, and nobody else.
    func untilShown(_ users: [UserID]) async throws {
        try await until("the slots show \(users)") {
            [Slot.Kind.audio, .video].allSatisfy { kind in
                let shown = self.call.legState.slots.filter { $0.kind == kind }.compactMap(\.track)
                return Set(shown.map(\.user)) == Set(users) && shown.count == users.count
                    && shown.allSatisfy { $0.source == (kind == .audio ? .microphone : .camera) }
            }
        }
    }

    func untilNeeds(_ expected: [LegState.Need]) async throws {
        try await until("the leg is made again") { self.needs == expected }
    }

    /// Waits until audio and video of `count` others arrive.
    func untilMedia(of count: Int) async throws {
        try await until("media of \(count)") {
            self.worker.post(.measure)
            try await Task.sleep(for: .milliseconds(250))
            let counters = await self.worker.collect()
            return [counters.audio, counters.video].allSatisfy { $0.streams - $0.silent >= count }
        }
    }

    private func until(_ what: String, _ condition: () async throws -> Bool) async throws {
        for _ in 0..<1_200 {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        let state = state.withLock { $0 }
        throw RealServer.Failure(
            description:
                "\(me.displayName) timed out waiting for: \(what): needs \(state.needs), failures \(state.failures), "
                + "slots \(call.legState.slots)")
    }

    func close() async {
        keeping.withLock { $0 }?.cancel()
        await client.close()
        worker.stop()
    }
}

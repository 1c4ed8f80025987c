import SecureMedia
import SwitchboardClient
import Synchronization
import Testing

@testable import switchboard_load

/// An app in a call of the media gateway: it makes a leg whenever the SDK says that one is needed, sends a voice and a
/// picture, and has slots for those of others.
final class App: Sendable {
    let me: Me
    let call: LiveCall
    private let client: Switchboard
    private let stack: MediaWorker
    private let state = Mutex(State())
    private let others: Int
    private let keeping = Mutex<Task<Void, Never>?>(nil)

    private struct State {
        var needs: [LegState.Need] = []
        var offers: [String] = []
        var leg: LegMaker.Leg?
        var failures: [String] = []
    }

    private init(_ client: Switchboard, _ me: Me, _ call: LiveCall, others: Int) throws {
        self.client = client
        self.me = me
        self.call = call
        self.others = others
        stack = try MediaWorker(0, .init(bitrate: 200_000, junk: 0))
        keeping.withLock { $0 = Task { [weak self] in await self?.keepLeg() } }
    }

    /// People in one call, the first of whom made it; each of them has joined.
    static func group(_ names: [String], on server: RealServer, mode: String? = nil) async throws -> [App] {
        var people: [(client: Switchboard, me: Me)] = []
        for name in names { people.append(try await server.person(name)) }
        var ringing: [AsyncStream<LiveCall>.Iterator] = []
        for person in people.dropFirst() { ringing.append(await person.client.incomingCalls.makeAsyncIterator()) }
        let made = try await people[0].client.call(people.dropFirst().map(\.me.id), kind: .video, mode: mode)
        var apps = [try App(people[0].client, people[0].me, made, others: people.count - 1)]
        for (index, person) in people.dropFirst().enumerated() {
            let call = try #require(await ringing[index].next())
            #expect(call.id == made.id)
            try await call.accept()
            apps.append(try App(person.client, person.me, call, others: people.count - 1))
        }
        for app in apps { try await app.untilShown(people.map(\.me.id).filter { $0 != app.me.id }) }
        return apps
    }

    /// Why legs were made, one after the other.
    var needs: [LegState.Need] { state.withLock { $0.needs } }
    /// The offer of the leg that there is.
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
        let maker = try LegMaker(SRTPProfile.preferred, on: stack, expectsMedia: false)
        let opening = try maker.open(
            MediaWishes(audio: true, video: true, audioSlots: others, videoSlots: others))
        let answered = try await call.leg(offer: opening.offer.text)
        state.withLock { $0.offers.append(opening.offer.text) }
        let leg = try await maker.connect(opening, LegPlan(opening.offer, answer: answered.answer))
        state.withLock { $0.leg = leg }
    }

    /// The app's peer connection goes, and nobody has told the SDK.
    func hangUpLeg() async { await state.withLock { $0.leg }?.leave() }

    // MARK: What is waited for

    /// Until slots of both kinds show these users, each once, and nobody else.
    func untilShown(_ users: [UserID]) async throws {
        try await until("the slots show \(users)") {
            [Slot.Kind.audio, .video].allSatisfy { kind in
                let shown = self.call.legState.slots.filter { $0.kind == kind }.compactMap(\.track)
                return Set(shown.map(\.user)) == Set(users) && shown.count == users.count
                    && shown.allSatisfy { $0.source == (kind == .audio ? .microphone : .camera) }
            }
        }
    }

    func untilNeeds(_ wanted: [LegState.Need]) async throws {
        try await until("the leg is made again") { self.needs == wanted }
    }

    /// Until voices and pictures of so many others come.
    func untilMedia(of count: Int) async throws {
        try await until("media of \(count)") {
            self.stack.post(.measure)
            try await Task.sleep(for: .milliseconds(250))
            let tally = await self.stack.collect()
            return [tally.audio, tally.video].allSatisfy { $0.streams - $0.silent >= count }
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
                "\(me.displayName) waits in vain until \(what): needs \(state.needs), failures \(state.failures), "
                + "slots \(call.legState.slots)")
    }

    func close() async {
        keeping.withLock { $0 }?.cancel()
        await client.close()
        stack.stop()
    }
}

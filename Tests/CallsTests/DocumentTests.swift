import Calls
import Foundation
import Model
import Testing

@Suite struct DocumentTests {
    private func object(_ json: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }

    @Test func theJSONIsThatOfTheContract() throws {
        let harness = CallsHarness(MemoryStoreHarness())
        let anna = try harness.person("Anna \"\u{1}\\\n"), ben = try harness.person("Ben")
        let ringing = try object(try harness.create(by: anna, to: [ben]).callJSON)
        #expect(
            Set(ringing.keys) == ["id", "kind", "mode", "status", "version", "caller", "createdAt", "participants"])
        let invited = try #require((ringing["participants"] as? [[String: Any]])?.last)
        #expect(
            Set(invited.keys) == [
                "user", "displayName", "state", "ringDeadline", "remainingMs", "connected", "media",
            ])
        #expect(invited["remainingMs"] as? Int == 60_000)
        #expect(invited["state"] as? String == "invited")
        let caller = try #require((ringing["participants"] as? [[String: Any]])?.first)
        #expect(Set(caller.keys) == ["user", "displayName", "endpoint", "state", "joinedAt", "connected", "media"])
        #expect(caller["displayName"] as? String == "Anna \"\u{1}\\\n")
        #expect(Set((caller["media"] as? [String: Any] ?? [:]).keys) == ["audio", "video", "screen", "held"])

        let id = try #require(ringing["id"] as? String).lowercased()
        let call = try #require(CallID(id))
        try harness.accept(call, by: ben)
        let report = QualityReport(loss: 0.01, jitter: 5, roundTrip: 40, relayed: true)
        _ = try harness.commands.quality(call, report, by: ben.principal, at: harness.now, in: harness.backend.store)
        let ended = try object(try harness.hangUp(call, by: ben).callJSON)
        #expect(ended["endReason"] as? String == "hung_up" && ended["endedBy"] as? String == ben.user.text)
        #expect(ended["answeredAt"] is String && ended["endedAt"] is String)
        let left = try #require((ended["participants"] as? [[String: Any]])?.last)
        #expect(left["reason"] as? String == "hung_up" && left["leftAt"] is String && left["endpoint"] == nil)
        #expect(
            Set((left["quality"] as? [String: Any] ?? [:]).keys) == [
                "loss", "jitter", "roundTrip", "relayed", "mos", "seconds",
            ])
        // The summary in the call's stream has no participants.
        let last = try object(try #require(try harness.entries(.call(call)).last).data)
        #expect(last["participants"] == nil && last["status"] as? String == "ended")
    }

    @Test func requestsAreReadAsTheyAreWritten() throws {
        let id = "019aa2f0-0000-7000-8000-000000000001"
        func decode<T: Decodable>(_ type: T.Type, _ json: String) throws -> T {
            try JSONDecoder().decode(T.self, from: Data(json.utf8))
        }
        let create = try decode(
            CreateCall.self,
            #"{"clientID":"\#(id)","callees":["\#(id)"],"kind":"video","offer":{"sdp":"v=0"},"ringSeconds":null}"#)
        #expect(create.offer?.sdp == "v=0" && create.ringSeconds == nil && create.kind == .video)
        let batch = try decode(
            SendSignal.self,
            #"{"clientID":"\#(id)","kind":"candidates","generation":1,"payload":{"candidates":[{"candidate":"c","sdpMLineIndex":0}],"end":true}}"#
        )
        #expect(batch.payload == .candidates([CandidateInit(candidate: "c", sdpMLineIndex: 0)], isLast: true))
        #expect(throws: DecodingError.self) {
            try decode(
                SendSignal.self, #"{"clientID":"\#(id)","kind":"offer","generation":0,"payload":{"candidates":[]}}"#)
        }
    }

    /// Values of the formula worked out by hand: a perfect line, a bad one and an impossible one.
    @Test func theOpinionScoreFollowsTheEModel() {
        #expect(OpinionScore.estimate(loss: 0, jitter: 0, roundTrip: 0) == 4.4)
        #expect(OpinionScore.estimate(loss: 0.05, jitter: 10, roundTrip: 200) == 3.78)
        #expect(OpinionScore.estimate(loss: 1, jitter: 1000, roundTrip: 5000) == 1)
    }

    @Test(arguments: Backing.allCases)
    func reportsAddUpToASummary(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben])
            func report(_ loss: Double, _ seconds: Double) throws {
                let report = QualityReport(loss: loss, jitter: 4, roundTrip: 50, relayed: false, seconds: seconds)
                _ = try harness.commands.quality(
                    id, report, by: ben.principal, at: harness.now, in: harness.backend.store)
            }
            try report(0, 30)
            try report(0.04, 10)
            try harness.hangUp(id, by: ben)
            try report(0.01, 40)
            let quality = try #require(try harness.call(id).participants[1].quality)
            #expect(abs(quality.loss - 0.01) < 1e-9 && quality.seconds == 80)
            #expect(problem { try report(1.1, 1) } == .invalidRequest)
            #expect(problem { try report(.nan, 1) } == .invalidRequest)
            #expect(problem { try report(0, 0) } == .invalidRequest)
        }
    }

    @Test(arguments: Backing.allCases)
    func mediaStateIsShownToTheOthers(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.talk(anna, [ben])
            let video = MediaState.Change(video: true)
            let changed = try harness.run { try $0.media(id, video, by: ben.principal, at: $1, in: $2) }
            #expect(changed.call.participants[1].media == MediaState(video: true))
            #expect(try harness.entries(.call(id)).last?.data.contains(#""video":true"#) == true)
            let count = try harness.entries(.call(id)).count
            try harness.run { try $0.media(id, video, by: ben.principal, at: $1, in: $2) }
            #expect(try harness.entries(.call(id)).count == count)
            let tablet = harness.another(ben)
            #expect(
                problem { try harness.run { try $0.media(id, video, by: tablet.principal, at: $1, in: $2) } }
                    == .answeredElsewhere)
        }
    }

    @Test(arguments: Backing.allCases)
    func theHistoryIsPagedNewestFirst(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            var ids: [CallID] = []
            for _ in 0..<5 {
                harness.now = harness.now.adding(seconds: 1)
                ids.append(try harness.create(by: anna, to: [ben]).call.id)
                try harness.decline(try #require(ids.last), by: ben)
            }
            let first = try harness.commands.list(limit: 3, by: ben.principal, in: harness.backend.store)
            #expect(first.calls.map(\.id) == [ids[4], ids[3], ids[2]] && first.next == ids[2])
            let rest = try harness.commands.list(
                before: first.next, limit: 3, by: ben.principal, in: harness.backend.store)
            #expect(rest.calls.map(\.id) == [ids[1], ids[0]] && rest.next == nil)
        }
    }
}

@Suite struct LeaseTests {
    @Test func leasesLapseUnlessTheyAreRenewed() throws {
        let harness = CallsHarness(MemoryStoreHarness())
        let anna = try harness.person("Anna"), ben = try harness.person("Ben")
        let one: CallID = harness.id(), two: CallID = harness.id()
        var leases = CallLeases(duration: 30)
        leases.start(.init(call: one, user: anna.user, endpoint: anna.endpoint), at: 0)
        leases.start(.init(call: two, user: anna.user, endpoint: anna.endpoint), at: 0)
        leases.start(.init(call: one, user: ben.user, endpoint: ben.endpoint), at: 5)
        #expect(leases.deadline == 30)
        leases.renew(anna.endpoint, at: 10)
        leases.renew(one, ben.user, at: 20)
        #expect(leases.lapsed(at: 39).isEmpty)
        #expect(Set(leases.lapsed(at: 40).map(\.call)) == [one, two])
        #expect(!leases.holds(anna.endpoint) && leases.holds(ben.endpoint))
        let tablet = harness.another(ben)
        leases.start(.init(call: one, user: ben.user, endpoint: tablet.endpoint), at: 41)
        leases.renew(ben.endpoint, at: 60)
        #expect(leases.lapsed(at: 71).map(\.endpoint) == [tablet.endpoint] && leases.count == 0)
    }

    @Test func timeInWhichNobodyListenedIsAdded() throws {
        let harness = CallsHarness(MemoryStoreHarness())
        let anna = try harness.person("Anna"), ben = try harness.person("Ben")
        let call: CallID = harness.id()
        var leases = CallLeases(duration: 30)
        leases.start(.init(call: call, user: anna.user, endpoint: anna.endpoint), at: 0)
        leases.start(.init(call: call, user: ben.user, endpoint: ben.endpoint), at: 20)
        // From 20 to 100 the server was stalled; Ben's lease was renewed before the extension.
        leases.renew(ben.endpoint, at: 100)
        leases.extend(by: 80, at: 100)
        #expect(leases.deadline == 110)
        #expect(leases.lapsed(at: 109).isEmpty)
        #expect(leases.lapsed(at: 110).map(\.user) == [anna.user])
        #expect(leases.lapsed(at: 129).isEmpty, "No lease lasts longer than one that is renewed now.")
        #expect(leases.lapsed(at: 130).map(\.user) == [ben.user])
        leases.start(.init(call: call, user: anna.user, endpoint: anna.endpoint), at: 200)
        leases.extend(by: .max, at: 201)
        #expect(leases.deadline == 231)
    }
}

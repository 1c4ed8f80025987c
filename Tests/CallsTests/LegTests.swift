import Calls
import Model
import Testing

/// What endpoints with a leg in the gateway are told, and which endpoints may have one.
@Suite struct LegTests {
    static let rules = GatewayModeTests.rules

    @Test(arguments: Backing.allCases)
    func slotsAreToldWithTheUsersOfTheirTracks(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben, cleo])
            let camera = LegTrack(endpoint: ben.endpoint, mid: "1", source: .camera)
            let answered = try world.legAnswered(
                id, by: anna, [LegSlot(mid: "2", kind: .audio), LegSlot(mid: "3", kind: .video, track: camera)])
            #expect(answered.epoch == 7)
            let slots = """
                [{"mid":"2","kind":"audio"},{"mid":"3","kind":"video","track":{"user":"\(ben.user)",\
                "endpoint":"\(ben.endpoint)","mid":"1","source":"camera"}}]
                """
            #expect(answered.slotsJSON == slots)
            let told = try #require(try world.mailbox(of: anna, in: id).last)
            #expect(told.type == "slots")
            #expect(told.data == "{\"kind\":\"slots\",\"slots\":\(slots)}")
            #expect(try world.mailbox(of: ben, in: id).isEmpty && world.mailbox(of: cleo, in: id).isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func aTrackOfSomebodyWhoLeftIsNotTold(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben, cleo])
            try world.hangUp(id, by: ben)
            let track = LegTrack(endpoint: ben.endpoint, mid: "0", source: .microphone)
            #expect(try world.legShows(id, of: anna, [LegSlot(mid: "2", kind: .audio, track: track)]))
            #expect(
                try world.mailbox(of: anna, in: id).last?.data
                    == "{\"kind\":\"slots\",\"slots\":[{\"mid\":\"2\",\"kind\":\"audio\"}]}")
            #expect(try !world.legShows(id, of: ben, []), "He has no mailbox any more.")
            #expect(try world.mailbox(of: ben, in: id).isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func aFailedLegIsToldToItsEndpoint(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben, cleo])
            #expect(try world.legEnded(id, of: ben, .handshakeFailed))
            let told = try #require(try world.mailbox(of: ben, in: id).last)
            #expect(told.type == "legEnded")
            #expect(told.data == "{\"kind\":\"legEnded\",\"reason\":\"handshake_failed\"}")
            #expect(try world.state(of: ben, in: id) == "joined", "He makes another leg.")
            #expect(try world.legIsOutdated(id, of: ben))
            #expect(try world.mailbox(of: ben, in: id).last?.data == "{\"kind\":\"renegotiate\"}")
            try world.hangUp(id, .end, by: anna)
            #expect(try !world.legEnded(id, of: ben, .closed))
            #expect(try !world.legIsOutdated(id, of: ben))
            #expect(try world.mailbox(of: ben, in: id).isEmpty)
        }
    }

    /// Speakers change all the time in a call of fifty: the mailbox keeps what is true now, and stays short.
    @Test(arguments: Backing.allCases)
    func aMailboxDoesNotGrowWithWhatWasShown(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben, cleo])
            for number in 0..<100 {
                try world.legShows(id, of: anna, [LegSlot(mid: "\(number)", kind: .audio)])
                #expect(try world.mailbox(of: anna, in: id).count <= 16)
            }
            let kept = try world.mailbox(of: anna, in: id)
            #expect(kept.last?.data.contains("\"mid\":\"99\"") == true)
            try world.legShows(id, of: anna, [])
            #expect(try world.mailbox(of: anna, in: id).last?.data == "{\"kind\":\"slots\",\"slots\":[]}")
        }
    }

    @Test(arguments: Backing.allCases)
    func onlyWhoIsInTheCallMayHaveALeg(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.create(by: anna, to: [ben, cleo]).call.id
            _ = try world.legAnswered(id, by: anna, [])
            #expect(problem { try world.legAnswered(id, by: ben, []) } == .conflict, "He has not accepted.")
            try world.accept(id, by: ben)
            _ = try world.legAnswered(id, by: ben, [])
            #expect(problem { try world.legAnswered(id, by: world.another(ben), []) } == .answeredElsewhere)
            try world.hangUp(id, by: ben)
            #expect(problem { try world.legAnswered(id, by: ben, []) } == .conflict, "He has left meanwhile.")
            #expect(problem { try world.legAnswered(id, by: world.person("Eve"), []) } == .notFound)
            try world.hangUp(id, .end, by: anna)
            #expect(problem { try world.legAnswered(id, by: anna, []) } == .callEnded)
        }
    }

    @Test func anOfferIsBounded() throws {
        let commands = CallCommands(rules: Self.rules)
        func check(_ sdp: String, _ sources: [String: LegTrack.Source] = [:]) -> Problem? {
            refusal { try commands.check(SessionDescription(sdp: sdp), sources: sources) }
        }
        #expect(check("v=0", ["0": .screen]) == nil)
        #expect(check("")?.field == "offer.sdp")
        let long = check(String(repeating: "a", count: 256 * 1024 + 1))
        #expect(long?.kind == .payloadTooLarge && long?.field == "offer.sdp")
        let many = Dictionary(uniqueKeysWithValues: (0..<65).map { ("\($0)", LegTrack.Source.camera) })
        #expect(check("v=0", many)?.field == "sources")
    }

    @Test func wishesAreForVideoSlotsOfTheLeg() throws {
        let commands = CallCommands(rules: Self.rules)
        let many = Dictionary(uniqueKeysWithValues: (0..<65).map { ("\($0)", SlotQuality.low) })
        #expect(refusal { try commands.check(many) }?.field == "slots")
        #expect(refusal { try commands.check([String(repeating: "a", count: 257): .low]) }?.field == "slots")
        #expect(refusal { try commands.check(["3": .off]) } == nil)

        let slots = ["3", "10"].map { SlotWish(mid: $0, quality: .high) }
        func check(_ wishes: [String: SlotQuality], _ slots: [SlotWish]) -> Problem? {
            refusal { try commands.check(wishes, against: slots) }
        }
        #expect(check([:], []) == nil && check(["10": .low], slots) == nil)
        let unknown = check(["10": .low, "9": .off, "8": .off], slots)
        #expect(unknown?.kind == .invalidRequest && unknown?.field == "slots.8")
        #expect(unknown?.detail == "slots.8: no such video slot; the leg has 3, 10.")
        #expect(check(["3": .low], [])?.detail.hasSuffix("the leg has no video slots.") == true)
    }

    @Test func refusalsNameTheOffer() {
        let bad = Problem(.badOffer("section 2 (mid 1): it has no a=rtcp-mux"))
        #expect(bad.kind == .invalidRequest && bad.field == "offer.sdp" && bad.detail.contains("mid 1"))
        #expect(Problem(LegRefusal.full).kind == .unavailable && Problem(LegRefusal.full).retryAfter != nil)
        #expect(Problem(LegRefusal.gone).kind == .unavailable)
    }
}

/// A call between two that a third person joins.
@Suite struct MovingTests {
    @Test(arguments: Backing.allCases)
    func nobodyLeavesWhenACallMoves(_ backing: Backing) async throws {
        try await backing.run(rules: GatewayModeTests.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben])
            try world.signal(id, from: anna, .offer, generation: 0)
            let before = try world.call(id)
            let invited = try world.invite([cleo], to: id, by: anna)
            let after = try world.call(id)
            #expect(after.mode == .gateway(epoch: 7))
            #expect(Array(after.participants.prefix(2)) == before.participants, "Connected as they were.")
            #expect(after.status == before.status)
            let legsEnd = invited.effects.contains { if case .legEnded = $0 { true } else { false } }
            let leasesEnd = invited.effects.contains { if case .leaseEnded = $0 { true } else { false } }
            #expect(!legsEnd && !leasesEnd)
            #expect(try world.mailbox(of: ben, in: id).count == 1, "What goes from peer to peer goes on meanwhile.")
            try world.signal(id, from: ben, to: anna, .answer, generation: 1)

            try world.accept(id, by: cleo)
            for client in [anna, ben, cleo] { _ = try world.legAnswered(id, by: client, []) }
            try world.hangUp(id, by: anna)
            #expect(try world.call(id).isLive, "It is a group's now.")
        }
    }

    /// The offer that came with the call is for somebody who answers directly.
    @Test(arguments: Backing.allCases)
    func anOfferThatWaitedIsNotDeliveredInTheGateway(_ backing: Backing) async throws {
        try await backing.run(rules: GatewayModeTests.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.create(by: anna, to: [ben], offer: "v=0").call.id
            try world.invite([cleo], to: id, by: anna)
            try world.accept(id, by: ben)
            #expect(try world.mailbox(of: ben, in: id).isEmpty)
            try world.accept(id, by: cleo)
            #expect(try world.mailbox(of: cleo, in: id).isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func aDeclinedThirdPersonLeavesItInTheGateway(_ backing: Backing) async throws {
        try await backing.run(rules: GatewayModeTests.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben])
            try world.invite([cleo], to: id, by: ben)
            try world.decline(id, by: cleo)
            #expect(try world.call(id).mode == .gateway(epoch: 7))
            #expect(try world.call(id).isLive)
        }
    }
}

extension World {
    @discardableResult
    func legAnswered(_ id: CallID, by client: Client, _ slots: [LegSlot]) throws -> LegOutcome {
        try bench.transact {
            try commands.legAnswered(id, showing: slots, by: client.principal, at: now, in: bench.store)
        }
    }

    @discardableResult
    func legShows(_ id: CallID, of client: Client, _ slots: [LegSlot]) throws -> Bool {
        try bench.transact { try commands.legShows(slots, call: id, endpoint: client.endpoint, in: bench.store) }
    }

    @discardableResult
    func legIsOutdated(_ id: CallID, of client: Client) throws -> Bool {
        try bench.transact { try commands.legIsOutdated(call: id, endpoint: client.endpoint, in: bench.store) }
    }

    func legEnded(_ id: CallID, of client: Client, _ reason: LegEndReason) throws -> Bool {
        try bench.transact {
            try commands.legEnded(because: reason, call: id, endpoint: client.endpoint, in: bench.store)
        }
    }
}

import Calls
import Model
import Testing

/// The notifications of endpoints with a gateway leg, and which endpoints may have one.
@Suite struct LegTests {
    static let rules = GatewayModeTests.rules

    @Test(arguments: Backing.allCases)
    func slotsNameTheUsersOfTheirTracks(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben, cleo])
            let camera = LegTrack(endpoint: ben.endpoint, mid: "1", source: .camera)
            let answered = try harness.legAnswered(
                id, by: anna, [LegSlot(mid: "2", kind: .audio), LegSlot(mid: "3", kind: .video, track: camera)])
            #expect(answered.epoch == 7)
            let slots = """
                [{"mid":"2","kind":"audio"},{"mid":"3","kind":"video","track":{"user":"\(ben.user)",\
                "endpoint":"\(ben.endpoint)","mid":"1","source":"camera"}}]
                """
            #expect(answered.slotsJSON == slots)
            let entry = try #require(try harness.mailbox(of: anna, in: id).last)
            #expect(entry.type == "slots")
            #expect(entry.data == "{\"kind\":\"slots\",\"slots\":\(slots)}")
            #expect(try harness.mailbox(of: ben, in: id).isEmpty && harness.mailbox(of: cleo, in: id).isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func aTrackOfAUserWhoLeftIsOmitted(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben, cleo])
            try harness.hangUp(id, by: ben)
            let track = LegTrack(endpoint: ben.endpoint, mid: "0", source: .microphone)
            #expect(try harness.legSlotsChanged(id, of: anna, [LegSlot(mid: "2", kind: .audio, track: track)]))
            #expect(
                try harness.mailbox(of: anna, in: id).last?.data
                    == "{\"kind\":\"slots\",\"slots\":[{\"mid\":\"2\",\"kind\":\"audio\"}]}")
            #expect(try !harness.legSlotsChanged(id, of: ben, []), "He has no mailbox any more.")
            #expect(try harness.mailbox(of: ben, in: id).isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func aFailedLegNotifiesItsEndpoint(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben, cleo])
            #expect(try harness.legEnded(id, of: ben, .handshakeFailed))
            let entry = try #require(try harness.mailbox(of: ben, in: id).last)
            #expect(entry.type == "legEnded")
            #expect(entry.data == "{\"kind\":\"legEnded\",\"reason\":\"handshake_failed\"}")
            #expect(try harness.state(of: ben, in: id) == "joined", "He makes another leg.")
            #expect(try harness.legNeedsRenegotiation(id, of: ben))
            #expect(try harness.mailbox(of: ben, in: id).last?.data == "{\"kind\":\"renegotiate\"}")
            try harness.hangUp(id, .end, by: anna)
            #expect(try !harness.legEnded(id, of: ben, .closed))
            #expect(try !harness.legNeedsRenegotiation(id, of: ben))
            #expect(try harness.mailbox(of: ben, in: id).isEmpty)
        }
    }

    /// Speakers change all the time in a call of fifty: the mailbox keeps what is true now, and stays short.
    @Test(arguments: Backing.allCases)
    func aMailboxDoesNotGrowWithWhatWasShown(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben, cleo])
            for number in 0..<100 {
                try harness.legSlotsChanged(id, of: anna, [LegSlot(mid: "\(number)", kind: .audio)])
                #expect(try harness.mailbox(of: anna, in: id).count <= 16)
            }
            let kept = try harness.mailbox(of: anna, in: id)
            #expect(kept.last?.data.contains("\"mid\":\"99\"") == true)
            try harness.legSlotsChanged(id, of: anna, [])
            #expect(try harness.mailbox(of: anna, in: id).last?.data == "{\"kind\":\"slots\",\"slots\":[]}")
        }
    }

    @Test(arguments: Backing.allCases)
    func onlyWhoIsInTheCallMayHaveALeg(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.create(by: anna, to: [ben, cleo]).call.id
            _ = try harness.legAnswered(id, by: anna, [])
            #expect(problem { try harness.legAnswered(id, by: ben, []) } == .conflict, "He has not accepted.")
            try harness.accept(id, by: ben)
            _ = try harness.legAnswered(id, by: ben, [])
            #expect(problem { try harness.legAnswered(id, by: harness.another(ben), []) } == .answeredElsewhere)
            try harness.hangUp(id, by: ben)
            #expect(problem { try harness.legAnswered(id, by: ben, []) } == .conflict, "He has left meanwhile.")
            #expect(problem { try harness.legAnswered(id, by: harness.person("Eve"), []) } == .notFound)
            try harness.hangUp(id, .end, by: anna)
            #expect(problem { try harness.legAnswered(id, by: anna, []) } == .callEnded)
        }
    }

    @Test func anOfferIsBounded() throws {
        let commands = CallCommands(rules: Self.rules)
        func check(_ sdp: String, _ sources: [String: LegTrack.Source] = [:]) -> Problem? {
            rejection { try commands.check(SessionDescriptionInit(sdp: sdp), sources: sources) }
        }
        #expect(check("v=0", ["0": .screen]) == nil)
        #expect(check("")?.field == "offer.sdp")
        let long = check(String(repeating: "a", count: 256 * 1024 + 1))
        #expect(long?.kind == .payloadTooLarge && long?.field == "offer.sdp")
        let many = Dictionary(uniqueKeysWithValues: (0..<65).map { ("\($0)", LegTrack.Source.camera) })
        #expect(check("v=0", many)?.field == "sources")
    }

    @Test func preferencesAreForVideoSlotsOfTheLeg() throws {
        let commands = CallCommands(rules: Self.rules)
        let many = Dictionary(uniqueKeysWithValues: (0..<65).map { ("\($0)", SlotQuality.low) })
        #expect(rejection { try commands.check(many) }?.field == "slots")
        #expect(rejection { try commands.check([String(repeating: "a", count: 257): .low]) }?.field == "slots")
        #expect(rejection { try commands.check(["3": .off]) } == nil)

        let slots = ["3", "10"].map { SlotPreference(mid: $0, quality: .high) }
        func check(_ preferences: [String: SlotQuality], _ slots: [SlotPreference]) -> Problem? {
            rejection { try commands.check(preferences, against: slots) }
        }
        #expect(check([:], []) == nil && check(["10": .low], slots) == nil)
        let unknown = check(["10": .low, "9": .off, "8": .off], slots)
        #expect(unknown?.kind == .invalidRequest && unknown?.field == "slots.8")
        #expect(unknown?.detail == "slots.8: no such video slot; the leg has 3, 10.")
        #expect(check(["3": .low], [])?.detail.hasSuffix("the leg has no video slots.") == true)
    }
}

/// A call between two that a third person joins.
@Suite struct MovingTests {
    @Test(arguments: Backing.allCases)
    func nobodyLeavesWhenACallMoves(_ backing: Backing) async throws {
        try await backing.run(rules: GatewayModeTests.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben])
            try harness.signal(id, from: anna, .offer, generation: 0)
            let before = try harness.call(id)
            let invited = try harness.invite([cleo], to: id, by: anna)
            let after = try harness.call(id)
            #expect(after.mode == .gateway(epoch: 7))
            #expect(Array(after.participants.prefix(2)) == before.participants, "Connected as they were.")
            #expect(after.status == before.status)
            let legsEnd = invited.effects.contains { if case .legEnded = $0 { true } else { false } }
            let leasesEnd = invited.effects.contains { if case .leaseEnded = $0 { true } else { false } }
            #expect(!legsEnd && !leasesEnd)
            #expect(try harness.mailbox(of: ben, in: id).count == 1, "What goes from peer to peer goes on meanwhile.")
            try harness.signal(id, from: ben, to: anna, .answer, generation: 1)

            try harness.accept(id, by: cleo)
            for client in [anna, ben, cleo] { _ = try harness.legAnswered(id, by: client, []) }
            try harness.hangUp(id, by: anna)
            #expect(try harness.call(id).isLive, "It is a group's now.")
        }
    }

    /// The offer that came with the call is for somebody who answers directly.
    @Test(arguments: Backing.allCases)
    func anOfferThatWaitedIsNotDeliveredInTheGateway(_ backing: Backing) async throws {
        try await backing.run(rules: GatewayModeTests.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.create(by: anna, to: [ben], offer: "v=0").call.id
            try harness.invite([cleo], to: id, by: anna)
            try harness.accept(id, by: ben)
            #expect(try harness.mailbox(of: ben, in: id).isEmpty)
            try harness.accept(id, by: cleo)
            #expect(try harness.mailbox(of: cleo, in: id).isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func aDeclinedThirdPersonLeavesItInTheGateway(_ backing: Backing) async throws {
        try await backing.run(rules: GatewayModeTests.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben])
            try harness.invite([cleo], to: id, by: ben)
            try harness.decline(id, by: cleo)
            #expect(try harness.call(id).mode == .gateway(epoch: 7))
            #expect(try harness.call(id).isLive)
        }
    }
}

extension CallsHarness {
    @discardableResult
    func legAnswered(_ id: CallID, by client: Client, _ slots: [LegSlot]) throws -> LegOutcome {
        try backend.transact {
            try commands.legAnswered(id, showing: slots, by: client.principal, at: now, in: backend.store)
        }
    }

    @discardableResult
    func legSlotsChanged(_ id: CallID, of client: Client, _ slots: [LegSlot]) throws -> Bool {
        try backend.transact {
            try commands.legSlotsChanged(slots, call: id, endpoint: client.endpoint, in: backend.store)
        }
    }

    @discardableResult
    func legNeedsRenegotiation(_ id: CallID, of client: Client) throws -> Bool {
        try backend.transact {
            try commands.legNeedsRenegotiation(call: id, endpoint: client.endpoint, in: backend.store)
        }
    }

    func legEnded(_ id: CallID, of client: Client, _ reason: LegEndReason) throws -> Bool {
        try backend.transact {
            try commands.legEnded(because: reason, call: id, endpoint: client.endpoint, in: backend.store)
        }
    }
}

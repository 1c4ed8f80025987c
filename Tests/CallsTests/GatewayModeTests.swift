import Calls
import Model
import Testing

/// The documents of calls in gateway mode.
@Suite struct GatewayModeTests {
    static let rules = rules(epoch: 7)

    static func rules(epoch: Int64?) -> CallRules {
        var rules = CallRules()
        rules.gatewayEpoch = epoch
        return rules
    }

    @Test(arguments: Backing.allCases)
    func theModeIsAskedForOrFollowsFromTheNumberOfPeople(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            #expect(try harness.create(by: anna, to: [ben]).call.mode == .direct)
            #expect(try harness.create(by: cleo, to: [ben], mode: .gateway).call.mode == .gateway(epoch: 7))
            let group = try harness.create(by: ben, to: [anna, cleo])
            #expect(group.call.mode == .gateway(epoch: 7))
            #expect(group.callJSON.contains("\"mode\":\"gateway\",\"gatewayEpoch\":7"))
            #expect(try harness.create(by: anna, to: [ben, cleo], mode: .direct).call.mode == .direct)
            #expect(
                problem { try harness.create(by: anna, to: [ben], mode: .gateway, offer: "v=0") } == .invalidRequest)
        }
    }

    @Test(arguments: Backing.allCases)
    func withoutAGatewayACallIsBetweenTwo(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            #expect(problem { try harness.create(by: ben, to: [cleo], mode: .gateway) } == .invalidRequest)
            let group = CreateCall(clientID: harness.id(), callees: [ben.user, cleo.user], kind: .audio)
            let made: CallID = harness.id()
            let rejection = #expect(throws: Problem.self) {
                try harness.run { try $0.create(group, by: anna.principal, id: made, at: $1, in: $2) }
            }
            #expect(rejection?.kind == .invalidRequest && rejection?.field == "callees")

            let id = try harness.talk(anna, [ben])
            let version = try harness.call(id).version
            #expect(problem { try harness.invite([cleo], to: id, by: anna) } == .conflict)
            #expect(try harness.call(id).version == version, "The two go on as they were.")
            #expect(try harness.invite([ben], to: id, by: anna).call.participants.count == 2, "He is there already.")
        }
    }

    /// Their maker knows how clients connect each to each.
    @Test(arguments: Backing.allCases)
    func withoutAGatewayAGroupSaysThatItIsDirect(_ backing: Backing) async throws {
        try await backing.run { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.create(by: anna, to: [ben, cleo], mode: .direct).call.id
            let invited = try harness.invite([try harness.person("Dora")], to: id, by: anna)
            #expect(invited.call.mode == .direct && invited.call.participants.count == 4)
        }
    }

    @Test(arguments: Backing.allCases)
    func aThirdPersonMovesTheCallToTheGateway(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben])
            #expect(problem { try harness.callForLeg(id, by: anna) } == .conflict)
            let invited = try harness.invite([cleo], to: id, by: ben)
            #expect(invited.call.mode == .gateway(epoch: 7))
            #expect(try harness.call(id).mode == .gateway(epoch: 7))
            let entry = try #require(try harness.entries(.call(id)).last { $0.type == "call" })
            #expect(entry.data.contains("\"gatewayEpoch\":7"))
            #expect(try harness.callForLeg(id, by: anna).id == id)
            #expect(problem { try harness.callForLeg(id, by: cleo) } == .conflict, "Cleo has not accepted.")
            #expect(problem { try harness.callForLeg(id, by: harness.another(anna)) } == .answeredElsewhere)
            #expect(problem { try harness.callForLeg(id, by: harness.person("Eve")) } == .notFound)
        }
    }

    /// Whose legs all fail is let go, without harm to the others.
    @Test(arguments: Backing.allCases)
    func aLegMayTakeThreeTries(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cem = try harness.person("Cem")
            let id = try harness.create(by: anna, to: [ben, cem], mode: .gateway).call.id
            try harness.accept(id, by: ben)
            try harness.connected(id, by: ben)
            try harness.accept(id, by: cem)
            try harness.advance(seconds: 59, renewing: [anna, ben, cem])
            #expect(try harness.state(of: cem, in: id) == "joined")
            try harness.advance(seconds: 1, renewing: [anna, ben, cem])
            #expect(try harness.state(of: cem, in: id) == "left")
            #expect(try harness.call(id).isLive)
        }
    }

    /// A leg proves only its own side: the other one may have none yet.
    @Test(arguments: Backing.allCases)
    func mediaThroughTheGatewayProvesOneSide(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben")
            let id = try harness.create(by: anna, to: [ben], mode: .gateway).call.id
            try harness.accept(id, by: ben)
            try harness.connected(id, by: ben)
            #expect(try harness.call(id).participant(anna.user)?.joining?.setupUntil == nil, "She rang, and waits.")
            let alive = try harness.run { try $0.alive(id, by: ben.principal, at: $1, in: $2) }
            #expect(alive.effects == [.leaseRenewed(id, ben.user)])
        }
    }

    @Test(arguments: Backing.allCases)
    func legsEndWithTheirEndpointsPart(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let id = try harness.talk(anna, [ben, cleo])
            let left = try harness.hangUp(id, .leave, by: ben)
            #expect(left.effects.contains(.legEnded(id, ben.endpoint)))
            let phone = harness.another(cleo)
            #expect(try harness.accept(id, by: phone).effects.contains(.legEnded(id, cleo.endpoint)), "It took over.")
            let ended = try harness.hangUp(id, .end, by: anna)
            #expect(ended.effects.contains(.legEnded(id, anna.endpoint)))
            #expect(ended.effects.contains(.legEnded(id, phone.endpoint)))
        }
    }

    @Test(arguments: Backing.allCases)
    func aGatewayThatBeginsAnewIsJoinedAgain(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { harness in
            let anna = try harness.person("Anna"), ben = try harness.person("Ben"), cleo = try harness.person("Cleo")
            let direct = try harness.talk(try harness.person("Dora"), [try harness.person("Emil")])
            let group = try harness.talk(cleo, [anna, ben])
            harness.restart(with: Self.rules(epoch: 8))
            let renewed = try harness.commands.gatewayRestarted(at: harness.now, in: harness.backend.store)
            #expect(renewed.map(\.call.id) == [group])
            #expect(try harness.call(group).mode == .gateway(epoch: 8))
            #expect(try harness.call(direct).mode == .direct)
            #expect(try harness.entries(.call(group)).last?.data.contains("\"gatewayEpoch\":8") == true)
            #expect(try harness.commands.gatewayRestarted(at: harness.now, in: harness.backend.store).isEmpty)

            harness.restart(with: Self.rules(epoch: nil))
            _ = try harness.commands.gatewayRestarted(at: harness.now, in: harness.backend.store)
            #expect(try harness.call(group).ending?.reason == .failed)
            #expect(try harness.call(direct).isLive)
        }
    }
}

extension CallsHarness {
    fileprivate func callForLeg(_ id: CallID, by client: Client) throws -> Call {
        try commands.callForLeg(id, by: client.principal, at: now, in: backend.store)
    }
}

import Calls
import Model
import Testing

/// Calls whose media goes through the gateway, as far as the document tells.
@Suite struct GatewayModeTests {
    static let rules = rules(epoch: 7)

    static func rules(epoch: Int64?) -> CallRules {
        var rules = CallRules()
        rules.gatewayEpoch = epoch
        return rules
    }

    @Test(arguments: Backing.allCases)
    func theModeIsAskedForOrFollowsFromTheNumberOfPeople(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            #expect(try world.create(by: anna, to: [ben]).call.mode == .direct)
            #expect(try world.create(by: cleo, to: [ben], mode: .gateway).call.mode == .gateway(epoch: 7))
            let group = try world.create(by: ben, to: [anna, cleo])
            #expect(group.call.mode == .gateway(epoch: 7))
            #expect(group.callJSON.contains("\"mode\":\"gateway\",\"gatewayEpoch\":7"))
            #expect(try world.create(by: anna, to: [ben, cleo], mode: .direct).call.mode == .direct)
            #expect(problem { try world.create(by: anna, to: [ben], mode: .gateway, offer: "v=0") } == .invalidRequest)
        }
    }

    @Test(arguments: Backing.allCases)
    func withoutAGatewayACallIsBetweenTwo(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            #expect(problem { try world.create(by: ben, to: [cleo], mode: .gateway) } == .invalidRequest)
            let group = CreateCall(clientID: world.id(), callees: [ben.user, cleo.user], kind: .audio)
            let made: CallID = world.id()
            let refusal = #expect(throws: Problem.self) {
                try world.run { try $0.create(group, by: anna.principal, id: made, at: $1, in: $2) }
            }
            #expect(refusal?.kind == .invalidRequest && refusal?.field == "callees")

            let id = try world.talk(anna, [ben])
            let version = try world.call(id).version
            #expect(problem { try world.invite([cleo], to: id, by: anna) } == .conflict)
            #expect(try world.call(id).version == version, "The two go on as they were.")
            #expect(try world.invite([ben], to: id, by: anna).call.participants.count == 2, "He is there already.")
        }
    }

    /// Their maker knows how clients connect each to each.
    @Test(arguments: Backing.allCases)
    func withoutAGatewayAGroupSaysThatItIsDirect(_ backing: Backing) async throws {
        try await backing.run { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.create(by: anna, to: [ben, cleo], mode: .direct).call.id
            let invited = try world.invite([try world.person("Dora")], to: id, by: anna)
            #expect(invited.call.mode == .direct && invited.call.participants.count == 4)
        }
    }

    @Test(arguments: Backing.allCases)
    func aThirdPersonMovesTheCallToTheGateway(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben])
            #expect(problem { try world.callForLeg(id, by: anna) } == .conflict)
            let invited = try world.invite([cleo], to: id, by: ben)
            #expect(invited.call.mode == .gateway(epoch: 7))
            #expect(try world.call(id).mode == .gateway(epoch: 7))
            let told = try #require(try world.entries(.call(id)).last { $0.type == "call" })
            #expect(told.data.contains("\"gatewayEpoch\":7"))
            #expect(try world.callForLeg(id, by: anna).id == id)
            #expect(problem { try world.callForLeg(id, by: cleo) } == .conflict, "Cleo has not accepted.")
            #expect(problem { try world.callForLeg(id, by: world.another(anna)) } == .answeredElsewhere)
            #expect(problem { try world.callForLeg(id, by: world.person("Eve")) } == .notFound)
        }
    }

    /// Whose legs all fail is let go, without harm to the others.
    @Test(arguments: Backing.allCases)
    func aLegMayTakeThreeTries(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cem = try world.person("Cem")
            let id = try world.create(by: anna, to: [ben, cem], mode: .gateway).call.id
            try world.accept(id, by: ben)
            try world.connected(id, by: ben)
            try world.accept(id, by: cem)
            try world.advance(seconds: 59, renewing: [anna, ben, cem])
            #expect(try world.state(of: cem, in: id) == "joined")
            try world.advance(seconds: 1, renewing: [anna, ben, cem])
            #expect(try world.state(of: cem, in: id) == "left")
            #expect(try world.call(id).isLive)
        }
    }

    /// A leg proves only its own side: the other one may have none yet.
    @Test(arguments: Backing.allCases)
    func mediaThroughTheGatewayProvesOneSide(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben")
            let id = try world.create(by: anna, to: [ben], mode: .gateway).call.id
            try world.accept(id, by: ben)
            try world.connected(id, by: ben)
            #expect(try world.call(id).participant(anna.user)?.joining?.setupUntil == nil, "She rang, and waits.")
            let alive = try world.run { try $0.alive(id, by: ben.principal, at: $1, in: $2) }
            #expect(alive.effects == [.leaseRenewed(id, ben.user)])
        }
    }

    @Test(arguments: Backing.allCases)
    func legsEndWithTheirEndpointsPart(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let id = try world.talk(anna, [ben, cleo])
            let left = try world.hangUp(id, .leave, by: ben)
            #expect(left.effects.contains(.legEnded(id, ben.endpoint)))
            let phone = world.another(cleo)
            #expect(try world.accept(id, by: phone).effects.contains(.legEnded(id, cleo.endpoint)), "It took over.")
            let ended = try world.hangUp(id, .end, by: anna)
            #expect(ended.effects.contains(.legEnded(id, anna.endpoint)))
            #expect(ended.effects.contains(.legEnded(id, phone.endpoint)))
        }
    }

    @Test(arguments: Backing.allCases)
    func aGatewayThatBeginsAnewIsJoinedAgain(_ backing: Backing) async throws {
        try await backing.run(rules: Self.rules) { world in
            let anna = try world.person("Anna"), ben = try world.person("Ben"), cleo = try world.person("Cleo")
            let direct = try world.talk(try world.person("Dora"), [try world.person("Emil")])
            let group = try world.talk(cleo, [anna, ben])
            world.restart(with: Self.rules(epoch: 8))
            let renewed = try world.commands.renewGateway(at: world.now, in: world.bench.store)
            #expect(renewed.map(\.call.id) == [group])
            #expect(try world.call(group).mode == .gateway(epoch: 8))
            #expect(try world.call(direct).mode == .direct)
            #expect(try world.entries(.call(group)).last?.data.contains("\"gatewayEpoch\":8") == true)
            #expect(try world.commands.renewGateway(at: world.now, in: world.bench.store).isEmpty)

            world.restart(with: Self.rules(epoch: nil))
            _ = try world.commands.renewGateway(at: world.now, in: world.bench.store)
            #expect(try world.call(group).ending?.reason == .failed)
            #expect(try world.call(direct).isLive)
        }
    }
}

extension World {
    fileprivate func callForLeg(_ id: CallID, by client: Client) throws -> Call {
        try commands.callForLeg(id, by: client.principal, at: now, in: bench.store)
    }
}

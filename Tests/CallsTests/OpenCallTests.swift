import Model
import Testing

@testable import Calls

/// Calls of group conversations.
@Suite struct OpenCallTests {
    private struct Group {
        let harness: CallsHarness
        let people: [Client]
        let id: ConversationID

        init(_ harness: CallsHarness, count: Int) throws {
            self.harness = harness
            people = try (0..<count).map { try harness.person("Person \($0)") }
            id = harness.id()
            try harness.backend.group(people.map(\.user), id: id)
        }

        func call(_ caller: Int, ringing callees: [Int]) throws -> CallOutcome {
            let request = CreateCall(clientID: harness.id(), kind: .audio, mode: .direct, conversation: id)
            let called = CallConversation(id: id, isGroup: true, callees: callees.map { people[$0].user })
            let call: CallID = harness.id()
            return try harness.run {
                try $0.create(request, of: called, by: people[caller].principal, id: call, at: $1, in: $2)
            }
        }

        func accept(_ call: CallID, _ person: Int) throws -> CallOutcome {
            try harness.run { try $0.accept(call, by: people[person].principal, at: $1, in: $2) }
        }

        func leave(_ person: Int) throws {
            try harness.backend.leave(id, by: people[person].user)
            _ = try harness.run {
                try #require(try $0.leftConversation(id, people[person].user, at: $1, in: $2))
            }
        }
    }

    @Test(arguments: Backing.allCases)
    func membersJoinUninvited(_ backing: Backing) async throws {
        try await backing.run { harness in
            let group = try Group(harness, count: 4)
            let call = try group.call(0, ringing: [1]).call.id
            #expect(try harness.call(call).status == .ringing)
            #expect(try group.accept(call, 2).call.status.name == "active")
            let joined = try harness.call(call)
            #expect(joined.participants.map(\.state.name) == ["joined", "invited", "joined"])
            // A second call is the same one.
            let second = try group.call(3, ringing: [0, 1, 2])
            #expect(second.hasJoined && second.call.id == call && second.call.participants.count == 4)
            let outsider = try harness.person("Outsider")
            #expect(throws: Problem.self) {
                try harness.run { try $0.accept(call, by: outsider.principal, at: $1, in: $2) }
            }
            #expect(throws: Problem.self) {
                try harness.run {
                    try $0.invite(
                        call, InviteToCall(clientID: harness.id(), users: [outsider.user]),
                        by: group.people[0].principal, at: $1, in: $2)
                }
            }
        }
    }

    @Test(arguments: Backing.allCases)
    func aLargeGroupIsShownAndNotRung(_ backing: Backing) async throws {
        try await backing.run { harness in
            let group = try Group(harness, count: 3)
            let call = try group.call(0, ringing: []).call
            #expect(call.status.name == "active" && call.participants.count == 1)
            #expect(try group.accept(call.id, 1).call.participants.count == 2)
            // Two of them are no pair: it goes on when one leaves.
            _ = try harness.run {
                try $0.hangUp(call.id, .leave, by: group.people[0].principal, at: $1, in: $2)
            }
            #expect(try harness.call(call.id).isLive)
            _ = try harness.run {
                try $0.hangUp(call.id, .leave, by: group.people[1].principal, at: $1, in: $2)
            }
            #expect(try harness.call(call.id).ending?.reason == .hungUp)
        }
    }

    @Test(arguments: Backing.allCases)
    func whoIsRemovedLeavesAtOnce(_ backing: Backing) async throws {
        try await backing.run { harness in
            let group = try Group(harness, count: 4)
            let call = try group.call(0, ringing: [1, 2, 3]).call.id
            _ = try group.accept(call, 1)
            try group.leave(1)
            try group.leave(2)
            let after = try harness.call(call)
            guard case .left(_, _, .removed) = after.participants[1].state else {
                Issue.record("\(after.participants[1].state)")
                return
            }
            #expect(after.participants[2].state == .unreachable && after.isLive)
            #expect(throws: Problem.self) { try group.accept(call, 1) }
            #expect(throws: Problem.self) {
                try harness.commands.get(call, by: group.people[1].principal, in: harness.backend.store)
            }
            // Nothing of it reaches them any more.
            let received = try harness.backend.entries(of: .user(group.people[1].user)).count
            _ = try harness.run { try $0.hangUp(call, .end, by: group.people[0].principal, at: $1, in: $2) }
            #expect(try harness.backend.entries(of: .user(group.people[1].user)).count == received)
            #expect(throws: Problem.self) {
                try harness.commands.get(call, by: group.people[1].principal, in: harness.backend.store)
            }
            #expect(
                try harness.commands.list(limit: 9, by: group.people[1].principal, in: harness.backend.store).calls
                    .isEmpty)
        }
    }

    @Test(arguments: Backing.allCases)
    func whoHasBlockedTheCallerIsNotRungAndMayJoin(_ backing: Backing) async throws {
        try await backing.run { harness in
            let group = try Group(harness, count: 3)
            try harness.backend.block(group.people[0].user, by: group.people[1].user)
            let call = try group.call(0, ringing: [1, 2]).call
            #expect(call.participants[1].isWithheld)
            let joined = try group.accept(call.id, 1).call
            #expect(joined.participants[1].isJoined && !joined.participants[1].isWithheld)
        }
    }
}

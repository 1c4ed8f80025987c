import ICE
import STUN
import TestSupport
import Testing
import Wire

@Suite("Checks that prove nothing")
struct HostileCheckTests {
    static let forged: [(CheckOutcome.Drop, LiteAgentHarness.Check)] = [
        (.wrongIntegrity, .init(password: Array("another password of some length".utf8), nominates: true)),
        (.wrongUsername, .init(username: "AQEBAQEB:other", nominates: true)),
        (.wrongUsername, .init(username: "AQEBAQEB", nominates: true)),
        (.wrongUsername, .init(username: "peer:AQEBAQEB", nominates: true)),
        (.wrongUsername, .init(username: "AQEBAQEC:peer", nominates: true)),
        (.noFingerprint, .init(nominates: true, hasFingerprint: false)),
        (.notACheck, .init(type: MessageType(.indication, .binding), nominates: true)),
        (.notACheck, .init(type: MessageType(.success, .binding), nominates: true)),
        (.notACheck, .init(type: MessageType(.request, .allocate), nominates: true)),
    ]

    @Test("are dropped, counted, and change nothing", arguments: forged.indices)
    func drops(index: Int) throws {
        let (drop, check) = Self.forged[index]
        var harness = try LiteAgentHarness()
        _ = try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(1))
        harness.sent.messages = []
        let deadline = harness.agent.deadline
        harness.now = harness.now.adding(seconds: 5)
        #expect(try harness.check(check, on: LiteAgentHarness.flow(2)) == .dropped(drop))
        #expect(
            harness.agent.selected == LiteAgentHarness.flow(1) && harness.agent.validFlows == [LiteAgentHarness.flow(1)]
        )
        #expect(harness.sent.messages.isEmpty && harness.agent.deadline == deadline)
        #expect(harness.agent.counters.count(drop) == 1 && harness.agent.counters.answered == 1)
    }

    @Test("a check that is repeated from elsewhere does not draw the media there, nor keep consent alive from here")
    func replay() throws {
        var harness = try LiteAgentHarness()
        let bytes = harness.bytes(of: .init(nominates: true))
        _ = try harness.receive(bytes, on: LiteAgentHarness.flow(1))
        let deadline = harness.agent.deadline
        harness.now = harness.now.adding(seconds: 5)
        #expect(try harness.receive(bytes, on: LiteAgentHarness.flow(2)) == .dropped(.replayed))
        #expect(harness.agent.selected == LiteAgentHarness.flow(1) && harness.sent.messages.count == 1)
        // A retransmission gets a response again, and changes nothing.
        #expect(try harness.receive(bytes, on: LiteAgentHarness.flow(1)) == .repeated)
        #expect(harness.sent.messages.count == 2 && harness.agent.deadline == deadline)
    }

    @Test("what is appended after the integrity is ignored")
    func appended() throws {
        var harness = try LiteAgentHarness()
        #expect(
            try harness.check(.init(appended: .useCandidate), on: LiteAgentHarness.flow(1)).changes?.selected == nil)
        #expect(harness.agent.selected == nil)
    }

    @Test("every truncation and every flipped bit is refused before it counts as authentic")
    func damage() throws {
        var harness = try LiteAgentHarness()
        let bytes = harness.bytes(of: .init(nominates: true))
        for count in 0..<bytes.count {
            let part = Array(bytes.prefix(count))
            #expect(throws: Message.ParseError.self) { _ = try Message(part.span.bytes) }
        }
        for bit in 0..<bytes.count * 8 {
            let damaged = bytes.flippingBit(bit)
            if let outcome = try? harness.receive(damaged, on: LiteAgentHarness.flow(2)) {
                guard case .dropped = outcome else {
                    Issue.record("bit \(bit): \(outcome)")
                    continue
                }
            }
        }
        #expect(harness.agent.validFlows.isEmpty && harness.sent.messages.isEmpty)
    }

    static let refused: [(CheckOutcome.Rejection, UInt16, LiteAgentHarness.Check)] = [
        (.roleConflict, 487, .init(nominates: true, isControlled: true)),
        (.badRequest, 400, .init(priority: nil, nominates: true)),
        (.unknownAttribute, 420, .init(nominates: true, extra: .lifetime)),
    ]

    @Test(
        "an authentic request that is no check gets its error, signed, and changes nothing", arguments: refused.indices)
    func rejections(index: Int) throws {
        let (rejection, number, check) = Self.refused[index]
        var harness = try LiteAgentHarness()
        #expect(try harness.check(check, on: LiteAgentHarness.flow(1)) == .refused(rejection))
        let bytes = try #require(harness.sent.messages.first?.bytes)
        let response = try Message(bytes.span.bytes)
        let password = harness.credentials.password
        let isSigned = response.hasIntegrity(.sha1, key: password.span.bytes, harness.authentication)
        let error = response.errorNumber
        #expect(isSigned && error == number)
        #expect(
            harness.agent.selected == nil && harness.agent.validFlows.isEmpty
                && harness.agent.counters.count(rejection) == 1)
    }

    @Test("a leg remembers sixteen flows, and never gives up the one with the media")
    func bounds() throws {
        var harness = try LiteAgentHarness()
        _ = try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(1))
        for port in UInt16(2)...40 {
            harness.now = harness.now.adding(nanoseconds: 1_000_000)
            let changes = try harness.check(.init(), on: LiteAgentHarness.flow(port)).changes
            #expect(changes?.removed == (port <= 16 ? nil : LiteAgentHarness.flow(port - 15)))
        }
        #expect(harness.agent.validFlows.count == LiteAgent.maximumFlows)
        #expect(harness.agent.isValid(LiteAgentHarness.flow(1)) && harness.agent.selected == LiteAgentHarness.flow(1))
    }
}

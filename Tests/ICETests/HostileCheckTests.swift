import ICE
import STUN
import Testing
import Wire

@Suite("Checks that prove nothing")
struct HostileCheckTests {
    static let forged: [(CheckOutcome.Drop, LegLab.Check)] = [
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
        var lab = try LegLab()
        _ = try lab.check(.init(nominates: true), on: LegLab.flow(1))
        lab.sent.messages = []
        let deadline = lab.agent.deadline
        lab.now = lab.now.adding(seconds: 5)
        #expect(try lab.check(check, on: LegLab.flow(2)) == .dropped(drop))
        #expect(lab.agent.selected == LegLab.flow(1) && lab.agent.validFlows == [LegLab.flow(1)])
        #expect(lab.sent.messages.isEmpty && lab.agent.deadline == deadline)
        #expect(lab.agent.tally.count(drop) == 1 && lab.agent.tally.answered == 1)
    }

    @Test("a check that is repeated from elsewhere does not draw the media there, nor keep consent alive from here")
    func replay() throws {
        var lab = try LegLab()
        let bytes = lab.bytes(of: .init(nominates: true))
        _ = try lab.receive(bytes, on: LegLab.flow(1))
        let deadline = lab.agent.deadline
        lab.now = lab.now.adding(seconds: 5)
        #expect(try lab.receive(bytes, on: LegLab.flow(2)) == .dropped(.replayed))
        #expect(lab.agent.selected == LegLab.flow(1) && lab.sent.messages.count == 1)
        // A retransmission is answered again, and that is all.
        #expect(try lab.receive(bytes, on: LegLab.flow(1)) == .repeated)
        #expect(lab.sent.messages.count == 2 && lab.agent.deadline == deadline)
    }

    @Test("what is appended behind the integrity is not obeyed")
    func appended() throws {
        var lab = try LegLab()
        #expect(try lab.check(.init(appended: .useCandidate), on: LegLab.flow(1)).changes?.selected == nil)
        #expect(lab.agent.selected == nil)
    }

    @Test("every truncation and every flipped bit is refused before it counts as authentic")
    func damage() throws {
        var lab = try LegLab()
        let bytes = lab.bytes(of: .init(nominates: true))
        for count in 0..<bytes.count {
            let part = Array(bytes.prefix(count))
            #expect(throws: Message.ParseError.self) { try Message(part.span.bytes) }
        }
        for bit in 0..<bytes.count * 8 {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << (bit % 8)
            if let outcome = try? lab.receive(damaged, on: LegLab.flow(2)) {
                guard case .dropped = outcome else {
                    Issue.record("bit \(bit): \(outcome)")
                    continue
                }
            }
        }
        #expect(lab.agent.validFlows.isEmpty && lab.sent.messages.isEmpty)
    }

    static let refused: [(CheckOutcome.Refusal, UInt16, LegLab.Check)] = [
        (.roleConflict, 487, .init(nominates: true, isControlled: true)),
        (.badRequest, 400, .init(priority: nil, nominates: true)),
        (.unknownAttribute, 420, .init(nominates: true, extra: .lifetime)),
    ]

    @Test(
        "an authentic request that is no check gets its error, signed, and changes nothing", arguments: refused.indices)
    func refusals(index: Int) throws {
        let (refusal, number, check) = Self.refused[index]
        var lab = try LegLab()
        #expect(try lab.check(check, on: LegLab.flow(1)) == .refused(refusal))
        let bytes = try #require(lab.sent.messages.first?.bytes)
        let answer = try Message(bytes.span.bytes)
        let password = lab.credentials.password
        let isSigned = answer.hasIntegrity(.sha1, key: password.span.bytes, lab.authentication)
        let error = answer.errorNumber
        #expect(isSigned && error == number)
        #expect(lab.agent.selected == nil && lab.agent.validFlows.isEmpty && lab.agent.tally.count(refusal) == 1)
    }

    @Test("a leg remembers sixteen flows, and never gives up the one with the media")
    func bounds() throws {
        var lab = try LegLab()
        _ = try lab.check(.init(nominates: true), on: LegLab.flow(1))
        for port in UInt16(2)...40 {
            lab.now = lab.now.adding(nanoseconds: 1_000_000)
            let changes = try lab.check(.init(), on: LegLab.flow(port)).changes
            #expect(changes?.removed == (port <= 16 ? nil : LegLab.flow(port - 15)))
        }
        #expect(lab.agent.validFlows.count == LiteAgent.maximumFlows)
        #expect(lab.agent.isValid(LegLab.flow(1)) && lab.agent.selected == LegLab.flow(1))
    }
}

import ICE
import STUN
import Testing
import Wire

@Suite("The lite agent")
struct AgentTests {
    @Test(
        "a check gets a signed response with its source address", arguments: [IntegrityAlgorithm.sha1, .sha256])
    func response(algorithm: IntegrityAlgorithm) throws {
        var harness = try LiteAgentHarness()
        let flow = LiteAgentHarness.flow(4000)
        let outcome = try harness.check(.init(algorithm: algorithm, transaction: 99), on: flow)
        #expect(outcome.changes?.added == flow && outcome.changes?.selected == nil)
        #expect(harness.agent.selected == nil && harness.agent.isValid(flow))
        let (bytes, destination) = try #require(harness.sent.messages.first)
        #expect(destination == flow)
        let response = try Message(bytes.span.bytes)
        let (type, transaction, address) = (response.type, response.transaction, response.xorAddress(.xorMappedAddress))
        #expect(
            type == MessageType(.success, .binding) && transaction == TransactionID(7, 99) && address == flow.remote)
        let password = harness.credentials.password
        let isSigned =
            response.hasIntegrity(algorithm, key: password.span.bytes, harness.authentication)
            && response.hasFingerprint
        #expect(isSigned)
    }

    @Test("the check of RFC 5769 section 2.1 is for no leg here")
    func vector() throws {
        // The sample request: evtj:h6vY, its password, PRIORITY, ICE-CONTROLLED, and a SOFTWARE padded with spaces.
        let request: [UInt8] = [
            0x00, 0x01, 0x00, 0x58, 0x21, 0x12, 0xA4, 0x42, 0xB7, 0xE7, 0xA7, 0x01, 0xBC, 0x34, 0xD6, 0x86, 0xFA, 0x87,
            0xDF,
            0xAE, 0x80, 0x22, 0x00, 0x10, 0x53, 0x54, 0x55, 0x4E, 0x20, 0x74, 0x65, 0x73, 0x74, 0x20, 0x63, 0x6C, 0x69,
            0x65,
            0x6E, 0x74, 0x00, 0x24, 0x00, 0x04, 0x6E, 0x00, 0x01, 0xFF, 0x80, 0x29, 0x00, 0x08, 0x93, 0x2F, 0xF9, 0xB1,
            0x51,
            0x26, 0x3B, 0x36, 0x00, 0x06, 0x00, 0x09, 0x65, 0x76, 0x74, 0x6A, 0x3A, 0x68, 0x36, 0x76, 0x59, 0x20, 0x20,
            0x20,
            0x00, 0x08, 0x00, 0x14, 0x9A, 0xEA, 0xA7, 0x0C, 0xBF, 0xD8, 0xCB, 0x56, 0x78, 0x1E, 0xF2, 0xB5, 0xB2, 0xD3,
            0xF2,
            0x49, 0xC1, 0xB5, 0x71, 0xA2, 0x80, 0x28, 0x00, 0x04, 0xE5, 0x7A, 0x3B, 0xCF,
        ]
        let message = try Message(request.span.bytes)
        let isForAnyLeg = LocalUfrag(of: message) != nil
        #expect(!isForAnyLeg, "its ufrag has four characters, and those made here have eight")
        var harness = try LiteAgentHarness()
        #expect(try harness.receive(request, on: LiteAgentHarness.flow(1)) == .dropped(.wrongUsername))
        #expect(harness.sent.messages.isEmpty)
    }

    @Test("credentials are of ICE's characters and long enough, and find their leg")
    func credentials() throws {
        let credentials = try LiteAgentHarness.credentials(0xFF)
        #expect(credentials.ufrag.text == "////////" && credentials.passwordText == String(repeating: "/", count: 32))
        let few = [UInt8](repeating: 0, count: 29)
        let isEnough = LocalCredentials(random: few.span.bytes) != nil
        #expect(!isEnough)
        var harness = try LiteAgentHarness()
        var directory = UfragTable<Int>()
        let (isAdded, isAddedTwice) = (
            directory.add(harness.credentials.ufrag, 5), directory.add(harness.credentials.ufrag, 6)
        )
        #expect(isAdded && !isAddedTwice)
        let bytes = harness.bytes(of: .init())
        let message = try Message(bytes.span.bytes)
        let found = directory.leg(for: message)
        #expect(found == 5)
        directory.remove(harness.credentials.ufrag)
        let gone = directory.leg(for: message)
        #expect(gone == nil && directory.count == 0)
    }

    @Test("media follows the latest nomination, from address to address")
    func nomination() throws {
        var harness = try LiteAgentHarness()
        #expect(
            try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(1)).changes?.selected
                == LiteAgentHarness.flow(1))
        #expect(try harness.check(.init(), on: LiteAgentHarness.flow(2)).changes?.selected == nil)
        #expect(harness.agent.selected == LiteAgentHarness.flow(1))
        #expect(
            try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(2)).changes?.selected
                == LiteAgentHarness.flow(2))
        #expect(try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(2)).changes?.selected == nil)
        #expect(harness.agent.validFlows == [LiteAgentHarness.flow(1), LiteAgentHarness.flow(2)])
    }

    @Test("with renomination the highest number wins, whatever comes late")
    func renomination() throws {
        var harness = try LiteAgentHarness()
        _ = try harness.check(.init(nomination: 1), on: LiteAgentHarness.flow(1))
        _ = try harness.check(.init(nomination: 3), on: LiteAgentHarness.flow(2))
        #expect(
            try harness.check(.init(nominates: true, nomination: 2), on: LiteAgentHarness.flow(1)).changes?.selected
                == nil)
        #expect(harness.agent.selected == LiteAgentHarness.flow(2))
    }

    @Test("a restart keeps the media where it is until the new generation is nominated")
    func restart() throws {
        var harness = try LiteAgentHarness()
        _ = try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(1))
        let second = try LiteAgentHarness.credentials(2)
        #expect(harness.agent.restart(second, remoteUfrag: "next") == nil)
        #expect(harness.agent.credentials == second && harness.agent.selected == LiteAgentHarness.flow(1))
        #expect(
            try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(3)).changes?.selected
                == LiteAgentHarness.flow(3))
        // The new generation has another name for the client too.
        #expect(try harness.check(.init(), on: LiteAgentHarness.flow(4), for: second) == .dropped(.wrongUsername))
        let name = "\(second.ufrag.text):next"
        #expect(
            try harness.check(.init(username: name), on: LiteAgentHarness.flow(4), for: second).changes?.selected == nil
        )
        let changes = try harness.check(
            .init(username: name, nominates: true), on: LiteAgentHarness.flow(4), for: second
        ).changes
        #expect(changes?.selected == LiteAgentHarness.flow(4) && changes?.ended == harness.credentials.ufrag)
        #expect(try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(1)) == .dropped(.wrongUsername))
        #expect(harness.agent.selected == LiteAgentHarness.flow(4))
    }

    @Test("of many restarts the one that carries media and the last are kept")
    func restarts() throws {
        var harness = try LiteAgentHarness()
        _ = try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(1))
        let (second, third) = try (LiteAgentHarness.credentials(2), LiteAgentHarness.credentials(3))
        #expect(harness.agent.restart(second, remoteUfrag: "next") == nil)
        #expect(harness.agent.restart(third, remoteUfrag: "last") == second.ufrag)
        #expect(try harness.check(.init(), on: LiteAgentHarness.flow(1)).changes != nil)
    }

    @Test("thirty seconds without a check end a flow, and the last flow the leg")
    func consent() throws {
        var harness = try LiteAgentHarness()
        _ = try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(1))
        _ = harness.pass(seconds: 20)
        _ = try harness.check(.init(), on: LiteAgentHarness.flow(2))
        #expect(harness.agent.deadline == harness.now.adding(seconds: 10))
        let first = harness.pass(seconds: 10)
        #expect(first.loss == nil && first.removed == [LiteAgentHarness.flow(1)] && harness.agent.selected == nil)
        let second = harness.pass(seconds: 19)
        #expect(second.loss == nil && second.removed.isEmpty)
        let third = harness.pass(seconds: 1)
        #expect(third.loss == .consentExpired && third.removed == [LiteAgentHarness.flow(2)])
        #expect(harness.agent.deadline == nil)
        #expect(try harness.check(.init(), on: LiteAgentHarness.flow(2)) == .dropped(.ended))
        var silent = try LiteAgentHarness()
        #expect(silent.pass(seconds: 29).loss == nil)
        #expect(silent.pass(seconds: 1).loss == .neverChecked)
    }

    @Test("a connection that closes takes its nomination with it")
    func forget() throws {
        var harness = try LiteAgentHarness()
        _ = try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(1, .tcp))
        harness.agent.forget(LiteAgentHarness.flow(1, .tcp))
        #expect(harness.agent.selected == nil && harness.agent.validFlows.isEmpty)
        #expect(
            try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(2)).changes?.selected
                == LiteAgentHarness.flow(2))
    }

    @Test("a leg whose only connection closes has thirty seconds from its last check to come back by another")
    func comeback() throws {
        var harness = try LiteAgentHarness()
        _ = harness.pass(seconds: 20)
        _ = try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(1, .tcp))
        _ = harness.pass(seconds: 25)
        _ = try harness.check(.init(), on: LiteAgentHarness.flow(1, .tcp))
        harness.agent.forget(LiteAgentHarness.flow(1, .tcp))
        #expect(harness.pass(seconds: 29).loss == nil)
        #expect(try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(2, .tcp)).changes?.selected != nil)
        harness.agent.forget(LiteAgentHarness.flow(2, .tcp))
        #expect(harness.pass(seconds: 30).loss == .consentExpired)
    }

    @Test("time in which nobody read what came is no silence of the client's")
    func stalls() throws {
        var harness = try LiteAgentHarness()
        _ = try harness.check(.init(nominates: true), on: LiteAgentHarness.flow(1))
        _ = harness.pass(seconds: 20)
        _ = try harness.check(.init(), on: LiteAgentHarness.flow(2))
        // For a minute nobody read anything. Then one flow's check is read before it is made up for.
        harness.now = harness.now.adding(seconds: 60)
        _ = try harness.check(.init(), on: LiteAgentHarness.flow(2))
        harness.agent.extend(by: 60_000_000_000, at: harness.now)
        #expect(harness.agent.deadline == harness.now.adding(seconds: 10))
        #expect(harness.pass(seconds: 9).removed.isEmpty)
        #expect(harness.pass(seconds: 1).removed == [LiteAgentHarness.flow(1)])
        #expect(harness.pass(seconds: 19).loss == nil, "A check that was just read does not count from later than now.")
        #expect(harness.pass(seconds: 1).loss == .consentExpired)
        var unchecked = try LiteAgentHarness()
        _ = unchecked.pass(seconds: 29)
        unchecked.now = unchecked.now.adding(seconds: 60)
        unchecked.agent.extend(by: 60_000_000_000, at: unchecked.now)
        #expect(unchecked.pass(seconds: 0).loss == nil)
        #expect(unchecked.pass(seconds: 1).loss == .neverChecked)
        // Whatever is added, there is no later than now.
        var odd = try LiteAgentHarness()
        odd.agent.extend(by: .max, at: odd.now)
        #expect(odd.pass(seconds: 30).loss == .neverChecked)
    }
}

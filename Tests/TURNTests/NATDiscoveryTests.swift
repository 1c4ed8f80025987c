import STUN
import TURN
import Testing
import Wire

@Suite("NAT behaviour discovery")
struct NATDiscoveryTests {
    private static let second = IPAddress(ipv4: 0x0A00_0002)

    private func serving() throws -> Lab {
        let lab = try Lab()
        lab.engine.discoveries = [
            try #require(NATDiscovery(Lab.serverIPv4, Self.second, port: 3478, otherPort: 3479))
        ]
        return lab
    }

    private func ask(
        _ lab: Lab, on flow: Flow = LabClient().flow, _ extra: (inout MessageWriter) -> Void = { _ in }
    ) -> Lab.Outcome {
        lab.receive(LabClient().request(.binding, lab, signed: false, extra: extra), on: flow)
    }

    private func addresses(_ bytes: [UInt8]) throws -> (origin: TransportAddress?, other: TransportAddress?, Int?) {
        let message = try Message(bytes.span.bytes)
        return (
            message.plainAddress(.responseOrigin), message.plainAddress(.otherAddress),
            message.range(of: .padding)?.count
        )
    }

    @Test("an answer names where it comes from and the other address and port, as they are told outside")
    func plain() throws {
        let lab = try serving()
        let outcome = ask(lab)
        let answer = try Answer(outcome)
        #expect(answer.isSuccess)
        #expect(answer.mapped == LabClient().flow.remote)
        let (origin, other, padding) = try addresses(answer.bytes)
        #expect(origin == TransportAddress(Lab.external, port: 3478))
        #expect(other == TransportAddress(Self.second, port: 3479))
        #expect(padding == nil)
        #expect(outcome.messages.first?.flow == LabClient().flow)
    }

    @Test(
        "CHANGE-REQUEST: the answer leaves from the socket that it names",
        arguments: [(0, 0x0A00_0001, 3478), (2, 0x0A00_0001, 3479), (4, 0x0A00_0002, 3478), (6, 0x0A00_0002, 3479)]
            as [(UInt32, UInt32, UInt16)])
    func change(flags: UInt32, address: UInt32, port: UInt16) throws {
        let lab = try serving()
        let outcome = ask(lab) { $0.append(.changeRequest, integer: flags) }
        let flow = try #require(outcome.messages.first).flow
        #expect(flow.local == TransportAddress(IPAddress(ipv4: address), port: port))
        #expect(flow.remote == LabClient().flow.remote)
        // And back from the opposite corner.
        let opposite = Flow(.udp, local: flow.local, remote: flow.remote)
        let back = try #require(ask(lab, on: opposite) { $0.append(.changeRequest, integer: flags) }.messages.first)
        #expect(back.flow.local == Lab.listening)
    }

    @Test("RESPONSE-PORT: another port of the source, never another address")
    func responsePort() throws {
        let lab = try serving()
        for size in [2, 4] {
            let outcome = ask(lab) { $0.append(.responsePort, bytes: Array([0x12, 0x34, 0, 0].prefix(size))) }
            let flow = try #require(outcome.messages.first).flow
            #expect(flow.remote == TransportAddress(LabClient().flow.remote.address, port: 0x1234))
            #expect(flow.local == Lab.listening)
        }
    }

    @Test("PADDING: as much as was sent and no more than a datagram", arguments: [(1, 1), (1000, 1000), (9000, 1500)])
    func padding(asked: Int, given: Int) throws {
        let lab = try serving()
        let request = LabClient().request(.binding, lab, signed: false) {
            $0.append(.padding, bytes: [UInt8](repeating: 1, count: asked))
        }
        let answer = try Answer(lab.receive(request, on: LabClient().flow))
        #expect(try addresses(answer.bytes).2 == given)
        if asked >= 1000 { #expect(answer.bytes.count < request.count + 50) }
    }

    @Test(
        "what makes no sense is a bad request",
        arguments: [
            { $0.append(.changeRequest, integer: UInt16(6)) }, { $0.append(.responsePort, bytes: [1]) },
            { $0.append(.responsePort, integer: UInt32(0)) },
            {
                $0.append(.responsePort, integer: UInt32(7) << 16)
                $0.append(.padding, bytes: [0, 0, 0, 0])
            },
        ] as [@Sendable (inout MessageWriter) -> Void])
    func senseless(extra: @Sendable (inout MessageWriter) -> Void) throws {
        let outcome = ask(try serving(), extra)
        #expect(try Answer(outcome).error == 400)
        #expect(outcome.messages.first?.flow == LabClient().flow)
    }

    @Test("where it is not served, over TCP or elsewhere, its attributes are unknown and nothing of it is told")
    func elsewhere() throws {
        let lab = try serving()
        let remote = LabClient().flow.remote
        let flows = [
            Flow(.tcp, local: Lab.listening, remote: remote),
            Flow(.udp, local: TransportAddress(Lab.serverIPv6, port: 3478), remote: remote),
            Flow(.udp, local: TransportAddress(Lab.serverIPv4, port: 5349), remote: remote),
        ]
        for flow in flows {
            #expect(try Answer(ask(lab, on: flow) { $0.append(.changeRequest, integer: UInt32(6)) }).error == 420)
            let answer = try Answer(ask(lab, on: flow))
            #expect(answer.isSuccess)
            #expect(try addresses(answer.bytes).other == nil)
        }
        lab.engine.discoveries = []
        for attribute in [AttributeType.changeRequest, .responsePort, .padding] {
            #expect(try Answer(ask(lab) { $0.append(attribute, integer: UInt32(6)) }).error == 420)
        }
    }

    @Test("its answers count against the prefix of the source like all others")
    func limited() throws {
        let lab = try Lab(answersPerSecond: 5)
        lab.engine.discoveries = [try #require(NATDiscovery(Lab.serverIPv4, Self.second, port: 3478, otherPort: 3479))]
        let answers = (0..<20).count { _ in
            !ask(lab) { $0.append(.changeRequest, integer: UInt32(6)) }.messages.isEmpty
        }
        #expect(answers == 5)
    }

    @Test("needs two addresses and two ports")
    func impossible() {
        #expect(NATDiscovery(Lab.serverIPv4, Lab.serverIPv4, port: 1, otherPort: 2) == nil)
        #expect(NATDiscovery(Lab.serverIPv4, Self.second, port: 1, otherPort: 1) == nil)
        #expect(NATDiscovery(Lab.serverIPv4, Lab.serverIPv6, port: 1, otherPort: 2) == nil)
    }
}

import DatagramIO
import Gateway
import ICE
import OpenSSLCrypto
import SDP
import TestSupport
import Testing
import Wire

@testable import MediaGateway

/// The gateway as the server runs it, on the loopback device. Its clock goes on only while the test waits and looks:
/// what legs may take to connect, and to be checked again, does not run out when a busy machine leaves the test no
/// turn.
final class RunningGateway: Sendable {
    let server: GatewayServer
    /// One of its addresses; the UDP address is in the answers.
    let address: TransportAddress

    private let events = Shared<[GatewayEvent]>([])
    private let clock = ManualClock(Instant(nanoseconds: 1_000_000_000_000))

    /// - Parameter addresses: those of the machine, if it is to follow them.
    init(on addresses: LocalAddresses? = nil, _ change: (inout GatewayConfiguration) -> Void = { _ in }) throws {
        var configuration = GatewayConfiguration()
        configuration.listen = addresses == nil ? [IPAddress(ipv4: 0x7F00_0001)] : []
        configuration.port = 0
        configuration.workers = 1
        change(&configuration)
        let (events, clock) = (events, clock)
        server = try GatewayServer.start(
            configuration, on: addresses ?? LocalAddresses(all: [], preferred: []), clock: { clock.now }
        ) { event in
            events.update { $0.append(event) }
        }
        address = try #require(server.addresses.first)
    }

    var ends: [LegEnd] {
        events.value.compactMap { if case .ended(_, let reason) = $0 { reason } else { nil } }
    }

    /// The participants that have to offer again, in the order of names for each offer that caused it.
    var outdated: [String] {
        events.value.compactMap { if case .outdated(let key) = $0 { key.participant } else { nil } }
    }

    func answer(_ client: LegClient) async throws -> LegAnswer {
        try await server.answer(LegOffer(key: LegKey(call: "call", participant: client.name), sdp: client.offer))
    }

    /// Checks, shakes hands and waits for the keys.
    func connect(_ client: LegClient) async throws {
        let responses = client.responses
        client.check(nominates: true)
        try await wait("an answer to the check") { client.takeAll() >= 0 && client.responses > responses }
        client.startHandshake()
        try await wait("the keys") { client.takeAll() >= 0 && client.isConnected }
    }

    func waitUntilEmpty() async throws {
        // Not what was published before there was anything.
        let published = server.workers.map(\.mailbox.publicationCount)
        try await wait("nothing to be left") {
            let held = self.server.stats
            return zip(server.workers, published).allSatisfy { $0.mailbox.publicationCount > $1 } && held.legs == 0
                && held.connectedLegs == 0 && held.flows == 0 && held.ufrags == 0
                && held.calls == 0 && held.tracks == 0
        }
    }

    func wait(_ what: String, until isSo: () -> Bool) async throws {
        for _ in 0..<12_000 {
            if isSo() { return }
            try await Task.sleep(for: .milliseconds(5))
            clock.advance(milliseconds: 5)
        }
        Issue.record("waited in vain for \(what)")
    }
}

extension LegClient {
    /// Applies the transport parameters of an answer.
    func apply(_ answer: LegAnswer) throws {
        let description = try SessionDescription(parsing: answer.sdp)
        let section = try #require(description.sections.first)
        let ufrag = try #require(section.attributes.iceUfrag)
        let password = try #require(section.attributes.icePassword)
        let text = Array((ufrag + password).utf8)
        let bytes = Base64.decode(text.span.bytes) ?? []
        remote = LocalCredentials(random: bytes.span.bytes)
        expected = section.attributes.fingerprints.compactMap { offered in
            FingerprintFunction.allCases.first { $0.name == offered.algorithm }
                .flatMap { CertificateFingerprint($0, offered.digest) }
        }
        let candidate = try #require(section.candidates.first { $0.transport == "udp" })
        let address = try #require(IPAddress(candidate.address))
        try move(to: TransportAddress(address, port: candidate.port))
    }
}

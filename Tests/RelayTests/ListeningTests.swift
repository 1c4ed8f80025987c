import DatagramIO
import OpenSSLCrypto
import STUN
import TestSupport
import Testing
import Wire

@testable import Relay

/// The relay when the addresses of the machine change.
@Suite("Listening on addresses that change")
struct ListeningTests {
    private let loopback = LoopbackAddresses()
    private var first: IPAddress { loopback.first }
    private var second: IPAddress { loopback.second }

    private func addresses(_ preferred: [IPAddress], used: [IPAddress] = []) -> LocalAddresses {
        var addresses = LocalAddresses(all: preferred + used, preferred: preferred)
        addresses.used += used
        return addresses
    }

    private func address(_ address: IPAddress, of running: RunningRelay) -> TransportAddress {
        TransportAddress(address, port: running.address.port)
    }

    /// A port that is free on both addresses for UDP and TCP.
    private func freePort() throws -> UInt16 {
        for _ in 0..<100 {
            let socket = try DatagramSocket(TransportAddress(first, port: 0), .exclusive)
            guard let port = socket.address?.port,
                (try? StreamListener(TransportAddress(first, port: port), .exclusive)) != nil,
                (try? DatagramSocket(TransportAddress(second, port: port), .exclusive)) != nil,
                (try? StreamListener(TransportAddress(second, port: port), .exclusive)) != nil
            else { continue }
            return port
        }
        throw NoFreePort()
    }

    private struct NoFreePort: Error {}

    @Test("clients of the new address are relayed from it, and those of the old one go on while it is kept")
    func added() throws {
        let running = try RunningRelay(on: addresses([first]))
        let alice = try RelayClient(running.address)
        let aliceRelay = try alice.allocate().get()
        #expect(aliceRelay.address == first)

        #expect(running.server.follow(addresses([second], used: [first])).isEmpty)
        #expect(running.server.addresses == [address(second, of: running)])
        let bob = try RelayClient(address(second, of: running), username: "bob", password: "builder")
        let bobRelay = try bob.allocate().get()
        #expect(bobRelay.address == second)
        // Both are relays of this server, though one is on an address that is gone.
        #expect(try alice.bind(0x4000, bobRelay) == nil)
        #expect(try bob.bind(0x4000, aliceRelay) == nil)
        alice.sendChannel(0x4000, [1])
        #expect(bob.socket.receive()?.bytes == [0x40, 0, 0, 1, 1])
        bob.sendChannel(0x4000, [2])
        #expect(alice.socket.receive()?.bytes == [0x40, 0, 0, 1, 2])
        // New relays are not.
        #expect(try alice.refresh(lifetime: 0) == nil)
        #expect(try alice.allocate().get().address == second)
    }

    @Test("allocations of clients or relays of an address that is gone end, and mobile ones move")
    func removed() throws {
        let running = try RunningRelay(on: addresses([first, second]))
        func mobile(_ client: RelayClient) throws -> (relay: IPAddress?, ticket: [UInt8]) {
            let made = try client.exchange(.allocate) { writer in
                writer.append(.requestedTransport, integer: UInt32(17) << 24)
                writer.append(.mobilityTicket, bytes: [])
            }
            let message = try Message(made.span.bytes)
            let ticket = message.attribute(.mobilityTicket)?.copyToArray()
            return (message.xorAddress(.xorRelayedAddress)?.address, try #require(ticket))
        }
        let old = address(first, of: running)
        // Relays on the address that goes, of clients there; one is mobile.
        let (alice, bob) = try (RelayClient(old), RelayClient(old, username: "bob", password: "builder"))
        _ = try alice.allocate().get()
        let lost = try mobile(bob)
        #expect(lost.relay == first)
        #expect(running.server.follow(addresses([second], used: [first])).isEmpty)
        // A relay on the one that stays, of a client of the one that goes.
        let carol = try RelayClient(old)
        let kept = try mobile(carol)
        #expect(kept.relay == second)
        #expect(running.waits { $0.allocationsLive == 3 })
        #expect(running.server.follow(addresses([second])).isEmpty)
        #expect(running.waits { $0.allocationsLive == 1 })

        func move(_ ticket: [UInt8], of user: String, _ password: String) throws -> (RelayClient, UInt16?) {
            let client = try RelayClient(address(second, of: running), username: user, password: password)
            let response = try client.exchange(.refresh) { $0.append(.mobilityTicket, bytes: ticket) }
            return (client, try Message(response.span.bytes).errorNumber)
        }
        let (moved, error) = try move(kept.ticket, of: "alice", "wonderland")
        #expect(error == nil)
        let (_, refused) = try move(lost.ticket, of: "bob", "builder")
        #expect(refused != nil)
        #expect(try moved.refresh(lifetime: 0) == nil)
        #expect(running.server.outstanding.allocations == 0)
        // Somebody else may have the port now, for UDP and TCP.
        #expect(
            running.waits { _ in
                (try? DatagramSocket(old, .exclusive)) != nil && (try? StreamListener(old, .exclusive)) != nil
            })
    }

    @Test("an address that comes back is relayed from again, on ports that are free")
    func returned() throws {
        // The only two ports. Other tests have other addresses.
        let running = try RunningRelay(on: addresses([first])) {
            $0.minPort = 20_000
            $0.maxPort = 20_001
        }
        let alice = try RelayClient(running.address)
        let aliceRelay = try alice.allocate().get()
        for step in [addresses([second], used: [first]), addresses([first, second])] {
            #expect(running.server.follow(step).isEmpty)
        }
        let bob = try RelayClient(running.address, username: "bob", password: "builder")
        let bobRelay = try bob.allocate().get()
        #expect(bobRelay.address == first && bobRelay.port != aliceRelay.port)
        #expect(try bob.refresh(lifetime: 0) == nil)
        #expect(try alice.refresh(lifetime: 0) == nil)
        #expect(running.server.outstanding.allocations == 0)
    }

    @Test("an address that the machine gets is no peer any more, nor one that it just had")
    func policy() throws {
        let running = try RunningRelay { $0.allowedPeers = [] }
        let alice = try RelayClient(running.address)
        _ = try alice.allocate().get()
        let peer = TransportAddress(IPAddress(ipv4: 0x0808_0808), port: 53)
        #expect(try alice.bind(0x4000, peer) == nil)
        var gone = LocalAddresses(all: [], preferred: [])
        gone.used = [peer.address]
        for there in [LocalAddresses(all: [peer.address], preferred: []), gone] {
            #expect(running.server.follow(there).isEmpty)
            #expect(try alice.bind(0x4001, peer) == 403)
            #expect(try alice.permit(peer) == 403)
        }
        #expect(running.server.follow(LocalAddresses(all: [], preferred: [])).isEmpty)
        #expect(try alice.bind(0x4001, peer) == nil)
    }

    @Test("a service that is open to peers stays so while its address is gone for a moment")
    func openService() throws {
        let running = try RunningRelay { $0.allowedPeers = [] }
        let alice = try RelayClient(running.address)
        _ = try alice.allocate().get()
        let service = TransportAddress(IPAddress(ipv4: 0x0A00_0005), port: 3480)
        #expect(running.server.follow(LocalAddresses(all: [service.address], preferred: [])).isEmpty)
        running.server.openToPeers([service])
        #expect(try alice.bind(0x4000, service) == nil)
        var gone = LocalAddresses(all: [], preferred: [])
        gone.used = [service.address]
        #expect(running.server.follow(gone).isEmpty)
        #expect(running.server.follow(LocalAddresses(all: [service.address], preferred: [])).isEmpty)
        let sent = running.server.counters.packetsToPeers
        #expect(
            running.waits { counters in
                alice.sendChannel(0x4000, [1])
                return counters.packetsToPeers > sent
            })
    }

    @Test("a reload that was read before the addresses changed opens its ports on the new ones too")
    func reload() throws {
        let certificate = try ServerCertificate.forTests()
        var configuration: RelayConfiguration?
        let running = try RunningRelay(on: addresses([first])) {
            $0.certificate = certificate
            configuration = $0
        }
        let port = try freePort()
        var next = try #require(configuration)
        next.tlsPorts = [port]
        let rules = try #require(try running.server.rules(for: next))
        #expect(running.server.follow(addresses([second])).isEmpty)
        running.server.adopt(rules)
        #expect(running.server.tlsAddresses == [TransportAddress(second, port: port)])
        let client = try RelayClient(TransportAddress(second, port: port))
        #expect(try client.allocate().get().address == second)
        // The port on the address that is gone is not open any more.
        #expect(
            running.waits { _ in (try? DatagramSocket(TransportAddress(first, port: port), .exclusive)) != nil })
    }

    @Test("a reload that closes a port closes it on an address that came meanwhile, and can open it again")
    func reloadClosing() throws {
        let certificate = try ServerCertificate.forTests()
        let port = try freePort()
        var configuration: RelayConfiguration?
        let running = try RunningRelay(on: addresses([first])) {
            $0.certificate = certificate
            $0.tlsPorts = [port]
            configuration = $0
        }
        var next = try #require(configuration)
        next.tlsPorts = []
        let rules = try #require(try running.server.rules(for: next))
        #expect(running.server.follow(addresses([first, second])).isEmpty)
        #expect(running.server.adopt(rules).isEmpty)
        #expect(running.server.tlsAddresses.isEmpty)
        #expect(
            running.waits { _ in
                [first, second].allSatisfy {
                    (try? DatagramSocket(TransportAddress($0, port: port), .exclusive)) != nil
                }
            })
        next.tlsPorts = [port]
        let again = try #require(try running.server.rules(for: next))
        #expect(running.server.adopt(again).isEmpty)
        #expect(running.server.tlsAddresses.count == 2)
    }

    // MARK: Ports

    private func behind(_ external: IPAddress, _ local: [IPAddress]) -> RelayAddresses {
        RelayAddresses(local: local, externals: [ExternalAddress(external)])
    }

    @Test("ports in use of an address that is gone are forgotten with the last relay")
    func table() {
        let table = PortTable(RelayAddresses(local: [first], externals: []))
        #expect(table.entries[0].ports.claim(20_000, table.entries[0].mark, of: first))
        #expect(!table.entries[0].ports.claim(20_000, table.entries[0].mark, of: first))
        let next = PortTable(RelayAddresses(local: [second], externals: []), after: table)
        #expect(next.entries.map(\.local) == [second, first] && next.addresses.entries.count == 1)
        let relay = TransportAddress(first, port: 20_000)
        #expect(next.local(of: relay) == relay)
        next.entries[1].ports.release(20_000)
        next.entries[1].ports.release(20_000)
        let last = PortTable(next.addresses, after: next)
        #expect(last.entries.map(\.local) == [second] && last.local(of: relay) == nil)
    }

    @Test("two local addresses behind one external address never share a port, whichever came first")
    func external() throws {
        let external = IPAddress(ipv4: 0xCB00_7105)
        let before = PortTable(behind(external, [first]))
        #expect(before.entries[0].ports.claim(20_000, before.entries[0].mark, of: first))
        let after = PortTable(behind(external, [second, first]), after: before)
        #expect(!after.entries[0].ports.claim(20_000, after.entries[0].mark, of: second))
        #expect(after.entries[0].ports.claim(20_001, after.entries[0].mark, of: second))
        let (old, new) = (TransportAddress(external, port: 20_000), TransportAddress(external, port: 20_001))
        #expect(after.local(of: old) == TransportAddress(first, port: 20_000))
        #expect(after.local(of: new) == TransportAddress(second, port: 20_001))
        #expect(after.local(of: TransportAddress(first, port: 20_001)) == nil)
    }

    @Test("a machine whose addresses change for months relays from the last one as from the first")
    func months() {
        let external = IPAddress(ipv4: 0xCB00_7105)
        var table = PortTable(behind(external, [first]))
        #expect(table.entries[0].ports.claim(20_000, table.entries[0].mark, of: first))
        for day in 0..<2_000 as Range<UInt32> {
            let today = IPAddress(ipv4: 0x0A00_0000 + day)
            table = PortTable(behind(external, [today]), after: table)
            let port = UInt16(20_001 + day)
            #expect(table.entries[0].local == today && table.entries.count == 2)
            #expect(table.entries[0].ports.claim(port, table.entries[0].mark, of: today))
            #expect(table.local(of: TransportAddress(external, port: port)) == TransportAddress(today, port: port))
            table.entries[0].ports.release(port)
        }
        // A mark that is another address's now claims nothing for the former one.
        #expect(!table.entries[0].ports.claim(30_000, table.entries[0].mark, of: IPAddress(ipv4: 0x0A00_0000)))
        #expect(table.local(of: TransportAddress(external, port: 20_000)) == TransportAddress(first, port: 20_000))
    }
}

import STUN
import TURN
import Testing
import Wire

@Suite("Who may be a peer")
struct PeerPolicyTests {
    /// One address of every range that must be forbidden, in every notation, and adjacent ones that must not.
    static let refusedIPv4 = [
        "0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
        "127.255.255.255",
        "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.171", "192.0.2.1", "192.88.99.1",
        "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255",
        "240.0.0.1", "255.255.255.255",
    ]
    static let openIPv4 = [
        "1.0.0.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.1",
        "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.167.255.255", "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
    ]
    static let refusedIPv6 = [
        "::", "::1", "::2", "64:ff9b:1::1", "100::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "3fff::1",
        "4000::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "ffff::",
    ]
    static let openIPv6 = ["2600::2", "2a00:1450:4001::1", "2001:4860:4860::8888", "2003::1", "2620:fe::fe"]

    /// Each way to write an IPv4 address inside of an IPv6 one.
    static func spellings(of text: String) -> [IPAddress] {
        guard let address = IPAddress(text) else { return [] }
        let value = UInt64(address.ipv4)
        return [
            IPAddress(ipv6High: 0, low: 0xFFFF_0000_0000 | value),  // mapped
            IPAddress(ipv6High: 0, low: value),  // compatible
            IPAddress(ipv6High: 0, low: 0xFFFF_0000_0000_0000 | value),  // translated
            IPAddress(ipv6High: 0x2002 << 48 | value << 16, low: 1),  // 6to4
            IPAddress(ipv6High: 0x0064_FF9B << 32, low: value),  // NAT64
            IPAddress(ipv6High: 0x0064_FF9B_0001_0000, low: value),  // NAT64 of a site's own
            IPAddress(ipv6High: 0x2001_0000_0808_0808, low: ~value & 0xFFFF_FFFF),  // Teredo client
            IPAddress(ipv6High: 0x2001_0000 << 32 | value, low: ~0x0808_0808 & 0xFFFF_FFFF),  // Teredo server
            IPAddress(ipv6High: 0x2600 << 48, low: 0x0000_5EFE << 32 | value),  // ISATAP
        ]
    }

    private func isAllowed(_ text: String, port: UInt16 = 5000, in harness: RelayHarness) throws -> Bool {
        isAllowed(try #require(IPAddress(text)), port: port, in: harness)
    }

    private func isAllowed(_ address: IPAddress, port: UInt16 = 5000, in harness: RelayHarness) -> Bool {
        if case .allowed = harness.engine.policy.verdict(on: TransportAddress(address, port: port)) {
            true
        } else {
            false
        }
    }

    @Test("special-purpose addresses are refused", arguments: refusedIPv4 + refusedIPv6)
    func refused(text: String) throws {
        #expect(try !isAllowed(text, in: RelayHarness()))
    }

    @Test("others are not", arguments: openIPv4 + openIPv6)
    func open(text: String) throws {
        #expect(try isAllowed(text, in: RelayHarness()))
    }

    @Test("no IPv6 spelling of a refused IPv4 address passes", arguments: refusedIPv4 + ["10.0.0.1", "45.0.0.1"])
    func spelled(text: String) throws {
        let harness = try RelayHarness()
        for spelling in Self.spellings(of: text) {
            #expect(!isAllowed(spelling, in: harness), "\(spelling)")
        }
    }

    @Test("tunnels to open addresses pass, addresses of sockets do not")
    func tunnels() throws {
        let harness = try RelayHarness()
        let verdicts = Self.spellings(of: "8.8.8.8").map { isAllowed($0, in: harness) }
        #expect(verdicts == [false, false, false, true, true, false, true, true, true])
    }

    @Test("an opened range is open, in its own spelling only")
    func opened() throws {
        let harness = try RelayHarness(allowed: ["192.168.0.0/16", "fd00::/8"])
        #expect(try isAllowed("192.168.1.1", in: harness))
        #expect(try isAllowed("fd00::1", in: harness))
        #expect(try !isAllowed("172.16.0.1", in: harness))
        #expect(try !isAllowed("::ffff:192.168.1.1", in: harness))
        #expect(try !isAllowed("fc00::1", in: harness))
    }

    @Test("a closed range is closed, in every spelling, whatever opens it")
    func closed() throws {
        let harness = try RelayHarness(
            allowed: ["192.168.0.0/16", "::/0"], denied: ["192.168.7.0/24", "8.8.8.0/23", "2600::/15"])
        #expect(try isAllowed("192.168.6.255", in: harness))
        #expect(try !isAllowed("192.168.7.1", in: harness))
        #expect(try isAllowed("8.8.10.1", in: harness))
        #expect(try !isAllowed("8.8.9.255", in: harness))
        #expect(try isAllowed("2602::1", in: harness))
        #expect(try !isAllowed("2601:ffff::1", in: harness))
        for spelling in Self.spellings(of: "8.8.8.8") + Self.spellings(of: "192.168.7.1") {
            #expect(!isAllowed(spelling, in: harness), "\(spelling)")
        }
    }

    @Test("own addresses are reached only at the ports of live relays")
    func own() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        let port = try #require(try client.allocate(harness).relayed?.port)
        for address in ["10.0.0.1", "45.0.0.1"] {
            #expect(try isAllowed(address, port: port, in: harness))
            #expect(try !isAllowed(address, port: port + 1, in: harness))
            #expect(try !isAllowed(address, port: 8080, in: harness))
            #expect(try !isAllowed(address, port: 3478, in: harness))
        }
        // A public own address is refused although its range is open, and so is loopback at a live relay's port.
        #expect(try !isAllowed("2600::1", port: port, in: harness))
        #expect(try !isAllowed("127.0.0.1", port: port, in: harness))
        let verdict = harness.engine.policy.verdict(on: TransportAddress(RelayHarness.external, port: port))
        #expect(verdict == .allowed(destination: TransportAddress(RelayHarness.serverIPv4, port: port), isOwn: true))
        _ = try client.refresh(harness, lifetime: 0)
        #expect(try !isAllowed("45.0.0.1", port: port, in: harness))
    }

    @Test("opening a range with an own address leaves the HTTP ports shut")
    func deniedPorts() throws {
        let harness = try RelayHarness(allowed: ["0.0.0.0/0", "::/0"], deniedOwnPorts: [8080, 8081, 3478])
        for address in ["10.0.0.1", "127.0.0.1", "127.1.2.3", "45.0.0.1", "::1", "2600::1"] {
            #expect(try isAllowed(address, port: 5000, in: harness), "\(address)")
            for port: UInt16 in [8080, 8081, 3478] {
                #expect(try !isAllowed(address, port: port, in: harness), "\(address) \(port)")
            }
        }
        // Nor through another spelling of it, and never by the wildcard.
        for spelling in Self.spellings(of: "10.0.0.1") + Self.spellings(of: "127.0.0.1") {
            #expect(!isAllowed(spelling, port: 8080, in: harness), "\(spelling)")
        }
        #expect(try !isAllowed("0.0.0.0", in: harness))
        #expect(try !isAllowed("::", in: harness))
    }

    @Test("two relayed clients reach each other, and see external addresses")
    func relayToRelay() throws {
        let harness = try RelayHarness()
        var alice = TestClient(port: 1)
        var bob = TestClient(port: 2, username: "bob", password: "builder")
        let toAlice = try #require(try alice.allocate(harness).relayed)
        let aliceRelay = try #require(harness.bound.first?.key)
        let toBob = try #require(try bob.allocate(harness).relayed)
        #expect(try alice.bind(harness, 0x4000, toBob).isSuccess)
        #expect(try bob.permit(harness, toAlice).isSuccess)
        let local = TransportAddress(RelayHarness.serverIPv4, port: toBob.port)
        #expect(alice.sendChannel(harness, 0x4000, [1])?.destination == local)
        #expect(
            harness.engine.receiveFromPeer(on: aliceRelay, from: local, byteCount: 100, at: harness.now)
                == ToClient(flow: alice.flow, framing: .channel(0x4000)))
        let bobRelay = try #require(harness.bound.keys.first { $0 != aliceRelay })
        #expect(
            harness.engine.receiveFromPeer(
                on: bobRelay, from: TransportAddress(RelayHarness.serverIPv4, port: toAlice.port), byteCount: 100,
                at: harness.now)
                == ToClient(flow: bob.flow, framing: .indication(toAlice)))
        // Another program on this machine has the permitted address, but not a relay's port.
        let program = TransportAddress(RelayHarness.serverIPv4, port: 53)
        #expect(harness.engine.receiveFromPeer(on: bobRelay, from: program, byteCount: 100, at: harness.now) == nil)
        #expect(bob.send(harness, [1], to: TransportAddress(RelayHarness.external, port: 53)) == nil)
        // When Alice's relay is gone, her port is nobody's.
        _ = try alice.refresh(harness, lifetime: 0)
        #expect(bob.send(harness, [1], to: toAlice) == nil)
    }

    @Test("requests from own relay ports are dropped: a chain of relays would be a loop")
    func loops() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        let port = try #require(try client.allocate(harness).relayed?.port)
        let looping = TestClient(port: port, remote: RelayHarness.serverIPv4.ipv4)
        for method in [0x001, 0x003] as [UInt16] {
            let bytes = looping.request(.init(rawValue: method), harness, signed: false)
            #expect(harness.receive(bytes, on: looping.flow).messages.isEmpty)
        }
        #expect(harness.engine.counters.loops == 2)
    }

    @Test("a service of this server that is open to all is open to peers too, under either of its addresses")
    func openOwn() throws {
        let harness = try RelayHarness()
        let gateway = TransportAddress(RelayHarness.serverIPv4, port: 3480)
        func policy(denied: [String]) -> PeerPolicy {
            PeerPolicy(
                allowed: [], denied: denied.compactMap { AddressRange($0) },
                own: [RelayHarness.serverIPv4, RelayHarness.serverIPv6],
                externals: [(RelayHarness.external, RelayHarness.serverIPv4)], deniedOwnPorts: [8080],
                openOwn: [gateway],
                live: harness.relays)
        }
        let open = policy(denied: [])
        for address in [RelayHarness.serverIPv4, RelayHarness.external] {
            #expect(
                open.verdict(on: TransportAddress(address, port: 3480)) == .allowed(destination: gateway, isOwn: true))
            #expect(open.verdict(on: TransportAddress(address, port: 3481)) == .forbidden)
        }
        #expect(open.verdict(on: TransportAddress(RelayHarness.serverIPv6, port: 3480)) == .forbidden)
        #expect(open.verdict(on: TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 3480)) == .forbidden)
        let closed = policy(denied: ["\(RelayHarness.serverIPv4)/32"])
        #expect(closed.verdict(on: gateway) == .forbidden)
    }
}

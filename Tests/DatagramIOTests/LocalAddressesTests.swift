import CLinux
import Testing
import Wire

@testable import DatagramIO

/// What the kernel tells of the machine's addresses, in messages written by hand after rtnetlink(7).
@Suite("The machine's addresses")
struct LocalAddressesTests {
    // MARK: Messages

    private func native<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }

    private func message(_ type: Int, flags: UInt16 = 0, _ body: [UInt8] = []) -> [UInt8] {
        native(UInt32(16 + body.count)) + native(UInt16(type)) + native(flags) + native(UInt32(1)) + native(UInt32(0))
            + body
    }

    private func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
        return native(UInt16(4 + value.count)) + native(UInt16(type)) + value + padding
    }

    private func link(_ index: UInt32, isUp: Bool) -> [UInt8] {
        let body =
            [UInt8](repeating: 0, count: 4) + native(index) + native(UInt32(isUp ? IFF_UP : 0)) + native(UInt32(0))
        return message(Int(RTM_NEWLINK), body + attribute(3, Array("eth0\0".utf8)))
    }

    private func address(_ text: String, on interface: UInt32 = 1, flags: Int32 = 0, peer: String? = nil) throws
        -> [UInt8]
    {
        let address = try #require(IPAddress(text))
        var bytes: [UInt8] = []
        bytes.append(address)
        let family = UInt8(address.family == .ipv4 ? AF_INET : AF_INET6)
        var body = [family, 24, UInt8(truncatingIfNeeded: flags), 0] + native(interface)
        if let peer = try peer.map({ try #require(IPAddress($0)) }) {
            var bytesOfPeer: [UInt8] = []
            bytesOfPeer.append(peer)
            body += attribute(Int(IFA_ADDRESS), bytesOfPeer) + attribute(Int(IFA_LOCAL), bytes)
        } else {
            body += attribute(Int(IFA_ADDRESS), bytes)
        }
        return message(Int(RTM_NEWADDR), body + attribute(Int(IFA_FLAGS), native(UInt32(bitPattern: flags))))
    }

    private func read(_ messages: [[UInt8]]) -> [NetlinkMessage] {
        let bytes = messages.flatMap { $0 }
        return NetlinkMessages(bytes.span.bytes).messages
    }

    @Test("only preferred addresses of interfaces that are up are for clients")
    func preferred() throws {
        let messages = try read([
            link(1, isUp: true), link(2, isUp: false), address("127.0.0.1"), address("192.0.2.7"),
            address("192.0.2.8", on: 2), address("2001:db8::1"),
            address("2001:db8::2", flags: IFA_F_TENTATIVE), address("2001:db8::3", flags: IFA_F_DEPRECATED),
            address("2001:db8::4", flags: IFA_F_TENTATIVE | IFA_F_DADFAILED),
            address("2001:db8::5", flags: IFA_F_TEMPORARY), address("fe80::1"), address("192.0.2.7"),
            address("10.8.0.2", peer: "10.8.0.1"), message(Int(NLMSG_DONE), native(UInt32(0))),
        ])
        #expect(messages.last == .done)
        let addresses = LocalAddresses(messages)
        #expect(
            addresses.preferred.map(\.description)
                == ["127.0.0.1", "192.0.2.7", "2001:db8::1", "2001:db8::5", "10.8.0.2"])
        #expect(Set(addresses.all).subtracting(addresses.preferred).count == 3)
        #expect(addresses.used == addresses.preferred)
    }

    @Test("errors, and tables that changed while they were read, are seen")
    func failures() {
        #expect(read([message(Int(NLMSG_ERROR), native(Int32(-1)))]) == [.failed])
        #expect(read([message(Int(NLMSG_DONE), native(Int32(-4)))]) == [.failed])
        #expect(read([message(Int(NLMSG_DONE))]) == [.done])
        for isInterrupted in [false, true] {
            let flags = UInt16(NLM_F_MULTI) | (isInterrupted ? UInt16(NLM_F_DUMP_INTR) : 0)
            let bytes = message(Int(RTM_NEWADDR), flags: flags) + message(Int(NLMSG_DONE))
            #expect(NetlinkMessages(bytes.span.bytes).isInterrupted == isInterrupted)
        }
    }

    @Test("messages that are cut off or wrong are never read beyond their end")
    func broken() throws {
        let whole = try link(1, isUp: true) + address("192.0.2.7") + address("2001:db8::1", peer: "2001:db8::2")
        for count in 0..<whole.count {
            let bytes = Array(whole[..<count])
            #expect(NetlinkMessages(bytes.span.bytes).messages.count < 3)
        }
        var random = SeededRandom(seed: 19)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<3 {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            let messages = NetlinkMessages(bytes.span.bytes).messages
            #expect(messages.count <= bytes.count / 16)
        }
    }

    @Test("the kernel tells of the loopback device")
    func own() throws {
        let addresses = try #require(LocalAddresses.read())
        #expect(addresses.preferred.contains(IPAddress(ipv4: 0x7F00_0001)))
        #expect(Set(addresses.preferred).isSubset(of: addresses.all))
    }

    // MARK: Changes

    private let first = IPAddress(ipv4: 0xC000_0201)
    private let second = IPAddress(ipv4: 0xC000_0202)

    private func found(_ preferred: [IPAddress], alsoThere: [IPAddress] = []) -> LocalAddresses {
        LocalAddresses(all: preferred + alsoThere, preferred: preferred)
    }

    @Test("an address that is gone is used for a minute more")
    func lingering() {
        var tracker = AddressTracker(found([first]))
        var now = Instant(nanoseconds: 1_000_000_000)
        let unchanged = tracker.update(found([first]), at: now)
        #expect(!unchanged && tracker.deadline == nil)
        let replaced = tracker.update(found([second]), at: now)
        #expect(replaced && tracker.addresses.used == [second, first] && tracker.addresses.preferred == [second])
        #expect(tracker.deadline == now.adding(seconds: 60))
        now = now.adding(seconds: 59)
        let early = tracker.update(found([second]), at: now)
        #expect(!early && tracker.addresses.used == [second, first])
        now = now.adding(seconds: 1)
        let late = tracker.update(found([second]), at: now)
        #expect(late && tracker.addresses.used == [second] && tracker.deadline == nil)
    }

    @Test("an address that comes back begins anew when it goes again")
    func returning() {
        var tracker = AddressTracker(found([first]))
        var now = Instant(nanoseconds: 1_000_000_000)
        _ = tracker.update(found([]), at: now)
        now = now.adding(seconds: 50)
        let returned = tracker.update(found([first]), at: now)
        #expect(returned && tracker.addresses.used == [first] && tracker.deadline == nil)
        _ = tracker.update(found([]), at: now)
        #expect(tracker.deadline == now.adding(seconds: 60))
    }

    @Test("a deprecated address is used for as long as it is there, one that never was preferred is not")
    func deprecated() {
        var tracker = AddressTracker(found([first]))
        var now = Instant(nanoseconds: 1_000_000_000)
        let isDeprecated = tracker.update(found([second], alsoThere: [first]), at: now)
        #expect(isDeprecated && tracker.addresses.used == [second, first] && tracker.deadline == nil)
        now = now.adding(seconds: 3_600)
        let isSame = tracker.update(found([second], alsoThere: [first]), at: now)
        #expect(!isSame)
        _ = tracker.update(found([second]), at: now)
        #expect(tracker.deadline == now.adding(seconds: 60))
        var other = AddressTracker(found([second], alsoThere: [first]))
        let isUnused = other.update(found([second]), at: now)
        #expect(isUnused && other.addresses.used == [second] && other.deadline == nil)
    }
}

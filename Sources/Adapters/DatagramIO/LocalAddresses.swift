internal import CLinux
package import Wire

/// The addresses of this machine's interfaces that are up, without IPv6 link-local ones, which need a scope.
package struct LocalAddresses: Hashable, Sendable {
    /// All of them.
    package var all: [IPAddress] = []
    /// Those that clients may be given: not IPv6 addresses that are still being checked for duplicates (tentative) or are
    /// about to go (deprecated).
    package var preferred: [IPAddress] = []
    /// Those that clients may still be using: the preferred ones, deprecated ones that were preferred, and those that
    /// have been gone for less than a minute.
    package var used: [IPAddress] = []

    package init(all: [IPAddress], preferred: [IPAddress]) {
        self.all = all
        self.preferred = preferred
        used = preferred
    }

    /// The current ones; none if the system does not tell.
    package static func current() -> LocalAddresses { read() ?? LocalAddresses(all: [], preferred: []) }

    /// The current ones, from the kernel's tables; nil if it cannot be asked.
    static func read() -> LocalAddresses? {
        for _ in 0..<3 {
            guard let interfaces = NetlinkSocket.dump(.interfaces), let addresses = NetlinkSocket.dump(.addresses)
            else { continue }
            return LocalAddresses(interfaces + addresses)
        }
        return nil
    }

    init(_ messages: [NetlinkMessage]) {
        var up: Set<UInt32> = []
        for case .interface(let index, isUp: true) in messages { up.insert(index) }
        var (all, preferred): ([IPAddress], [IPAddress]) = ([], [])
        for case .address(let found) in messages
        where up.contains(found.interface) && !found.address.isLinkLocalIPv6 && !found.address.isUnspecified {
            if !all.contains(found.address) { all.append(found.address) }
            if found.isPreferred, !preferred.contains(found.address) { preferred.append(found.address) }
        }
        self.init(all: all, preferred: preferred)
    }
}

/// A socket for the kernel's network configuration (rtnetlink(7)).
struct NetlinkSocket: ~Copyable {
    enum Table {
        case interfaces
        case addresses
    }

    private static let bufferByteCount = 64 * 1024

    let descriptor: Int32

    /// Takes ownership of a descriptor from `release`.
    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// - Parameter isNotified: whether it becomes readable when an interface or address changes.
    init?(isNotified: Bool) {
        descriptor = clinux_netlink(
            isNotified ? UInt32(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR) : 0)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Releases the descriptor without closing it.
    consuming func release() -> Int32 {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    /// The entries of a table; nil if they changed meanwhile, or the kernel cannot be asked.
    static func dump(_ table: Table) -> [NetlinkMessage]? {
        guard let socket = NetlinkSocket(isNotified: false),
            clinux_netlink_dump(
                socket.descriptor, UInt16(table == .interfaces ? RTM_GETLINK : RTM_GETADDR)) == 0
        else { return nil }
        let buffer = SharedBuffer(byteCount: bufferByteCount)
        var entries: [NetlinkMessage] = []
        while true {
            let count = clinux_netlink_receive(
                socket.descriptor, buffer.bytes.baseAddress, UInt(bitPattern: buffer.bytes.count))
            guard count >= 0 else { return nil }
            let received = UnsafeRawBufferPointer(rebasing: buffer.bytes[0..<min(Int(count), buffer.bytes.count)])
            let read = NetlinkMessages(received.bytes)
            guard !read.isInterrupted else { return nil }
            for message in read.messages {
                switch message {
                case .done: return entries
                case .failed: return nil
                case .interface, .address: entries.append(message)
                case .other: break
                }
            }
        }
    }

    /// Reads all notifications, which only say that something changed: the tables tell what, also when some were lost.
    func clear() {
        let buffer = SharedBuffer(byteCount: Self.bufferByteCount)
        while clinux_netlink_receive(
            descriptor, buffer.bytes.baseAddress, UInt(bitPattern: buffer.bytes.count)) >= 0
            || clinux_errno() == ENOBUFS || clinux_errno() == EMSGSIZE || clinux_errno() == EINTR
        {}
    }
}

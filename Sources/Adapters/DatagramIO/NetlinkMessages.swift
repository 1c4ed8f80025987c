internal import CLinux
package import Wire

/// An address of an interface, as the kernel describes it (`ifaddrmsg`, rtnetlink(7)).
struct InterfaceAddress: Hashable, Sendable {
    let address: IPAddress
    let interface: UInt32
    /// `IFA_F_…`.
    let flags: UInt32

    /// Whether programs may use it for something new: duplicate address detection is done, and succeeded, and the
    /// address is not about to go (RFC 4862 section 5.5.4). IPv4 addresses are always preferred.
    var isPreferred: Bool { flags & UInt32(IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED) == 0 }
}

/// A message about interfaces and their addresses.
enum NetlinkMessage: Hashable, Sendable {
    case interface(UInt32, isUp: Bool)
    case address(InterfaceAddress)
    /// All entries were sent.
    case done
    /// The kernel refuses the request.
    case failed
    case other
}

/// Reads the messages of one datagram of the kernel (netlink(7)): a header of 16 bytes, and a body of its length; all
/// integers are in the machine's byte order. What is cut off is not read.
struct NetlinkMessages {
    private static let headerByteCount = 16
    private static let attributeHeaderByteCount = 4
    private static let addressByteCount = 8
    private static let interfaceByteCount = 16

    private(set) var messages: [NetlinkMessage] = []
    /// Whether the entries changed while they were read: `NLM_F_DUMP_INTR`, which any message may have.
    private(set) var isInterrupted = false

    init(_ bytes: RawSpan) {
        var offset = 0
        while let count = bytes.native(at: offset, as: UInt32.self).map({ Int($0) }), count >= Self.headerByteCount,
            let message = bytes.part(offset..<offset &+ count)
        {
            messages.append(Self.message(message))
            if let flags = message.native(at: 6, as: UInt16.self), flags & UInt16(NLM_F_DUMP_INTR) != 0 {
                isInterrupted = true
            }
            offset &+= Self.aligned(count)
        }
    }

    private static func aligned(_ count: Int) -> Int { (count &+ 3) & ~3 }

    private static func message(_ bytes: RawSpan) -> NetlinkMessage {
        guard let type = bytes.native(at: 4, as: UInt16.self),
            let body = bytes.part(headerByteCount..<bytes.byteCount)
        else { return .other }
        switch Int32(type) {
        // With an error of the dump, where there was one.
        case Int32(NLMSG_DONE): return body.native(at: 0, as: UInt32.self) ?? 0 == 0 ? .done : .failed
        case Int32(NLMSG_ERROR): return .failed
        case Int32(RTM_NEWLINK):
            guard body.byteCount >= interfaceByteCount, let index = body.native(at: 4, as: UInt32.self),
                let flags = body.native(at: 8, as: UInt32.self)
            else { return .other }
            return .interface(index, isUp: flags & UInt32(IFF_UP) != 0)
        case Int32(RTM_NEWADDR): return address(body).map { .address($0) } ?? .other
        default: return .other
        }
    }

    private static func address(_ body: RawSpan) -> InterfaceAddress? {
        guard let shortFlags = body.byte(at: 2), let interface = body.native(at: 4, as: UInt32.self) else { return nil }
        var (local, address): (IPAddress?, IPAddress?)
        var flags = UInt32(shortFlags)
        var offset = addressByteCount
        while let count = body.native(at: offset, as: UInt16.self).map({ Int($0) }), count >= attributeHeaderByteCount,
            let type = body.native(at: offset &+ 2, as: UInt16.self),
            let value = body.part(offset &+ attributeHeaderByteCount..<offset &+ count)
        {
            switch Int(type) {
            case Int(IFA_LOCAL): local = IPAddress(bytes: value)
            case Int(IFA_ADDRESS): address = IPAddress(bytes: value)
            case Int(IFA_FLAGS): flags = value.native(at: 0, as: UInt32.self) ?? flags
            default: break
            }
            offset &+= aligned(count)
        }
        // Of a point-to-point link, `IFA_ADDRESS` is the other end.
        return (local ?? address).map { InterfaceAddress(address: $0, interface: interface, flags: flags) }
    }
}

extension RawSpan {
    /// An integer in the machine's own byte order.
    fileprivate func native<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type) -> Value? {
        integer(at: offset, as: type)?.bigEndian
    }
}

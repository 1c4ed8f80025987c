internal import CLinux
package import Wire

/// An address in the form the kernel reads: a `sockaddr_in` or `sockaddr_in6` in 28 bytes.
struct SocketAddress {
    /// `sockaddr_in` uses the same bytes: both begin with the family.
    var storage = sockaddr_in6()
    var byteCount: UInt32 = 0

    init() {}

    init(_ address: TransportAddress) {
        byteCount = write(address, to: &storage)
    }
}

private let ipv4ByteCount = UInt32(MemoryLayout<sockaddr_in>.size)
private let ipv6ByteCount = UInt32(MemoryLayout<sockaddr_in6>.size)

/// Fills a kernel address and returns its size.
@inline(__always)
func write(_ address: TransportAddress, to target: UnsafeMutablePointer<sockaddr_in6>) -> UInt32 {
    switch address.address.family {
    case .ipv4:
        UnsafeMutableRawPointer(target).withMemoryRebound(to: sockaddr_in.self, capacity: 1) { target in
            target.pointee = sockaddr_in()
            target.pointee.sin_family = sa_family_t(AF_INET)
            target.pointee.sin_port = address.port.bigEndian
            target.pointee.sin_addr.s_addr = address.address.ipv4.bigEndian
        }
        return ipv4ByteCount
    case .ipv6:
        target.pointee = sockaddr_in6()
        target.pointee.sin6_family = sa_family_t(AF_INET6)
        target.pointee.sin6_port = address.port.bigEndian
        withUnsafeMutableBytes(of: &target.pointee.sin6_addr) { bytes in
            bytes.storeBytes(of: address.address.high.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: address.address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return ipv6ByteCount
    }
}

/// The address from the kernel; nil for a family other than IPv4 and IPv6.
@inline(__always)
func read(_ source: UnsafePointer<sockaddr_in6>) -> TransportAddress? {
    switch Int32(source.pointee.sin6_family) {
    case AF_INET:
        UnsafeRawPointer(source).withMemoryRebound(to: sockaddr_in.self, capacity: 1) { source in
            TransportAddress(
                IPAddress(ipv4: UInt32(bigEndian: source.pointee.sin_addr.s_addr)),
                port: UInt16(bigEndian: source.pointee.sin_port))
        }
    case AF_INET6:
        withUnsafeBytes(of: source.pointee.sin6_addr) { bytes in
            TransportAddress(
                IPAddress(
                    ipv6High: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                    low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))),
                port: UInt16(bigEndian: source.pointee.sin6_port))
        }
    default:
        nil
    }
}

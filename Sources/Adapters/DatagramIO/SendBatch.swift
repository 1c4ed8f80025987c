internal import CLinux
package import Wire

/// Datagrams to be sent with as few system calls as their sockets allow.
///
/// `append` keeps only where the bytes lie, so they must stay until `flush`; `appendCopy` is for bytes that do not.
/// What the kernel refuses is lost, as on a wire: `dropped` counts it.
package struct SendBatch: ~Copyable {
    package static let capacity = 128
    private static let arenaByteCount = 64 * 1024
    /// More ICMP messages than this between two system calls cost a datagram.
    private static let attempts = 2

    package private(set) var count = 0
    package private(set) var dropped: UInt64 = 0
    /// Calls made and datagrams sent by them.
    package private(set) var calls: UInt64 = 0
    package private(set) var sent: UInt64 = 0
    package private(set) var sizes = BatchSizes()
    private var arenaUsed = 0
    private let arena: UnsafeMutableRawPointer
    private let headers: UnsafeMutablePointer<mmsghdr>
    private let vectors: UnsafeMutablePointer<iovec>
    private let names: UnsafeMutablePointer<sockaddr_in6>
    private let sockets: UnsafeMutablePointer<Int32>

    package init() {
        arena = .allocate(byteCount: Self.arenaByteCount, alignment: 64)
        headers = .allocate(capacity: Self.capacity)
        vectors = .allocate(capacity: Self.capacity)
        names = .allocate(capacity: Self.capacity)
        sockets = .allocate(capacity: Self.capacity)
        vectors.initialize(repeating: iovec(), count: Self.capacity)
        names.initialize(repeating: sockaddr_in6(), count: Self.capacity)
        sockets.initialize(repeating: -1, count: Self.capacity)
        for index in 0..<Self.capacity {
            var header = mmsghdr()
            header.msg_hdr.msg_name = UnsafeMutableRawPointer(names + index)
            header.msg_hdr.msg_iov = vectors + index
            header.msg_hdr.msg_iovlen = 1
            (headers + index).initialize(to: header)
        }
    }

    deinit {
        arena.deallocate()
        headers.deallocate()
        vectors.deallocate()
        names.deallocate()
        sockets.deallocate()
    }

    /// Sends these bytes at the next `flush`, which happens by itself when the batch is full.
    package mutating func append(
        _ bytes: UnsafeRawBufferPointer, from socket: Int32, to destination: TransportAddress
    ) {
        if count == Self.capacity { flush() }
        vectors[count] = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
        headers[count].msg_hdr.msg_namelen = write(destination, to: names + count)
        sockets[count] = socket
        count &+= 1
    }

    /// The same for bytes that will be gone by then.
    package mutating func appendCopy(_ bytes: RawSpan, from socket: Int32, to destination: TransportAddress) {
        guard bytes.byteCount <= Self.arenaByteCount else {
            dropped &+= 1
            return
        }
        if count == Self.capacity || arenaUsed &+ bytes.byteCount > Self.arenaByteCount { flush() }
        let copy = UnsafeMutableRawBufferPointer(start: arena + arenaUsed, count: bytes.byteCount)
        bytes.withUnsafeBytes { copy.copyMemory(from: $0) }
        arenaUsed &+= bytes.byteCount
        append(UnsafeRawBufferPointer(copy), from: socket, to: destination)
    }

    /// Sends everything, neighbours of one socket together.
    package mutating func flush() {
        var start = 0
        while start < count {
            var end = start &+ 1
            while end < count, sockets[end] == sockets[start] { end &+= 1 }
            send(start..<end)
            start = end
        }
        count = 0
        arenaUsed = 0
    }

    private mutating func send(_ range: Range<Int>) {
        var next = range.lowerBound
        var attempts = 0
        while next < range.upperBound {
            let status = Int(
                clinux_send(sockets[next], headers + next, UInt32(truncatingIfNeeded: range.upperBound &- next)))
            calls &+= 1
            if status > 0 {
                sent &+= UInt64(truncatingIfNeeded: status)
                sizes.count(status)
                next &+= status
                attempts = 0
            } else if attempts < Self.attempts, clinux_errno() != EAGAIN {
                // A socket that keeps errors fails once for an ICMP message about an earlier datagram. This one is not to
                // blame.
                attempts &+= 1
            } else {
                attempts = 0
                // A full buffer, an unreachable peer: this one is lost, the next may pass.
                dropped &+= 1
                next &+= 1
            }
        }
    }
}

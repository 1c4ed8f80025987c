internal import CLinux
package import Wire

/// Buffers for received datagrams: many are received at a time, and forwarded in place.
///
/// Each slot has headroom before the datagram for a header to prepend, and a few bytes after it for padding. Slots are
/// reused only after `reset`, which must follow after everything was sent.
package struct ReceiveBatch: ~Copyable {
    package static let capacity = 64
    package static let headroom = 64
    /// A larger datagram is dropped. Jumbo frames fit.
    package static let maximumByteCount = 9024
    /// An odd number of cache lines, so that the slots' first lines do not all share one cache set.
    private static let stride = 143 * 64
    private static let stampByteCount = Int(CLINUX_STAMP_CONTROL)

    package private(set) var used = 0
    private let memory: UnsafeMutableRawPointer
    private let headers: UnsafeMutablePointer<mmsghdr>
    private let vectors: UnsafeMutablePointer<iovec>
    private let names: UnsafeMutablePointer<sockaddr_in6>
    /// Control buffers for the kernel's timestamps, if enabled.
    private let stamps: UnsafeMutableRawPointer?

    /// - Parameter hasArrivals: allocate buffers for arrival times, for sockets with `stampArrivals`.
    package init(hasArrivals: Bool = false) {
        memory = .allocate(byteCount: Self.stride * Self.capacity, alignment: 64)
        headers = .allocate(capacity: Self.capacity)
        vectors = .allocate(capacity: Self.capacity)
        names = .allocate(capacity: Self.capacity)
        names.initialize(repeating: sockaddr_in6(), count: Self.capacity)
        stamps = hasArrivals ? .allocate(byteCount: Self.stampByteCount * Self.capacity, alignment: 16) : nil
        for slot in 0..<Self.capacity {
            vectors[slot] = iovec(
                iov_base: memory + slot * Self.stride + Self.headroom, iov_len: Self.maximumByteCount)
            var header = mmsghdr()
            header.msg_hdr.msg_name = UnsafeMutableRawPointer(names + slot)
            header.msg_hdr.msg_namelen = UInt32(MemoryLayout<sockaddr_in6>.size)
            header.msg_hdr.msg_iov = vectors + slot
            header.msg_hdr.msg_iovlen = 1
            if let stamps {
                header.msg_hdr.msg_control = stamps + slot * Self.stampByteCount
                header.msg_hdr.msg_controllen = Self.stampByteCount
            }
            (headers + slot).initialize(to: header)
        }
    }

    deinit {
        memory.deallocate()
        headers.deallocate()
        vectors.deallocate()
        names.deallocate()
        stamps?.deallocate()
    }

    /// Receives into up to `limit` free slots and returns their range.
    package mutating func receive(from socket: Int32, limit: Int) -> Range<Int> {
        let requested = min(limit, Self.capacity &- used)
        guard requested > 0 else { return used..<used }
        var count = Int(clinux_receive(socket, headers + used, UInt32(truncatingIfNeeded: requested)))
        if count < 0, clinux_errno() != EAGAIN {
            // An ICMP error for something sent earlier was reported instead; the datagrams are still there.
            count = Int(clinux_receive(socket, headers + used, UInt32(truncatingIfNeeded: requested)))
        }
        guard count > 0 else { return used..<used }
        let received = used..<min(used &+ count, Self.capacity)
        used = received.upperBound
        return received
    }

    /// Frees all slots. Only after everything that points into them was sent.
    package mutating func reset() {
        for slot in 0..<used {
            headers[slot].msg_hdr.msg_namelen = UInt32(MemoryLayout<sockaddr_in6>.size)
            if stamps != nil { headers[slot].msg_hdr.msg_controllen = Self.stampByteCount }
        }
        used = 0
    }

    /// The sender of the datagram; nil when it was truncated or the address family is unknown.
    package func source(of slot: Int) -> TransportAddress? {
        guard slot < used, clinux_was_truncated(headers + slot) == 0 else { return nil }
        return read(names + slot)
    }

    /// When the datagram reached the kernel, in nanoseconds of the wall clock; nil without a timestamp.
    package func arrival(of slot: Int) -> UInt64? {
        guard stamps != nil, slot < used else { return nil }
        let time = clinux_arrival(headers + slot)
        return time > 0 ? time : nil
    }

    /// The datagram in its slot.
    package func datagram(_ slot: Int) -> UnsafeMutableRawBufferPointer {
        guard slot < used else { return UnsafeMutableRawBufferPointer(start: nil, count: 0) }
        return UnsafeMutableRawBufferPointer(
            start: vectors[slot].iov_base, count: min(Int(headers[slot].msg_len), Self.maximumByteCount))
    }

    /// The datagram with `before` bytes of headroom and `after` zero bytes appended; nil when there is no space.
    package func widened(_ slot: Int, before: Int, after: Int) -> UnsafeMutableRawBufferPointer? {
        let datagram = datagram(slot)
        guard let start = datagram.baseAddress, (0...Self.headroom).contains(before), (0...4).contains(after) else {
            return nil
        }
        (start + datagram.count).initializeMemory(as: UInt8.self, repeating: 0, count: after)
        return UnsafeMutableRawBufferPointer(start: start - before, count: before &+ datagram.count &+ after)
    }
}

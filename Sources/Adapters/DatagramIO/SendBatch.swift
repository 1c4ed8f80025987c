internal import CLinux
package import Wire

/// Sends datagrams with as few system calls, and as few passes through the network stack, as possible.
///
/// `append` stores only a pointer to the bytes, so they must stay valid until `flush`; `appendCopy` copies them.
/// Datagrams that the kernel does not take are lost: `dropped` counts them. A batch with a queue keeps what a full
/// socket does not take and sends it, in order, when the socket is writable again (`sendUnsent`).
///
/// Most of a relay's time is spent in the kernel between `sendmsg` and the device, once per datagram. Datagrams of one
/// size from one socket to one destination, such as a burst of video, pass together (generic segmentation offload) and
/// are split at the end. If that fails, each is sent by itself.
package struct SendBatch: ~Copyable {
    package static let capacity = 128
    private static let arenaByteCount = 64 * 1024
    /// More pending ICMP errors than this cost a datagram.
    private static let attempts = 2
    /// The kernel's limit of datagrams in a message, and of their bytes, which must fit a 16-bit length with the
    /// headers.
    private static let segmentLimit = 64
    private static let segmentedByteCount = 65_000
    /// Fits the usual MTU of 1,500 with the headers of IPv6 and UDP: a larger one might have to be fragmented.
    private static let maxSegment = 1452
    /// The family, port and address of an IPv4 sockaddr take its first 8 bytes; the rest is padding.
    private static let ipv4NameSize = UInt32(MemoryLayout<sockaddr_in>.size)

    package private(set) var count = 0
    package private(set) var dropped: UInt64 = 0
    /// Datagrams that waited until their socket was writable.
    package private(set) var queued: UInt64 = 0
    /// Bytes for each socket; 0: no queue.
    private let queueLimit: Int
    private var unsent: [UnsentDatagrams] = []
    /// System calls, and datagrams sent by them.
    package private(set) var calls: UInt64 = 0
    package private(set) var sent: UInt64 = 0
    package private(set) var sizes = BatchSizes()
    /// The largest datagram that may be a segment: lowered when a path rejects it, 0 if the device has no support.
    private var maxSegment = SendBatch.maxSegment
    private var arenaUsed = 0
    private let arena: UnsafeMutableRawPointer
    // Datagrams as they were appended: their bytes, destinations and sockets.
    private let datagrams: UnsafeMutablePointer<iovec>
    private let names: UnsafeMutablePointer<sockaddr_in6>
    private let nameSizes: UnsafeMutablePointer<UInt32>
    private let sockets: UnsafeMutablePointer<Int32>
    /// A hash of socket and destination of each datagram.
    private let keys: UnsafeMutablePointer<UInt64>
    // The messages that `flush` makes of them: runs of `vectors`, which are the datagrams in sending order.
    private let headers: UnsafeMutablePointer<mmsghdr>
    private let vectors: UnsafeMutablePointer<iovec>
    /// Which datagrams are video, in the order of appending and in the order of `vectors`.
    private let videos: UnsafeMutablePointer<Bool>
    private let vectorVideos: UnsafeMutablePointer<Bool>
    private let messageSockets: UnsafeMutablePointer<Int32>
    private let controls: UnsafeMutableRawPointer

    /// - Parameter queueLimit: how many bytes to keep for each full socket; 0: they are dropped.
    package init(queueing queueLimit: Int = 0) {
        self.queueLimit = queueLimit
        videos = .allocate(capacity: Self.capacity)
        vectorVideos = .allocate(capacity: Self.capacity)
        videos.initialize(repeating: false, count: Self.capacity)
        vectorVideos.initialize(repeating: false, count: Self.capacity)
        arena = .allocate(byteCount: Self.arenaByteCount, alignment: 64)
        datagrams = .allocate(capacity: Self.capacity)
        names = .allocate(capacity: Self.capacity)
        nameSizes = .allocate(capacity: Self.capacity)
        sockets = .allocate(capacity: Self.capacity)
        keys = .allocate(capacity: Self.capacity)
        headers = .allocate(capacity: Self.capacity)
        vectors = .allocate(capacity: Self.capacity)
        messageSockets = .allocate(capacity: Self.capacity)
        controls = .allocate(byteCount: Self.capacity * Int(CLINUX_SEGMENT_CONTROL), alignment: 16)
        datagrams.initialize(repeating: iovec(), count: Self.capacity)
        names.initialize(repeating: sockaddr_in6(), count: Self.capacity)
        nameSizes.initialize(repeating: 0, count: Self.capacity)
        sockets.initialize(repeating: -1, count: Self.capacity)
        keys.initialize(repeating: 0, count: Self.capacity)
        headers.initialize(repeating: mmsghdr(), count: Self.capacity)
        vectors.initialize(repeating: iovec(), count: Self.capacity)
        messageSockets.initialize(repeating: -1, count: Self.capacity)
        controls.initializeMemory(as: UInt8.self, repeating: 0, count: Self.capacity * Int(CLINUX_SEGMENT_CONTROL))
    }

    deinit {
        videos.deallocate()
        vectorVideos.deallocate()
        arena.deallocate()
        datagrams.deallocate()
        names.deallocate()
        nameSizes.deallocate()
        sockets.deallocate()
        keys.deallocate()
        headers.deallocate()
        vectors.deallocate()
        messageSockets.deallocate()
        controls.deallocate()
    }

    /// From now on each datagram is sent by itself, as on devices without segmentation offload.
    package mutating func disableSegmentation() {
        maxSegment = 0
    }

    /// Sends these bytes at the next `flush`, which happens by itself when the batch is full.
    package mutating func append(
        _ bytes: UnsafeRawBufferPointer, from socket: Int32, to destination: TransportAddress, isVideo: Bool = false
    ) {
        if count == Self.capacity { flush() }
        videos[count] = isVideo
        datagrams[count] = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
        nameSizes[count] = write(destination, to: names + count)
        sockets[count] = socket
        keys[count] = Self.key(socket, destination)
        count &+= 1
    }

    /// The same with a copy of the bytes.
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

    /// Sends everything. Datagrams from one socket to one destination keep their order.
    package mutating func flush() {
        let messages = makeMessages()
        var start = 0
        while start < messages {
            var end = start &+ 1
            while end < messages, messageSockets[end] == messageSockets[start] { end &+= 1 }
            send(start..<end)
            start = end
        }
        count = 0
        arenaUsed = 0
    }

    /// Arranges the datagrams in messages, and returns the number of messages.
    private mutating func makeMessages() -> Int {
        var messages = 0
        var laidOut = 0
        for index in 0..<count where sockets[index] >= 0 {
            let first = laidOut
            let size = datagrams[index].iov_len
            vectors[laidOut] = datagrams[index]
            vectorVideos[laidOut] = videos[index]
            laidOut &+= 1
            if size > 0, size <= maxSegment {
                laidOut = gather(after: index, from: first, upTo: laidOut)
            }
            headers[messages].msg_hdr.msg_name = UnsafeMutableRawPointer(names + index)
            headers[messages].msg_hdr.msg_namelen = nameSizes[index]
            headers[messages].msg_hdr.msg_iov = vectors + first
            headers[messages].msg_hdr.msg_iovlen = laidOut &- first
            if laidOut &- first > 1 {
                clinux_set_segment_size(
                    &headers[messages].msg_hdr, controls + messages &* Int(CLINUX_SEGMENT_CONTROL),
                    UInt16(truncatingIfNeeded: size))
            } else {
                headers[messages].msg_hdr.msg_control = nil
                headers[messages].msg_hdr.msg_controllen = 0
            }
            messageSockets[messages] = sockets[index]
            messages &+= 1
        }
        return messages
    }

    /// Adds later datagrams with the same socket and destination to the message that begins at `first`: all of one
    /// size, except that the last may be smaller. Returns the end of the message.
    private mutating func gather(after index: Int, from first: Int, upTo end: Int) -> Int {
        let size = datagrams[index].iov_len
        let key = keys[index]
        var end = end
        var byteCount = size
        for other in index &+ 1..<max(count, index &+ 1)
        where keys[other] == key && sockets[other] == sockets[index] && isSameDestination(other, index) {
            let next = datagrams[other].iov_len
            guard next > 0, next <= size, byteCount &+ next <= Self.segmentedByteCount,
                end &- first < Self.segmentLimit
            else { break }
            vectors[end] = datagrams[other]
            vectorVideos[end] = videos[other]
            end &+= 1
            byteCount &+= next
            // Marks it as part of a message.
            sockets[other] = -1
            if next < size { break }
        }
        return end
    }

    /// A hash for the fast comparison of destinations.
    private static func key(_ socket: Int32, _ destination: TransportAddress) -> UInt64 {
        destination.address.low &* 0x9E37_79B9_7F4A_7C15 ^ destination.address.high
            ^ UInt64(destination.port) << 32 ^ UInt64(UInt32(bitPattern: socket))
    }

    private func isSameDestination(_ left: Int, _ right: Int) -> Bool {
        nameSizes[left] == nameSizes[right]
            && memcmp(names + left, names + right, nameSizes[left] == Self.ipv4NameSize ? 8 : Int(nameSizes[left])) == 0
    }

    private mutating func send(_ range: Range<Int>) {
        var next = range.lowerBound
        var attempts = 0
        if hasUnsent(for: messageSockets[next]) {
            enqueue(range)
            return
        }
        while next < range.upperBound {
            let status = Int(
                clinux_send(
                    messageSockets[next], headers + next, UInt32(truncatingIfNeeded: range.upperBound &- next)))
            calls &+= 1
            if status > 0 {
                countSent(next..<min(next &+ status, range.upperBound))
                next &+= status
                attempts = 0
            } else if queueLimit > 0, clinux_errno() == EAGAIN {
                enqueue(next..<range.upperBound)
                return
            } else if attempts < Self.attempts, clinux_errno() != EAGAIN, clinux_errno() != EINVAL,
                clinux_errno() != EIO
            {
                // A socket with an error queue fails once for an ICMP error about an earlier datagram: try again.
                attempts &+= 1
            } else {
                attempts = 0
                if headers[next].msg_hdr.msg_iovlen > 1 {
                    sendOneByOne(next, refusedWith: clinux_errno())
                } else {
                    // A full buffer or an unreachable peer: this one is lost, the next may succeed.
                    dropped &+= 1
                }
                next &+= 1
            }
        }
    }

    private mutating func countSent(_ messages: Range<Int>) {
        var datagrams = 0
        for index in messages {
            datagrams &+= Int(clamping: headers[index].msg_hdr.msg_iovlen)
        }
        sent &+= UInt64(truncatingIfNeeded: datagrams)
        sizes.count(datagrams)
    }

    /// Sends the segments of a message, which the kernel did not take as a whole, one by one.
    private mutating func sendOneByOne(_ message: Int, refusedWith code: Int32) {
        let parts = headers[message].msg_hdr.msg_iov
        let size = Int(clamping: parts?.pointee.iov_len ?? 0)
        // EIO: the device cannot compute checksums. EINVAL: the path's MTU is smaller than that.
        if code == EIO { maxSegment = 0 }
        if code == EINVAL { maxSegment = min(maxSegment, size &- 1) }
        let single = UnsafeMutablePointer<mmsghdr>(headers + message)
        let count = Int(clamping: single.pointee.msg_hdr.msg_iovlen)
        single.pointee.msg_hdr.msg_control = nil
        single.pointee.msg_hdr.msg_controllen = 0
        single.pointee.msg_hdr.msg_iovlen = 1
        for index in 0..<count {
            single.pointee.msg_hdr.msg_iov = parts?.advanced(by: index)
            calls &+= 1
            if clinux_send(messageSockets[message], single, 1) > 0 {
                sent &+= 1
                sizes.count(1)
            } else if queueLimit > 0, clinux_errno() == EAGAIN {
                single.pointee.msg_hdr.msg_iovlen = count &- index
                enqueue(message..<message &+ 1)
                return
            } else {
                dropped &+= 1
            }
        }
    }

    // MARK: Unsent datagrams

    /// Bytes that wait for all sockets.
    package var unsentByteCount: Int {
        unsent.reduce(0) { $0 &+ $1.byteCount }
    }

    /// Drops what waits for a socket that is being closed: another one may get its descriptor.
    package mutating func forget(_ socket: Int32) {
        for queue in unsent where queue.socket == socket { dropped &+= UInt64(queue.count) }
        unsent.removeAll { $0.socket == socket }
    }

    package func hasUnsent(for socket: Int32) -> Bool {
        unsent.contains { $0.socket == socket && !$0.isEmpty }
    }

    /// Copies the datagrams of these messages, all of one socket, into its queue.
    private mutating func enqueue(_ messages: Range<Int>) {
        guard let first = messages.first else { return }
        let socket = messageSockets[first]
        let queue: UnsentDatagrams
        if let known = unsent.first(where: { $0.socket == socket }) {
            queue = known
        } else {
            queue = UnsentDatagrams(socket, byteLimit: queueLimit)
            unsent.append(queue)
        }
        for message in messages {
            let header = headers[message].msg_hdr
            guard let parts = header.msg_iov, let name = header.msg_name?.assumingMemoryBound(to: sockaddr_in6.self)
            else { continue }
            for part in 0..<Int(clamping: header.msg_iovlen) {
                let bytes = UnsafeRawBufferPointer(start: parts[part].iov_base, count: parts[part].iov_len)
                let isVideo = vectorVideos[max(0, parts.advanced(by: part) - vectors)]
                queued &+= 1
                dropped &+= UInt64(
                    queue.append(bytes, isVideo: isVideo, name: name.pointee, nameSize: header.msg_namelen))
            }
        }
    }

    /// Sends what waits for a socket, as much as it takes now. False when some still waits.
    @discardableResult
    package mutating func sendUnsent(from socket: Int32) -> Bool {
        guard let queue = unsent.first(where: { $0.socket == socket }) else { return true }
        var lost: UInt64 = 0
        var passed: UInt64 = 0
        queue.drain { bytes, count, name, nameSize in
            withUnsafeMutablePointer(to: &name) { name in
                var vector = iovec(iov_base: bytes, iov_len: count)
                return withUnsafeMutablePointer(to: &vector) { vector in
                    var message = mmsghdr()
                    message.msg_hdr.msg_name = UnsafeMutableRawPointer(name)
                    message.msg_hdr.msg_namelen = nameSize
                    message.msg_hdr.msg_iov = vector
                    message.msg_hdr.msg_iovlen = 1
                    for _ in 0...Self.attempts {
                        if clinux_send(socket, &message, 1) > 0 {
                            passed &+= 1
                            return .done
                        }
                        if clinux_errno() == EAGAIN { return .wouldBlock }
                    }
                    lost &+= 1
                    return .done
                }
            }
        }
        sent &+= passed
        dropped &+= lost
        calls &+= passed &+ lost
        return queue.isEmpty
    }
}

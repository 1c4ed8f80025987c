internal import CLinux
package import Wire

/// Datagrams to be sent with as few system calls, and as few walks through the kernel, as their sockets allow.
///
/// `append` keeps only where the bytes lie, so they must stay until `flush`; `appendCopy` is for bytes that do not.
/// What the kernel refuses is lost, as on a wire: `dropped` counts it. A batch that keeps what a full socket does not take
/// sends it when the socket has room again (`sendKept`), and what comes later behind it.
///
/// Most of a relay's time is the kernel's way from `sendmsg` to the device, once for each datagram. Datagrams of one size
/// from one socket to one destination, which a burst of video is made of, go that way together (generic segmentation
/// offload) and are cut apart at its end. Where that is refused, each goes by itself.
package struct SendBatch: ~Copyable {
    package static let capacity = 128
    private static let arenaByteCount = 64 * 1024
    /// More ICMP messages than this between two system calls cost a datagram.
    private static let attempts = 2
    /// The kernel's limit of datagrams in a message, and what fits its 16-bit length beside the headers.
    private static let segmentLimit = 64
    private static let segmentedByteCount = 65_000
    /// Fits the usual MTU of 1,500 with the headers of IPv6 and UDP: a larger one might have to be fragmented.
    private static let largestSegment = 1452
    /// The family, port and address of an IPv4 name take its first 8 bytes; the rest is padding.
    private static let ipv4NameSize = UInt32(MemoryLayout<sockaddr_in>.size)

    package private(set) var count = 0
    package private(set) var dropped: UInt64 = 0
    /// Datagrams that waited until their socket had room.
    package private(set) var kept: UInt64 = 0
    /// Bytes for each socket; 0: nothing is kept.
    private let keptLimit: Int
    private var unsent: [UnsentDatagrams] = []
    /// Calls made and datagrams sent by them.
    package private(set) var calls: UInt64 = 0
    package private(set) var sent: UInt64 = 0
    package private(set) var sizes = BatchSizes()
    /// The largest datagram that may be a segment: falls below what a path refused, to 0 where the device cannot do it.
    private var largestSegment = SendBatch.largestSegment
    private var arenaUsed = 0
    private let arena: UnsafeMutableRawPointer
    // Datagrams as they were appended: where they lie, whom they go to, and through which socket.
    private let datagrams: UnsafeMutablePointer<iovec>
    private let names: UnsafeMutablePointer<sockaddr_in6>
    private let nameSizes: UnsafeMutablePointer<UInt32>
    private let sockets: UnsafeMutablePointer<Int32>
    /// Of the way of each: two of one way have one key, and two of different ways hardly ever.
    private let keys: UnsafeMutablePointer<UInt64>
    // Messages that `flush` makes of them: runs of `vectors`, which are datagrams in the order in which they are sent.
    private let headers: UnsafeMutablePointer<mmsghdr>
    private let vectors: UnsafeMutablePointer<iovec>
    /// Which of the datagrams are video, as they were appended and as they lie in `vectors`.
    private let videos: UnsafeMutablePointer<Bool>
    private let vectorVideos: UnsafeMutablePointer<Bool>
    private let messageSockets: UnsafeMutablePointer<Int32>
    private let controls: UnsafeMutableRawPointer

    /// - Parameter keptLimit: bytes of what a full socket does not take that are kept for it; 0: it is lost.
    package init(keeping keptLimit: Int = 0) {
        self.keptLimit = keptLimit
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

    /// From now on each datagram leaves by itself, as where the device cannot cut messages.
    package mutating func forbidJoining() {
        largestSegment = 0
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

    /// Lays the datagrams out in messages, and returns how many there are.
    private mutating func makeMessages() -> Int {
        var messages = 0
        var laidOut = 0
        for index in 0..<count where sockets[index] >= 0 {
            let first = laidOut
            let size = datagrams[index].iov_len
            vectors[laidOut] = datagrams[index]
            vectorVideos[laidOut] = videos[index]
            laidOut &+= 1
            if size > 0, size <= largestSegment {
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

    /// Takes later datagrams of the same socket and destination into the message that begins at `first`: all of one size,
    /// of which only the last may be smaller. Returns the end of the message.
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
            // It is on its way: nobody else sends it.
            sockets[other] = -1
            if next < size { break }
        }
        return end
    }

    /// A full batch compares each of its datagrams with each.
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
        if holdsUnsent(for: messageSockets[next]) {
            keep(range)
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
            } else if keptLimit > 0, clinux_errno() == EAGAIN {
                keep(next..<range.upperBound)
                return
            } else if attempts < Self.attempts, clinux_errno() != EAGAIN, clinux_errno() != EINVAL,
                clinux_errno() != EIO
            {
                // A socket that keeps errors fails once for an ICMP message about an earlier datagram. This one is not to
                // blame.
                attempts &+= 1
            } else {
                attempts = 0
                if headers[next].msg_hdr.msg_iovlen > 1 {
                    sendOneByOne(next, refusedWith: clinux_errno())
                } else {
                    // A full buffer, an unreachable peer: this one is lost, the next may pass.
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

    /// Sends the segments of a message that the kernel did not take as one.
    private mutating func sendOneByOne(_ message: Int, refusedWith code: Int32) {
        let parts = headers[message].msg_hdr.msg_iov
        let size = Int(clamping: parts?.pointee.iov_len ?? 0)
        // EIO: the device cannot compute checksums. EINVAL: the path's MTU is smaller than that.
        if code == EIO { largestSegment = 0 }
        if code == EINVAL { largestSegment = min(largestSegment, size &- 1) }
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
            } else if keptLimit > 0, clinux_errno() == EAGAIN {
                single.pointee.msg_hdr.msg_iovlen = count &- index
                keep(message..<message &+ 1)
                return
            } else {
                dropped &+= 1
            }
        }
    }

    // MARK: What sockets do not take

    /// Bytes that wait for any socket.
    package var unsentByteCount: Int {
        unsent.reduce(0) { $0 &+ $1.byteCount }
    }

    package func holdsUnsent(for socket: Int32) -> Bool {
        unsent.contains { $0.socket == socket && !$0.isEmpty }
    }

    /// Copies the datagrams of messages, which are all of one socket.
    private mutating func keep(_ messages: Range<Int>) {
        guard let first = messages.first else { return }
        let socket = messageSockets[first]
        let queue: UnsentDatagrams
        if let known = unsent.first(where: { $0.socket == socket }) {
            queue = known
        } else {
            queue = UnsentDatagrams(socket, byteLimit: keptLimit)
            unsent.append(queue)
        }
        for message in messages {
            let header = headers[message].msg_hdr
            guard let parts = header.msg_iov, let name = header.msg_name?.assumingMemoryBound(to: sockaddr_in6.self)
            else { continue }
            for part in 0..<Int(clamping: header.msg_iovlen) {
                let bytes = UnsafeRawBufferPointer(start: parts[part].iov_base, count: parts[part].iov_len)
                let isVideo = vectorVideos[max(0, parts.advanced(by: part) - vectors)]
                kept &+= 1
                dropped &+= UInt64(
                    queue.append(bytes, isVideo: isVideo, name: name.pointee, nameSize: header.msg_namelen))
            }
        }
    }

    /// Sends what waits for a socket as far as it has room now. False when some still waits.
    @discardableResult
    package mutating func sendKept(from socket: Int32) -> Bool {
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
                            return .gone
                        }
                        if clinux_errno() == EAGAIN { return .waits }
                    }
                    lost &+= 1
                    return .gone
                }
            }
        }
        sent &+= passed
        dropped &+= lost
        calls &+= passed &+ lost
        return queue.isEmpty
    }
}

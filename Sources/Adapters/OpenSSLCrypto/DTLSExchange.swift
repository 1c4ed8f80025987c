internal import COpenSSL

/// The input and output of the DTLS sessions of one thread.
///
/// OpenSSL reads and writes through a BIO. The BIOs of all sessions use this exchange: one record to read, and an arena
/// of datagrams to send, one per write. The host sends them after each call on a session.
package final class DTLSExchange {
    private static let arenaByteCount = 64 * 1024
    private static let maximumDatagrams = 128

    /// The state for the BIO's functions, at a stable address.
    struct Memory {
        var incoming = UnsafeRawBufferPointer(start: nil, count: 0)
        var count = 0
        var used = 0
        var dropped: UInt64 = 0
        let arena: UnsafeMutableRawPointer
        let ends: UnsafeMutablePointer<Int>
    }

    private let memory: UnsafeMutablePointer<Memory>

    package init() {
        memory = .allocate(capacity: 1)
        memory.initialize(
            to: Memory(
                arena: .allocate(byteCount: Self.arenaByteCount, alignment: 64),
                ends: .allocate(capacity: Self.maximumDatagrams)))
    }

    deinit {
        memory.pointee.arena.deallocate()
        memory.pointee.ends.deallocate()
        memory.deinitialize(count: 1)
        memory.deallocate()
    }

    /// The number of datagrams to send.
    package var count: Int { memory.pointee.count }

    /// Datagrams that were dropped because the arena was full.
    package var dropped: UInt64 { memory.pointee.dropped }

    /// A datagram to send. Valid until `removeAll`.
    package subscript(index: Int) -> UnsafeRawBufferPointer {
        guard index >= 0, index < count else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let start = index > 0 ? memory.pointee.ends[index &- 1] : 0
        return UnsafeRawBufferPointer(start: memory.pointee.arena + start, count: memory.pointee.ends[index] &- start)
    }

    package func removeAll() {
        memory.pointee.count = 0
        memory.pointee.used = 0
    }

    /// A BIO for one session, owned by the caller. This exchange has to outlive it.
    func makeBIO() -> OpaquePointer? {
        guard let method = DatagramBIO.method, let bio = BIO_new(method) else { return nil }
        BIO_set_data(bio, memory)
        BIO_set_init(bio, 1)
        return bio
    }

    /// Runs `body` with a record as input. What it does not read is discarded.
    func with<Result>(_ record: UnsafeRawBufferPointer, _ body: () -> Result) -> Result {
        memory.pointee.incoming = record
        defer { memory.pointee.incoming = UnsafeRawBufferPointer(start: nil, count: 0) }
        return body()
    }

    fileprivate static func write(_ datagram: UnsafeRawBufferPointer, to memory: UnsafeMutablePointer<Memory>) {
        let end = memory.pointee.used &+ datagram.count
        guard memory.pointee.count < maximumDatagrams, end <= arenaByteCount, let source = datagram.baseAddress else {
            memory.pointee.dropped &+= 1
            return
        }
        (memory.pointee.arena + memory.pointee.used).copyMemory(from: source, byteCount: datagram.count)
        memory.pointee.used = end
        memory.pointee.ends[memory.pointee.count] = end
        memory.pointee.count &+= 1
    }
}

/// The functions of the BIO, called by OpenSSL.
private enum DatagramBIO {
    /// One per process: OpenSSL has only a byte for BIO types. Made once, then read-only.
    nonisolated(unsafe) static let method = makeMethod()

    private static func makeMethod() -> OpaquePointer? {
        guard let method = BIO_meth_new(BIO_get_new_index() | Int32(BIO_TYPE_SOURCE_SINK), "datagrams") else {
            return nil
        }
        BIO_meth_set_read(method) { bio, target, count in
            guard let bio, let target, let memory = DatagramBIO.memory(of: bio) else { return -1 }
            copenssl_clear_retry(bio)
            let record = memory.pointee.incoming
            guard let source = record.baseAddress, record.count <= Int(count) else {
                copenssl_nothing_to_read(bio)
                return -1
            }
            UnsafeMutableRawPointer(target).copyMemory(from: source, byteCount: record.count)
            memory.pointee.incoming = UnsafeRawBufferPointer(start: nil, count: 0)
            return Int32(truncatingIfNeeded: record.count)
        }
        BIO_meth_set_write(method) { bio, source, count in
            guard let bio, let source, count > 0, let memory = DatagramBIO.memory(of: bio) else { return -1 }
            copenssl_clear_retry(bio)
            DTLSExchange.write(UnsafeRawBufferPointer(start: source, count: Int(count)), to: memory)
            return count
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in
            switch command {
            case BIO_CTRL_FLUSH: 1
            // The headers of IPv6 and UDP.
            case BIO_CTRL_DGRAM_GET_MTU_OVERHEAD: 48
            // Path MTU, peers and timers are not supported.
            default: 0
            }
        }
        return method
    }

    private static func memory(of bio: OpaquePointer) -> UnsafeMutablePointer<DTLSExchange.Memory>? {
        BIO_get_data(bio)?.assumingMemoryBound(to: DTLSExchange.Memory.self)
    }
}

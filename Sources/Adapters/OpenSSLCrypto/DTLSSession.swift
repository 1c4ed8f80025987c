internal import COpenSSL
package import DTLS

/// One conversation over DTLS 1.2 (RFC 6347): records go in, plaintext datagrams come out, and the other way round.
///
/// It has no socket and belongs to one thread. A server's session begins with a hello that `HelloDoor` let in; a client's
/// begins by itself. After each call, what is to be sent waits in the exchange. To receive, give a record to `take`, then
/// `read` until there is nothing; records that should not reach OpenSSL are kept away by a `RecordGate` before. While the
/// handshake lasts, `retransmit` has to be called when `retransmission` says so.
package struct DTLSSession: ~Copyable {
    /// The largest plaintext of a record, and so the size of a buffer to read into.
    package static let maximumPlaintextByteCount = 16_384
    /// What a datagram of a handshake may have, as IPv6 and tunnels let it through.
    package static let defaultMTU = 1200

    let connection: OpaquePointer
    private let exchange: DTLSExchange
    // Lives as long as what it made.
    private let context: DTLSContext
    private var isEstablished = false
    private var hasBuffers = true

    /// What reading brought.
    package enum Reading: Hashable, Sendable {
        /// A plaintext of so many bytes in the buffer.
        case data(Int)
        case nothing
        /// The other side said that it is the end.
        case closed
        /// The handshake cannot succeed, or the other side broke the protocol.
        case failed
    }

    private init(_ connection: OpaquePointer, _ context: DTLSContext, _ exchange: DTLSExchange) {
        self.connection = connection
        self.context = context
        self.exchange = exchange
    }

    /// Answers a hello that has proved where it comes from. nil when OpenSSL refuses it or has no memory; an alert may
    /// then wait in the exchange.
    package static func answering(
        _ hello: ProvenHello, _ context: DTLSContext, _ exchange: DTLSExchange, mtu: Int = defaultMTU
    ) -> DTLSSession? {
        guard context.isServer, let session = make(context, exchange, mtu) else { return nil }
        return session.answer(hello)
    }

    /// Says hello to a server, which has to show a certificate for `name` if the context has authorities.
    package static func greeting(
        _ name: String?, _ context: DTLSContext, _ exchange: DTLSExchange, mtu: Int = defaultMTU
    ) -> DTLSSession? {
        guard !context.isServer, let session = make(context, exchange, mtu) else { return nil }
        if let name, copenssl_ask_for_name(session.connection, name) != 1 {
            ERR_clear_error()
            return nil
        }
        SSL_set_connect_state(session.connection)
        return session.begun()
    }

    /// Agrees on keys for media with a context for that: a client's end says hello, a server's waits for one.
    package static func exchangingMediaKeys(
        _ context: DTLSContext, _ exchange: DTLSExchange, mtu: Int = defaultMTU
    ) -> DTLSSession? {
        guard let session = make(context, exchange, mtu) else { return nil }
        copenssl_retransmit_soon(session.connection)
        guard context.isServer else {
            SSL_set_connect_state(session.connection)
            return session.begun()
        }
        SSL_set_accept_state(session.connection)
        return session
    }

    private static func make(_ context: DTLSContext, _ exchange: DTLSExchange, _ mtu: Int) -> DTLSSession? {
        ERR_clear_error()
        guard let connection = SSL_new(context.pointer) else { return nil }
        let session = DTLSSession(connection, context, exchange)
        guard let bio = exchange.makeBIO() else { return nil }
        SSL_set_bio(connection, bio, bio)
        _ = copenssl_set_mtu(connection, mtu)
        return session
    }

    private consuming func answer(_ hello: ProvenHello) -> DTLSSession? {
        let connection = connection
        SSL_set_accept_state(connection)
        let isTaken = hello.record.withUnsafeBytes { record in
            exchange.with(record) {
                guard let nobody = BIO_ADDR_new() else { return false }
                defer { BIO_ADDR_free(nobody) }
                // It takes the hello as message 1 and record numbers from the hello's, and asks for the cookie, which is
                // known to be right. Only a hello in one record passes; ours is.
                return DTLSv1_listen(connection, nobody) == 1
            }
        }
        guard isTaken else {
            ERR_clear_error()
            return nil
        }
        return begun()
    }

    private consuming func begun() -> DTLSSession? {
        if shake() == .failed { return nil }
        return self
    }

    deinit {
        SSL_free(connection)
    }

    /// Which records may reach this session of a server.
    package var phase: RecordGate.Phase {
        if isEstablished { return .established }
        return SSL_get_state(connection) == TLS_ST_SR_CHANGE ? .finishedAwaited : .keyAwaited
    }

    /// Takes in a record, and reads the first plaintext that comes of it.
    package mutating func take(
        _ record: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer
    ) -> Reading {
        guard allocateBuffers() else { return .failed }
        let connection = connection
        let isEstablished = isEstablished
        let status = exchange.with(record) {
            if isEstablished { return Self.read(connection, into: buffer) }
            ERR_clear_error()
            return SSL_do_handshake(connection)
        }
        guard !isEstablished else { return reading(status) }
        switch noteHandshake(status) {
        case .nothing where self.isEstablished: return read(into: buffer)
        case let other: return other
        }
    }

    /// The next plaintext, after `take` brought one.
    package mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
        guard isEstablished, allocateBuffers() else { return .nothing }
        return reading(Self.read(connection, into: buffer))
    }

    private static func read(_ connection: OpaquePointer, into buffer: UnsafeMutableRawBufferPointer) -> Int32 {
        ERR_clear_error()
        return SSL_read(connection, buffer.baseAddress, Int32(clamping: buffer.count))
    }

    private func reading(_ status: Int32) -> Reading {
        if status > 0 { return .data(Int(status)) }
        switch SSL_get_error(connection, status) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .nothing
        case SSL_ERROR_ZERO_RETURN: return .closed
        default:
            ERR_clear_error()
            return .failed
        }
    }

    private mutating func shake() -> Reading {
        ERR_clear_error()
        return noteHandshake(SSL_do_handshake(connection))
    }

    private mutating func noteHandshake(_ status: Int32) -> Reading {
        guard status == 1 else { return reading(status) }
        isEstablished = true
        return .nothing
    }

    /// Encrypts a datagram and puts it into the exchange. False when it cannot be sent: too large, or no handshake yet.
    package mutating func write(_ plaintext: UnsafeRawBufferPointer) -> Bool {
        guard isEstablished, !plaintext.isEmpty, plaintext.count <= Self.maximumPlaintextByteCount, allocateBuffers()
        else { return false }
        ERR_clear_error()
        return SSL_write(connection, plaintext.baseAddress, Int32(clamping: plaintext.count)) > 0
    }

    /// Nanoseconds until the last flight has to be said again, nil when nothing waits for an answer.
    package var retransmission: UInt64? {
        UInt64(exactly: copenssl_retransmission(connection))
    }

    /// Says the last flight again if its time has come. False when that was tried too often.
    package mutating func retransmit() -> Bool {
        ERR_clear_error()
        return copenssl_retransmit(connection) >= 0
    }

    /// Says that it is the end. What comes after is of no interest.
    package mutating func close() {
        guard isEstablished, allocateBuffers() else { return }
        ERR_clear_error()
        _ = SSL_shutdown(connection)
        ERR_clear_error()
    }

    /// Gives back OpenSSL's buffers of 32 KB until the next record. For sessions that say nothing for some time.
    package mutating func releaseBuffers() {
        guard isEstablished, hasBuffers, SSL_free_buffers(connection) == 1 else { return }
        hasBuffers = false
    }

    /// Brings back what `releaseBuffers` gave away: OpenSSL does so by itself only for reading, and would write to nowhere.
    private mutating func allocateBuffers() -> Bool {
        if !hasBuffers { hasBuffers = SSL_alloc_buffers(connection) == 1 }
        return hasBuffers
    }
}

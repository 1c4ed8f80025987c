internal import COpenSSL
package import DTLS

/// A DTLS 1.2 session (RFC 6347): records go in and plaintext datagrams come out, and vice versa.
///
/// It has no socket and belongs to one thread. A server session begins with a ClientHello that `HelloVerifier`
/// accepted; a client session begins by itself. After each call, the exchange holds the datagrams to send. To receive,
/// pass a record to `take`, then `read` until there is nothing; a `RecordFilter` has to reject invalid records before.
/// During the handshake, `retransmit` has to be called after the time in `retransmission`.
package struct DTLSSession: ~Copyable {
    /// The largest plaintext of a record: the size of a buffer to read into.
    package static let maximumPlaintextByteCount = 16_384
    /// The size of handshake datagrams, which passes IPv6 and tunnels.
    package static let defaultMTU = 1200

    let connection: OpaquePointer
    private let exchange: DTLSExchange
    // Retained, because the connection uses it.
    private let context: DTLSContext
    private var isEstablished = false
    private var hasBuffers = true
    /// What OpenSSL said of the error that ended the session.
    package private(set) var failureReason: String?

    /// The result of reading.
    package enum Reading: Hashable, Sendable {
        /// A plaintext of so many bytes in the buffer.
        case data(Int)
        case nothing
        /// The peer closed the session.
        case closed
        /// The handshake failed, or the peer violated the protocol.
        case failed
    }

    private init(_ connection: OpaquePointer, _ context: DTLSContext, _ exchange: DTLSExchange) {
        self.connection = connection
        self.context = context
        self.exchange = exchange
    }

    /// Accepts a ClientHello with a verified source address. nil when OpenSSL rejects it or has no memory; the exchange
    /// may then hold an alert.
    package static func accepting(
        _ hello: VerifiedHello, _ context: DTLSContext, _ exchange: DTLSExchange, mtu: Int = defaultMTU
    ) -> DTLSSession? {
        guard context.isServer, let session = make(context, exchange, mtu) else { return nil }
        return session.accept(hello)
    }

    /// Connects to a server, which needs a certificate for `name` if the context has CAs.
    package static func connecting(
        _ name: String?, _ context: DTLSContext, _ exchange: DTLSExchange, mtu: Int = defaultMTU
    ) -> DTLSSession? {
        guard !context.isServer, let session = make(context, exchange, mtu) else { return nil }
        if let name, copenssl_ask_for_name(session.connection, name) != 1 {
            ERR_clear_error()
            return nil
        }
        SSL_set_connect_state(session.connection)
        return session.started()
    }

    /// A DTLS-SRTP session with a context for media: a server waits for a ClientHello, a client for `connect`.
    package static func exchangingMediaKeys(
        _ context: DTLSContext, _ exchange: DTLSExchange, mtu: Int = defaultMTU
    ) -> DTLSSession? {
        guard let session = make(context, exchange, mtu) else { return nil }
        copenssl_retransmit_soon(session.connection)
        if context.isServer {
            SSL_set_accept_state(session.connection)
        } else {
            SSL_set_connect_state(session.connection)
        }
        return session
    }

    /// Begins the handshake of a client: its ClientHello is then in the exchange. False when it failed.
    package mutating func connect() -> Bool { performHandshake() != .failed }

    private static func make(_ context: DTLSContext, _ exchange: DTLSExchange, _ mtu: Int) -> DTLSSession? {
        ERR_clear_error()
        guard let connection = SSL_new(context.pointer) else { return nil }
        let session = DTLSSession(connection, context, exchange)
        guard let bio = exchange.makeBIO() else { return nil }
        SSL_set_bio(connection, bio, bio)
        _ = copenssl_set_mtu(connection, mtu)
        return session
    }

    private consuming func accept(_ hello: VerifiedHello) -> DTLSSession? {
        let connection = connection
        SSL_set_accept_state(connection)
        let isAccepted = hello.record.withUnsafeBytes { record in
            exchange.with(record) {
                guard let nobody = BIO_ADDR_new() else { return false }
                defer { BIO_ADDR_free(nobody) }
                // It treats the ClientHello as message 1, continues its record numbers, and verifies the cookie, which
                // is known to be valid. It accepts only a ClientHello in a single record, as this one is.
                return DTLSv1_listen(connection, nobody) == 1
            }
        }
        guard isAccepted else {
            ERR_clear_error()
            return nil
        }
        return started()
    }

    private consuming func started() -> DTLSSession? {
        if performHandshake() == .failed { return nil }
        return self
    }

    deinit {
        SSL_free(connection)
    }

    /// For the `RecordFilter`.
    package var phase: RecordFilter.Phase {
        if isEstablished { return .established }
        let state = SSL_get_state(connection)
        return state == TLS_ST_SR_CHANGE || state == TLS_ST_CR_CHANGE ? .finishedAwaited : .keyAwaited
    }

    /// Takes a record, and reads the first plaintext from it.
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
        switch handshakeResult(status) {
        case .nothing where self.isEstablished: return read(into: buffer)
        case let other: return other
        }
    }

    /// Reads the next plaintext, after `take` returned one.
    package mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
        guard isEstablished, allocateBuffers() else { return .nothing }
        return reading(Self.read(connection, into: buffer))
    }

    private static func read(_ connection: OpaquePointer, into buffer: UnsafeMutableRawBufferPointer) -> Int32 {
        ERR_clear_error()
        return SSL_read(connection, buffer.baseAddress, Int32(clamping: buffer.count))
    }

    private mutating func reading(_ status: Int32) -> Reading {
        if status > 0 { return .data(Int(status)) }
        switch SSL_get_error(connection, status) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .nothing
        case SSL_ERROR_ZERO_RETURN: return .closed
        default:
            failureReason = ERR_reason_error_string(ERR_peek_last_error()).map { String(cString: $0) }
            ERR_clear_error()
            return .failed
        }
    }

    private mutating func performHandshake() -> Reading {
        ERR_clear_error()
        return handshakeResult(SSL_do_handshake(connection))
    }

    private mutating func handshakeResult(_ status: Int32) -> Reading {
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

    /// Nanoseconds until the last flight has to be retransmitted; nil when no timer runs.
    package var retransmission: UInt64? {
        UInt64(exactly: copenssl_retransmission(connection))
    }

    /// Retransmits the last flight if it is due. False after too many attempts.
    package mutating func retransmit() -> Bool {
        ERR_clear_error()
        return copenssl_retransmit(connection) >= 0
    }

    /// Sends a close_notify alert. Later records are ignored.
    package mutating func close() {
        guard isEstablished, allocateBuffers() else { return }
        ERR_clear_error()
        _ = SSL_shutdown(connection)
        ERR_clear_error()
    }

    /// Releases OpenSSL's buffers of 32 KB until the next record. For idle sessions.
    package mutating func releaseBuffers() {
        guard isEstablished, hasBuffers, SSL_free_buffers(connection) == 1 else { return }
        hasBuffers = false
    }

    /// Allocates the buffers again after `releaseBuffers`: OpenSSL does so by itself only for reading, not for writing.
    private mutating func allocateBuffers() -> Bool {
        if !hasBuffers { hasBuffers = SSL_alloc_buffers(connection) == 1 }
        return hasBuffers
    }
}

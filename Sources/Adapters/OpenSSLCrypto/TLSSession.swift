internal import COpenSSL

/// The input and output of the TLS sessions of one thread.
///
/// OpenSSL reads directly from a connection's buffer, so a session buffers only an incomplete record. One pipe serves
/// all sessions of a thread in turn.
package final class TLSPipe {
    fileprivate var incoming = UnsafeRawBufferPointer(start: nil, count: 0)
    private var memory: UnsafeMutableRawPointer
    private var capacity = 32 * 1024
    private var used = 0

    package init() {
        memory = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        memory.deallocate()
    }

    /// The bytes to send after the last call on a session. Valid until the next call.
    package var outgoing: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory, count: used)
    }

    fileprivate func begin(_ bytes: UnsafeRawBufferPointer) {
        incoming = bytes
        used = 0
    }

    fileprivate func take(_ target: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(target.count, incoming.count)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: incoming.prefix(count)))
        incoming = UnsafeRawBufferPointer(rebasing: incoming.dropFirst(count))
        return count
    }

    fileprivate func append(_ bytes: UnsafeRawBufferPointer) {
        if used &+ bytes.count > capacity {
            let larger = max(capacity &* 2, used &+ bytes.count)
            let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
            moved.copyMemory(from: memory, byteCount: used)
            memory.deallocate()
            memory = moved
            capacity = larger
        }
        if let source = bytes.baseAddress { (memory + used).copyMemory(from: source, byteCount: bytes.count) }
        used &+= bytes.count
    }
}

/// A TLS connection of a server or client, without its socket: received bytes go in, plaintext and bytes to send come
/// out.
///
/// After each call `TLSPipe.outgoing` holds the bytes to send, which may be an alert when the call failed. A session
/// belongs to its pipe's thread, and the pipe has to outlive it.
package final class TLSSession {
    package enum Progress: Hashable {
        /// So many bytes of plaintext were read; there may be more.
        case plaintext(Int)
        /// Everything that was received has been read.
        case drained
        /// The peer closed the session.
        case closed
        /// The handshake failed, or the peer violated the protocol: the connection is lost.
        case failed
    }

    private var pipe: TLSPipe
    private let session: OpaquePointer

    /// The server side. nil when OpenSSL is out of memory.
    package convenience init?(_ context: TLSServerContext, through pipe: TLSPipe) {
        self.init(context.context, pipe)
        SSL_set_accept_state(session)
    }

    /// The client side, which requires a certificate for `name` if the context has CAs. The first `read` writes the
    /// ClientHello. nil when OpenSSL is out of memory.
    package convenience init?(_ context: TLSClientContext, name: String?, through pipe: TLSPipe) {
        self.init(context.context, pipe)
        SSL_set_connect_state(session)
        if let name, copenssl_ask_for_name(session, name) != 1 {
            ERR_clear_error()
            return nil
        }
    }

    private init?(_ context: OpaquePointer, _ pipe: TLSPipe) {
        guard let method = PipeMethod.shared, let session = SSL_new(context) else { return nil }
        guard let bio = BIO_new(method.method) else {
            SSL_free(session)
            return nil
        }
        BIO_set_data(bio, Unmanaged.passUnretained(pipe).toOpaque())
        BIO_set_init(bio, 1)
        // The session owns the BIO from here on, for both directions.
        SSL_set_bio(session, bio, bio)
        self.pipe = pipe
        self.session = session
    }

    deinit {
        SSL_free(session)
    }

    /// Moves the session to another thread's pipe. All received bytes must have been read.
    package func move(to pipe: TLSPipe) {
        BIO_set_data(SSL_get_rbio(session), Unmanaged.passUnretained(pipe).toOpaque())
        self.pipe = pipe
    }

    /// The protocol negotiated by ALPN.
    package var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(session, &name, &count)
        guard let name, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    package var isEstablished: Bool {
        SSL_is_init_finished(session) == 1
    }

    /// Takes received bytes, which must stay valid until `read` returns `drained`.
    package func receive(_ bytes: UnsafeRawBufferPointer) {
        pipe.begin(bytes)
    }

    /// The next plaintext, at most a record.
    package func read(into target: UnsafeMutableRawBufferPointer) -> Progress {
        guard !target.isEmpty else { return .drained }
        ERR_clear_error()
        let count = SSL_read(session, target.baseAddress, Int32(clamping: target.count))
        if count > 0 { return .plaintext(min(Int(count), target.count)) }
        switch SSL_get_error(session, count) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .drained
        case SSL_ERROR_ZERO_RETURN: return .closed
        default:
            ERR_clear_error()
            return .failed
        }
    }

    /// Encrypts bytes; false when that fails.
    package func write(_ plaintext: UnsafeRawBufferPointer) -> Bool {
        write(plaintext) { $0.count }
    }

    /// The same, split into records; `first` returns the size of the next record for the remaining bytes.
    package func write(_ plaintext: UnsafeRawBufferPointer, first: (UnsafeRawBufferPointer) -> Int) -> Bool {
        pipe.begin(UnsafeRawBufferPointer(start: nil, count: 0))
        var rest = plaintext
        while !rest.isEmpty {
            let size = min(max(first(rest), 1), rest.count)
            ERR_clear_error()
            guard SSL_write(session, rest.baseAddress, Int32(clamping: size)) == Int32(clamping: size) else {
                ERR_clear_error()
                return false
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[size...])
        }
        return true
    }

    /// Sends a close_notify alert.
    package func close() {
        pipe.begin(UnsafeRawBufferPointer(start: nil, count: 0))
        guard isEstablished else { return }
        ERR_clear_error()
        _ = SSL_shutdown(session)
        ERR_clear_error()
    }
}

/// The BIO of a pipe: it reads the received bytes and stores the bytes to send.
private final class PipeMethod: Sendable {
    static let shared = PipeMethod()
    nonisolated(unsafe) let method: OpaquePointer

    private init?() {
        guard let method = BIO_meth_new(BIO_get_new_index() | copenssl_source_sink(), "pipe") else { return nil }
        BIO_meth_set_read(method) { bio, target, count in
            BIO_clear_flags(bio, copenssl_retry_flags())
            guard let pipe = PipeMethod.pipe(of: bio), let target, count > 0 else { return 0 }
            let taken = pipe.take(UnsafeMutableRawBufferPointer(start: target, count: Int(count)))
            if taken > 0 { return Int32(truncatingIfNeeded: taken) }
            BIO_set_flags(bio, copenssl_retry_read())
            return -1
        }
        BIO_meth_set_write(method) { bio, bytes, count in
            BIO_clear_flags(bio, copenssl_retry_flags())
            guard let pipe = PipeMethod.pipe(of: bio), let bytes, count > 0 else { return 0 }
            pipe.append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            return count
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in
            // There is nothing behind this BIO that flushing could wait for.
            command == BIO_CTRL_FLUSH ? 1 : 0
        }
        self.method = method
    }

    private static func pipe(of bio: OpaquePointer?) -> TLSPipe? {
        BIO_get_data(bio).map { Unmanaged<TLSPipe>.fromOpaque($0).takeUnretainedValue() }
    }
}

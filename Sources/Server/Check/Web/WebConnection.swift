import DatagramIO
import OpenSSLCrypto
import Wire

/// A connection to a web server, over TCP or TLS, for a check that waits for each response. It connects whatever the
/// certificate is, and shows it.
struct WebConnection: ~Copyable {
    enum Failure: Error, Hashable {
        /// The host has no address.
        case unknownHost
        case socket(ClientSocket.Failure)
        /// Connected, but the TLS handshake failed: OpenSSL's message, or nil for a timeout.
        case handshake(String?)
        /// No response in time.
        case silent
        /// The response is not HTTP, or larger than any that the server sends.
        case malformed
        /// --authorities cannot be read.
        case authorities(String)
    }

    private static let connectMilliseconds: Int32 = 3_000
    private static let sendMilliseconds: Int32 = 5_000
    private static let handshakeNanoseconds: UInt64 = 5_000_000_000
    /// Of a response, its head included.
    static let byteLimit = 1 << 20

    /// The server's certificate, over TLS.
    private(set) var certificate: PeerCertificate?
    /// Received and not taken yet, decrypted.
    private(set) var received: [UInt8] = []
    private(set) var isClosed = false
    private let socket: ClientSocket
    private let security: InspectingClient?

    /// - Parameters:
    ///   - name: the name for which the certificate should be valid; nil: the host of the address.
    ///   - authorities: a PEM file of authorities to trust in addition to the system's.
    static func open(
        _ address: WebAddress, name: String? = nil, authorities: String? = nil
    ) throws(Failure) -> WebConnection {
        let target = try address.resolve()
        var security: InspectingClient?
        if address.isSecure {
            do throws(CertificateError) {
                security = try InspectingClient(.stream, name: name ?? address.serverName, authorities: authorities)
            } catch {
                throw .authorities("\(error)")
            }
        }
        var connection = WebConnection(try connect(target), security)
        try connection.handshake()
        connection.certificate = security?.certificate(for: name ?? address.host)
        return connection
    }

    private static func connect(_ target: TransportAddress) throws(Failure) -> ClientSocket {
        do throws(ClientSocket.Failure) {
            return try ClientSocket(.stream, to: target, milliseconds: connectMilliseconds)
        } catch {
            throw .socket(error)
        }
    }

    private init(_ socket: consuming ClientSocket, _ security: InspectingClient?) {
        self.socket = socket
        self.security = security
    }

    /// Has the connection reset when the check is done, so that a stream ends at once for the server.
    func resetOnClose() { socket.resetOnClose() }

    private func handshake() throws(Failure) {
        guard let security else { return }
        let deadline = SystemClock.now().adding(nanoseconds: Self.handshakeNanoseconds)
        while true {
            let step = security.handshake()
            try write(security.takeOutgoing())
            switch step {
            case .done: return
            case .failed(let message): throw .handshake(message)
            case .waiting: break
            }
            do throws(ClientSocket.Failure) {
                guard let bytes = try socket.receive(milliseconds: Self.milliseconds(until: deadline)) else {
                    throw ClientSocket.Failure.timedOut
                }
                security.feed(bytes)
            } catch .timedOut {
                throw .handshake(nil)
            } catch .closed {
                throw .handshake("the server closed the connection")
            } catch {
                throw .socket(error)
            }
        }
    }

    func send(_ bytes: [UInt8]) throws(Failure) {
        guard let security else { return try write(bytes) }
        if case .failed(let reason) = security.write(bytes) { throw .handshake(reason) }
        try write(security.takeOutgoing())
    }

    private func write(_ bytes: [UInt8]) throws(Failure) {
        guard !bytes.isEmpty else { return }
        do throws(ClientSocket.Failure) {
            try socket.send(bytes, milliseconds: Self.sendMilliseconds)
        } catch {
            throw .socket(error)
        }
    }

    /// Waits for more bytes of the server, and adds them to `received`. Once the server has closed the connection,
    /// `isClosed` is set.
    mutating func receive(until deadline: Instant) throws(Failure) {
        guard received.count < Self.byteLimit else { throw .malformed }
        guard !isClosed, SystemClock.now() < deadline else { throw .silent }
        do throws(ClientSocket.Failure) {
            guard let bytes = try socket.receive(milliseconds: Self.milliseconds(until: deadline)) else { return }
            guard let security else {
                received += bytes
                return
            }
            security.feed(bytes)
            while true {
                let part = security.read()
                if part.isEmpty { return }
                received += part
            }
        } catch .closed {
            isClosed = true
        } catch {
            throw .socket(error)
        }
    }

    /// Removes bytes from the beginning of `received`.
    mutating func take(_ count: Int) -> [UInt8] {
        let taken = Array(received.prefix(count))
        received.removeFirst(taken.count)
        return taken
    }

    private static func milliseconds(until deadline: Instant) -> Int32 {
        let now = SystemClock.now()
        guard now < deadline else { return 0 }
        return Int32(clamping: deadline.nanoseconds(since: now) / 1_000_000 &+ 1)
    }
}

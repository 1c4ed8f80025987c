import DatagramIO
package import OpenSSLCrypto
import TURN
package import Wire

/// A client's connection to a relay, over any of the four transports, for tools that wait for each response.
///
/// It sends and receives complete messages: it removes the framing of streams and the encryption of TLS and DTLS.
package struct RelayConnection: ~Copyable {
    package enum Failure: Error, Hashable {
        case refused
        case unreachable
        case timedOut
        case closed
        case other(String)
        /// Connected, but the TLS or DTLS handshake failed: OpenSSL's message, or nil for a timeout.
        case handshake(String?)
    }

    private static let handshakeMilliseconds: UInt64 = 5_000
    private static let retransmissionMilliseconds: UInt64 = 500

    package let transport: Flow.Transport
    /// This end's address.
    package let local: TransportAddress
    /// The server's certificate, over TLS and DTLS.
    package private(set) var certificate: PeerCertificate?
    private let socket: ClientSocket
    private let security: InspectingClient?
    /// Decrypted bytes of a stream that are not a complete message yet.
    private var stream: [UInt8] = []

    private var isStream: Bool { transport == .tcp || transport == .tls }

    /// Connects, and performs the handshake of TLS or DTLS.
    ///
    /// - Parameters:
    ///   - name: the server's name, to check its certificate; nil: its address.
    ///   - authorities: a PEM file of authorities to trust in addition to the system's.
    package static func open(
        _ transport: Flow.Transport, to server: TransportAddress, name: String? = nil, authorities: String? = nil,
        milliseconds: Int32 = 3_000
    ) throws(Failure) -> RelayConnection {
        let isStream = transport == .tcp || transport == .tls
        let security: InspectingClient?
        do throws(CertificateError) {
            security =
                transport == .tls || transport == .dtls
                ? try InspectingClient(isStream ? .stream : .datagrams, name: name, authorities: authorities) : nil
        } catch {
            throw .other("\(error)")
        }
        var connection = RelayConnection(
            transport, try connect(isStream ? .stream : .datagram, server, milliseconds), security)
        try connection.handshake()
        connection.certificate = security?.certificate(for: name ?? "\(server.address)")
        return connection
    }

    private init(_ transport: Flow.Transport, _ socket: consuming ClientSocket, _ security: InspectingClient?) {
        self.transport = transport
        local = socket.local
        self.socket = socket
        self.security = security
    }

    private static func connect(
        _ kind: ClientSocket.Kind, _ server: TransportAddress, _ milliseconds: Int32
    ) throws(Failure) -> ClientSocket {
        do throws(ClientSocket.Failure) {
            return try ClientSocket(kind, to: server, milliseconds: milliseconds)
        } catch {
            throw Failure(error)
        }
    }

    private func handshake() throws(Failure) {
        guard let security else { return }
        let start = SystemClock.now()
        while true {
            let step = security.handshake()
            try sendPending(security)
            switch step {
            case .done: return
            case .failed(let message): throw .handshake(message)
            case .waiting: break
            }
            guard SystemClock.now().nanoseconds(since: start) < Self.handshakeMilliseconds * 1_000_000 else {
                throw .handshake(nil)
            }
            let bytes: [UInt8]?
            do {
                bytes = try socket.receive(milliseconds: Int32(Self.retransmissionMilliseconds))
            } catch {
                throw error == .closed ? .handshake("the server closed the connection") : Failure(error)
            }
            if let bytes {
                security.feed(bytes)
            } else if transport == .dtls {
                security.retransmit()
            }
        }
    }

    /// Sends one message.
    package func send(_ message: [UInt8]) throws(Failure) {
        guard let security else { return try write(message) }
        if case .failed(let reason) = security.write(message) { throw .other(reason) }
        try sendPending(security)
    }

    private func sendPending(_ security: InspectingClient) throws(Failure) {
        let bytes = security.takeOutgoing()
        if !bytes.isEmpty { try write(bytes) }
    }

    private func write(_ bytes: [UInt8]) throws(Failure) {
        do {
            try socket.send(bytes, milliseconds: Int32(Self.handshakeMilliseconds))
        } catch {
            throw Failure(error)
        }
    }

    /// The next message, nil when none came before `deadline`.
    package mutating func receive(until deadline: Instant) throws(Failure) -> [UInt8]? {
        while true {
            if isStream, let message = try takeMessage() { return message }
            let left = deadline.nanoseconds(since: SystemClock.now()) / 1_000_000
            let bytes: [UInt8]?
            do {
                bytes = try socket.receive(milliseconds: Int32(clamping: left))
            } catch {
                throw Failure(error)
            }
            guard let bytes else {
                if SystemClock.now() >= deadline { return nil }
                continue
            }
            let plain = decrypt(bytes)
            guard isStream else {
                if plain.isEmpty { continue }
                return plain
            }
            stream += plain
        }
    }

    private func decrypt(_ bytes: [UInt8]) -> [UInt8] {
        guard let security else { return bytes }
        security.feed(bytes)
        var plain: [UInt8] = []
        while true {
            let part = security.read()
            if part.isEmpty { return plain }
            plain += part
        }
    }

    private mutating func takeMessage() throws(Failure) -> [UInt8]? {
        switch StreamFraming.next(stream.span.bytes) {
        case .incomplete: return nil
        case .malformed: throw .other("the response is not TURN")
        case .frame(let count):
            let message = Array(stream.prefix(count))
            stream.removeFirst(min(count, stream.count))
            return message
        }
    }
}

extension RelayConnection.Failure {
    init(_ failure: ClientSocket.Failure) {
        self =
            switch failure {
            case .refused: .refused
            case .unreachable: .unreachable
            case .timedOut: .timedOut
            case .closed: .closed
            case .other(let message): .other(message)
            }
    }
}

import DTLS
import OpenSSLCrypto
import TestSupport
import Testing
import Wire

/// A client's DTLS socket to one server. It sends and receives plaintext.
final class DTLSSocket: TestSocket {
    let server: TransportAddress
    private let exchange = DTLSExchange()
    private var session: DTLSSession?
    private var ready: [[UInt8]] = []
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: DTLSSession.maximumPlaintextByteCount, alignment: 16)
    /// Every datagram that went out, as it was on the wire.
    private(set) var sent: [[UInt8]] = []
    private(set) var end: DTLSSession.Reading?

    init(to server: TransportAddress, mtu: Int = 1200) throws {
        self.server = server
        try super.init(server.address)
        try begin(mtu: mtu)
    }

    deinit {
        buffer.deallocate()
    }

    /// A new session from the same port, as of a client that lost its keys.
    func begin(mtu: Int = 1200) throws {
        let context = try #require(DTLSContext.client(authorities: nil))
        session = DTLSSession.connecting("localhost", context, exchange, mtu: mtu)
        flush()
    }

    /// Continues the handshake until it is complete, or nothing more is received.
    func handshake() -> Bool {
        while session?.phase != .established {
            guard let (bytes, _) = super.receive(milliseconds: 2000) else { return false }
            take(bytes)
            if end == .failed { return false }
        }
        return true
    }

    var isEstablished: Bool {
        session?.phase == .established
    }

    /// The next datagram as it is on the wire.
    func receiveRaw(milliseconds: Int32) -> (bytes: [UInt8], source: TransportAddress)? {
        super.receive(milliseconds: milliseconds)
    }

    func takeRaw(_ bytes: [UInt8]) {
        take(bytes)
    }

    /// A session that is kept while another one is started from the same port.
    final class Kept {
        fileprivate var session: DTLSSession?
        fileprivate init(_ session: consuming DTLSSession?) { self.session = session }
    }

    func keepSession() -> Kept {
        Kept(session.take())
    }

    func restoreSession(_ kept: Kept) {
        session = kept.session.take()
    }

    private func take(_ bytes: [UInt8]) {
        var offset = 0
        while let record = RecordHeader(bytes.span.bytes, at: offset) {
            offset = record.body.upperBound
            var reading = bytes.withUnsafeBytes {
                session?.take(UnsafeRawBufferPointer(rebasing: $0[record.whole]), into: buffer) ?? .nothing
            }
            while case .data(let count) = reading {
                ready.append(Array(buffer.prefix(count)))
                reading = session?.read(into: buffer) ?? .nothing
            }
            if reading != .nothing { end = reading }
            flush()
        }
    }

    private func flush() {
        for index in 0..<exchange.count { sendRaw(Array(exchange[index])) }
        exchange.removeAll()
    }

    func sendRaw(_ datagram: [UInt8]) {
        sent.append(datagram)
        super.send(datagram, to: server)
    }

    override func send(_ bytes: [UInt8], to destination: TransportAddress) {
        _ = bytes.withUnsafeBytes { session?.write($0) }
        flush()
    }

    override func receive(milliseconds: Int32 = 5000) -> (bytes: [UInt8], source: TransportAddress)? {
        while ready.isEmpty {
            guard let (bytes, _) = super.receive(milliseconds: milliseconds) else { return nil }
            take(bytes)
            if end != nil { return nil }
        }
        return (ready.removeFirst(), server)
    }

    func close() {
        session?.close()
        flush()
    }
}

extension ServerCertificate {
    /// A self-signed certificate for `localhost`, made by the openssl command.
    static func forTests() throws -> ServerCertificate {
        let files = try TestCertificate.make()
        return try ServerCertificate(chainFile: files.certificate, keyFile: files.key)
    }
}

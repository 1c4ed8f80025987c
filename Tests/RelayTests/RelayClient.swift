import DatagramIO
import OpenSSLCrypto
import Relay
import STUN
import Testing
import Wire

/// A TURN client and peers on real sockets of the loopback, for one test and one thread.
final class RelayClient {
    let socket: TestSocket
    let server: TransportAddress
    var username: String
    var password: String
    private let authentication: OpenSSLAuthentication
    private var nonce: [UInt8] = []
    private var realm = ""
    private var transaction: UInt64 = 0

    init(
        _ server: TransportAddress, username: String = "alice", password: String = "wonderland",
        socket: TestSocket? = nil
    ) throws {
        self.socket = try socket ?? TestSocket(server.address)
        self.server = server
        self.username = username
        self.password = password
        authentication = try #require(OpenSSLAuthentication())
    }

    /// Sends a request until there is a response, with realm and nonce of the challenge, and returns the response.
    func exchange(_ method: STUN.Method, _ extra: (inout MessageWriter) -> Void = { _ in }) throws -> [UInt8] {
        for _ in 0..<4 {
            transaction += 1
            let id = TransactionID(1, transaction)
            let request = write(method, id, extra)
            let bytes = try response(to: request, id)
            let message = try Message(bytes.span.bytes)
            guard message.errorNumber == 401 || message.errorNumber == 438, let given = message.attribute(.nonce),
                let name = message.text(.realm), nonce.isEmpty || message.errorNumber == 438
            else { return bytes }
            nonce = given.copyToArray()
            realm = name
        }
        Issue.record("the server keeps requesting credentials")
        return []
    }

    private func write(_ method: STUN.Method, _ id: TransactionID, _ extra: (inout MessageWriter) -> Void) -> [UInt8] {
        var writer = MessageWriter()
        writer.begin(MessageType(.request, method), id)
        extra(&writer)
        guard !nonce.isEmpty else { return writer.bytes }
        writer.append(.username, text: username)
        writer.append(.realm, text: realm)
        writer.append(.nonce, bytes: nonce)
        let name = Array(username.utf8)
        let key = PasswordAlgorithm.md5.key(
            username: name.span.bytes, realm: realm, password: Array(password.utf8), authentication)?.copyToArray()
        let bytes = key ?? []
        _ = writer.appendIntegrity(.sha1, key: bytes.span.bytes, authentication)
        writer.appendFingerprint()
        return writer.bytes
    }

    /// Retransmits until the response with this id arrives; other datagrams are dropped.
    private func response(to request: [UInt8], _ id: TransactionID) throws -> [UInt8] {
        for _ in 0..<20 {
            socket.send(request, to: server)
            while let (bytes, _) = socket.receive(milliseconds: 500) {
                if let message = try? Message(bytes.span.bytes), message.transaction == id { return bytes }
            }
        }
        throw NoResponse()
    }

    struct NoResponse: Error {}

    /// Allocates and returns the relayed address, or the error's number.
    func allocate(_ extra: (inout MessageWriter) -> Void = { _ in }) throws -> Result<TransportAddress, Refused> {
        let bytes = try exchange(.allocate) { writer in
            writer.append(.requestedTransport, integer: UInt32(17) << 24)
            extra(&writer)
        }
        let message = try Message(bytes.span.bytes)
        guard let relayed = message.xorAddress(.xorRelayedAddress) else {
            return .failure(Refused(number: message.errorNumber ?? 0))
        }
        return .success(relayed)
    }

    struct Refused: Error, Equatable {
        let number: UInt16
    }

    /// The error's number, nil for success.
    func permit(_ peer: TransportAddress) throws -> UInt16? {
        let bytes = try exchange(.createPermission) { $0.append(.xorPeerAddress, xor: peer) }
        return try Message(bytes.span.bytes).errorNumber
    }

    func bind(_ number: UInt16, _ peer: TransportAddress) throws -> UInt16? {
        let bytes = try exchange(.channelBind) { writer in
            writer.append(.channelNumber, integer: UInt32(number) << 16)
            writer.append(.xorPeerAddress, xor: peer)
        }
        return try Message(bytes.span.bytes).errorNumber
    }

    func refresh(lifetime: UInt32) throws -> UInt16? {
        let bytes = try exchange(.refresh) { $0.append(.lifetime, integer: lifetime) }
        return try Message(bytes.span.bytes).errorNumber
    }

    func sendChannel(_ number: UInt16, _ payload: [UInt8]) {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: number)
        bytes.append(bigEndian: UInt16(payload.count))
        socket.send(bytes + payload, to: server)
    }

    func send(_ payload: [UInt8], to peer: TransportAddress, dontFragment: Bool = false) {
        var writer = MessageWriter()
        writer.begin(MessageType(.indication, .send), TransactionID(2, 2))
        if dontFragment { writer.append(.dontFragment, bytes: []) }
        writer.append(.xorPeerAddress, xor: peer)
        writer.append(.data, bytes: payload)
        socket.send(writer.bytes, to: server)
    }
}

/// A UDP socket that waits for at most a given time.
class TestSocket {
    private let socket: DatagramSocket
    private let queue: EventQueue
    private var received = ReceiveBatch()
    private var sending = SendBatch()
    let address: TransportAddress

    init(_ local: IPAddress) throws {
        socket = try DatagramSocket(TransportAddress(local, port: 0), .exclusive)
        let bound = socket.address
        address = try #require(bound)
        queue = try Self.makeQueue()
        let isWatched = queue.watch(socket.descriptor, as: 1)
        #expect(isWatched)
    }

    private static func makeQueue() throws -> EventQueue {
        guard let queue = EventQueue() else { throw RelayClient.NoResponse() }
        return queue
    }

    func send(_ bytes: [UInt8], to destination: TransportAddress) {
        sending.appendCopy(bytes.span.bytes, from: socket.descriptor, to: destination)
        sending.flush()
    }

    /// The next datagram, nil when none comes in time.
    func receive(milliseconds: Int32 = 5000) -> (bytes: [UInt8], source: TransportAddress)? {
        received.reset()
        var slots = received.receive(from: socket.descriptor, limit: 1)
        if slots.isEmpty, queue.wait(milliseconds: milliseconds) > 0 {
            slots = received.receive(from: socket.descriptor, limit: 1)
        }
        guard let slot = slots.first, let source = received.source(of: slot) else { return nil }
        return (Array(received.datagram(slot)), source)
    }
}

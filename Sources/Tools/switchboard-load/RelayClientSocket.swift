import DatagramIO
import Foundation
import OpenSSLCrypto
import STUN
import Wire

/// Name and password for the relay.
struct RelayCredential: Sendable {
    let username: String
    let password: String

    /// A static user's, or an ephemeral one made with a secret, good for a day.
    init(user: String?, password: String?, secret: String?) throws {
        guard let secret else {
            username = user ?? ""
            self.password = password ?? ""
            return
        }
        username = "\(SystemClock.unixSeconds() + 86_400):load"
        let name = Array(username.utf8)
        let key = Array(secret.utf8)
        guard let authentication = OpenSSLAuthentication(),
            let code = authentication.code(.sha1, key: key.span.bytes, name.span.bytes)
        else { throw RelayLoadFailure(what: "OpenSSL failed") }
        self.password = code.withBytes { String(decoding: Base64.encode($0), as: UTF8.self) }
    }
}

struct RelayLoadFailure: Error, CustomStringConvertible {
    let what: String
    var description: String { what }
}

/// One TURN client: a socket, and the few requests that a load needs. Requests are asked one at a time, before the load.
struct RelayClientSocket: ~Copyable {
    let socket: DatagramSocket
    private let server: TransportAddress
    private let credential: RelayCredential
    private let authentication: OpenSSLAuthentication
    private var realm = ""
    private var nonce: [UInt8] = []
    private var transactions: SeededRandom

    init(
        _ server: TransportAddress, _ credential: RelayCredential, _ authentication: OpenSSLAuthentication, seed: UInt64
    ) throws {
        let any: IPAddress = server.address.isLoopback ? server.address : .any(server.address.family)
        socket = try DatagramSocket(TransportAddress(any, port: 0), .exclusive, receiveBuffer: 1 << 20)
        self.server = server
        self.credential = credential
        self.authentication = authentication
        transactions = SeededRandom(seed: seed)
    }

    /// Allocates and returns the relayed address.
    mutating func allocate() throws -> TransportAddress {
        let isIPv6 = server.address.family == .ipv6
        let answer = try exchange(.allocate) { writer in
            writer.append(.requestedTransport, integer: UInt32(17) << 24)
            if isIPv6 { writer.append(.requestedAddressFamily, integer: UInt32(2) << 24) }
        }
        let message = try Message(answer.span.bytes)
        guard let relayed = message.xorAddress(.xorRelayedAddress) else {
            throw RelayLoadFailure(what: "the server refuses an allocation with \(message.errorNumber ?? 0)")
        }
        return relayed
    }

    mutating func bind(_ number: UInt16, _ peer: TransportAddress) throws {
        let answer = try exchange(.channelBind) { writer in
            writer.append(.channelNumber, integer: UInt32(number) << 16)
            writer.append(.xorPeerAddress, xor: peer)
        }
        let message = try Message(answer.span.bytes)
        if let error = message.errorNumber {
            throw RelayLoadFailure(
                what:
                    "the server refuses the peer \(peer) with \(error)\(error == 403 ? ": open it in relay.peers.allow" : "")"
            )
        }
    }

    /// Gives the allocation back, without waiting.
    mutating func release() {
        let request = write(.refresh, nextTransaction()) { $0.append(.lifetime, integer: UInt32(0)) }
        send(request)
    }

    private mutating func exchange(_ method: STUN.Method, _ extra: (inout MessageWriter) -> Void) throws -> [UInt8] {
        for _ in 0..<3 {
            let id = nextTransaction()
            let answer = try answer(to: write(method, id, extra), id)
            let message = try Message(answer.span.bytes)
            guard message.errorNumber == 401 || message.errorNumber == 438, let given = message.attribute(.nonce),
                let name = message.text(.realm)
            else { return answer }
            if !nonce.isEmpty, message.errorNumber == 401 {
                throw RelayLoadFailure(what: "the server refuses the credentials")
            }
            nonce = given.copyToArray()
            realm = name
        }
        throw RelayLoadFailure(what: "the server goes on asking for credentials")
    }

    private mutating func write(
        _ method: STUN.Method, _ id: TransactionID, _ extra: (inout MessageWriter) -> Void
    ) -> [UInt8] {
        var writer = MessageWriter()
        writer.begin(MessageType(.request, method), id)
        extra(&writer)
        if !nonce.isEmpty {
            writer.append(.username, text: credential.username)
            writer.append(.realm, text: realm)
            writer.append(.nonce, bytes: nonce)
            let name = Array(credential.username.utf8)
            let key =
                PasswordAlgorithm.md5.key(
                    username: name.span.bytes, realm: realm, password: Array(credential.password.utf8), authentication)?
                .copyToArray() ?? []
            _ = writer.appendIntegrity(.sha1, key: key.span.bytes, authentication)
        }
        return writer.bytes
    }

    private func answer(to request: [UInt8], _ id: TransactionID) throws -> [UInt8] {
        guard let queue = EventQueue(), queue.watch(socket.descriptor, as: 0) else {
            throw RelayLoadFailure(what: "no more descriptors: raise ulimit -n")
        }
        var received = ReceiveBatch()
        for _ in 0..<5 {
            send(request)
            while queue.wait(milliseconds: 500) > 0 {
                received.reset()
                for slot in received.receive(from: socket.descriptor, limit: 16) {
                    let bytes = Array(received.datagram(slot))
                    if let message = try? Message(bytes.span.bytes), message.transaction == id { return bytes }
                }
            }
        }
        throw RelayLoadFailure(what: "no answer from \(server)")
    }

    private func send(_ request: [UInt8]) {
        var batch = SendBatch()
        batch.appendCopy(request.span.bytes, from: socket.descriptor, to: server)
        batch.flush()
    }

    private mutating func nextTransaction() -> TransactionID {
        TransactionID(UInt32(truncatingIfNeeded: transactions.next()), transactions.next())
    }
}

extension IPAddress {
    static func any(_ family: Family) -> IPAddress {
        family == .ipv4 ? IPAddress(ipv4: 0) : IPAddress(ipv6High: 0, low: 0)
    }
}

import DatagramIO
import Foundation
import OpenSSLCrypto
import TURN
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
    private var client: TURNClient

    init(
        _ server: TransportAddress, _ credential: RelayCredential, _ authentication: OpenSSLAuthentication, seed: UInt64
    ) throws {
        let any: IPAddress = server.address.isLoopback ? server.address : .any(server.address.family)
        socket = try DatagramSocket(TransportAddress(any, port: 0), .exclusive, receiveBuffer: 1 << 20)
        self.server = server
        client = TURNClient(
            TURNClient.Credential(username: credential.username, password: credential.password), isReliable: false,
            seed: seed, authentication)
    }

    /// Allocates and returns the relayed address.
    mutating func allocate() throws -> TransportAddress {
        guard let relayed = try ask(.allocate(server.address.family)).relayed else {
            throw RelayLoadFailure(what: "the server answers an Allocate without an address")
        }
        return relayed
    }

    mutating func bind(_ number: UInt16, _ peer: TransportAddress) throws {
        _ = try ask(.bindChannel(number, peer))
    }

    /// Gives the allocation back, without waiting.
    mutating func release() {
        send(client.begin(.refresh(seconds: 0), at: SystemClock.now()))
    }

    private mutating func ask(_ request: TURNClient.Request) throws -> TURNClient.Answer {
        guard let queue = EventQueue(), queue.watch(socket.descriptor, as: 0) else {
            throw RelayLoadFailure(what: "no more descriptors: raise ulimit -n")
        }
        var received = ReceiveBatch()
        send(client.begin(request, at: SystemClock.now()))
        while let deadline = client.deadline {
            let left = deadline.nanoseconds(since: SystemClock.now()) / 1_000_000
            _ = queue.wait(milliseconds: Int32(clamping: left) &+ 1)
            received.reset()
            for slot in received.receive(from: socket.descriptor, limit: 16) {
                let bytes = Array(received.datagram(slot))
                switch client.receive(bytes.span.bytes, at: SystemClock.now()) {
                case .nothing, .payload: continue
                case .send(let again): send(again)
                case .answered(let answer): return answer
                case .refused(let error): throw RelayLoadFailure(refusing: request, with: error)
                case .credentialsRefused: throw RelayLoadFailure(what: "the server refuses the credentials")
                }
            }
            if case .send(let again) = client.advance(to: SystemClock.now()) { send(again) }
        }
        throw RelayLoadFailure(what: "no answer from \(server)")
    }

    private func send(_ request: [UInt8]) {
        var batch = SendBatch()
        batch.appendCopy(request.span.bytes, from: socket.descriptor, to: server)
        batch.flush()
    }
}

extension RelayLoadFailure {
    init(refusing request: TURNClient.Request, with error: UInt16) {
        switch request {
        case .bindChannel(_, let peer):
            what =
                "the server refuses the peer \(peer) with \(error)\(error == 403 ? ": open it in relay.peers.allow" : "")"
        default: what = "the server refuses an allocation with \(error)"
        }
    }
}

extension IPAddress {
    static func any(_ family: Family) -> IPAddress {
        family == .ipv4 ? IPAddress(ipv4: 0) : IPAddress(ipv6High: 0, low: 0)
    }
}

import DatagramIO
import Foundation
import OpenSSLCrypto
import TURN
import Wire

/// User name and password for the relay.
struct RelayCredential: Sendable {
    let username: String
    let password: String

    /// A static user's credential, or an ephemeral one that is signed with a secret and valid for a day.
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

/// A TURN client: a link to the relay, and the few requests that a load needs. Requests are sent one at a time, before
/// the load starts.
struct RelayLoadClient: ~Copyable {
    private static let handshakeNanoseconds: UInt64 = 5_000_000_000

    let link: any RelayLink
    /// Packets in flight, and when the last one came back: for sending as fast as possible.
    var inFlight = 0
    var lastReceivedAt: UInt64 = 0
    private let maker: LinkMaker
    private var client: TURNClient

    /// Connects, and waits for the handshake if there is one.
    static func connect(
        _ maker: LinkMaker, _ credential: RelayCredential, _ authentication: OpenSSLAuthentication, seed: UInt64
    ) throws -> RelayLoadClient {
        let turn = TURNClient(
            TURNClient.Credential(username: credential.username, password: credential.password),
            isReliable: maker.transport.isStream, seed: seed, authentication)
        let client = RelayLoadClient(try maker.open(), maker, turn)
        try client.performHandshake()
        return client
    }

    private init(_ link: any RelayLink, _ maker: LinkMaker, _ client: consuming TURNClient) {
        self.link = link
        self.maker = maker
        self.client = client
    }

    private func performHandshake() throws {
        link.flush()
        guard !link.isReady else { return }
        let queue = try makeEventQueue()
        let end = SystemClock.now().adding(nanoseconds: Self.handshakeNanoseconds)
        while !link.isReady {
            if let failure = link.failure { throw RelayLoadFailure(what: failure) }
            guard SystemClock.now() < end else {
                throw RelayLoadFailure(
                    what: "\(maker.server) does not respond over \(maker.transport.rawValue.uppercased()):"
                        + " does it have a certificate (relay.certificate), and is the port right?")
            }
            _ = queue.wait(milliseconds: 50)
            link.receive { _ in }
            link.flush()
            link.retransmit()
        }
    }

    private func makeEventQueue() throws -> EventQueue {
        guard let queue = EventQueue(), queue.watch(link.descriptor, as: 0) else {
            throw RelayLoadFailure(what: "no more descriptors: raise ulimit -n")
        }
        return queue
    }

    /// Allocates and returns the relayed address.
    mutating func allocate() throws -> TransportAddress {
        guard let relayed = try request(.allocate(maker.server.address.family)).relayed else {
            throw RelayLoadFailure(what: "the server's Allocate response has no relayed address")
        }
        return relayed
    }

    mutating func bind(_ number: UInt16, _ peer: TransportAddress) throws {
        _ = try request(.bindChannel(number, peer))
    }

    /// Releases the allocation, without waiting.
    mutating func release() {
        send(client.begin(.refresh(seconds: 0), at: SystemClock.now()))
    }

    private mutating func request(_ request: TURNClient.Request) throws -> TURNClient.Response {
        let queue = try makeEventQueue()
        send(client.begin(request, at: SystemClock.now()))
        while let deadline = client.deadline {
            let left = deadline.nanoseconds(since: SystemClock.now()) / 1_000_000
            _ = queue.wait(milliseconds: Int32(clamping: left) &+ 1)
            var messages: [[UInt8]] = []
            link.receive { messages.append(Array($0)) }
            for message in messages {
                switch client.receive(message.span.bytes, at: SystemClock.now()) {
                case .nothing, .payload: continue
                case .send(let again): send(again)
                case .answered(let response): return response
                case .refused(let error): throw RelayLoadFailure(refusing: request, with: error)
                case .credentialsRefused:
                    throw RelayLoadFailure(
                        what: "the server refuses the credentials: --user and --password must be in relay.users,"
                            + " or --secret in relay.secrets")
                }
            }
            if let failure = link.failure { throw RelayLoadFailure(what: failure) }
            if case .send(let again) = client.advance(to: SystemClock.now()) { send(again) }
        }
        throw RelayLoadFailure(
            what: "\(maker.server) does not respond over \(maker.transport.rawValue.uppercased()):"
                + " is it relay.port, and does a firewall block it?")
    }

    private func send(_ request: [UInt8]) {
        request.withUnsafeBytes { link.send($0) }
        link.flush()
    }
}

extension RelayLoadFailure {
    init(refusing request: TURNClient.Request, with error: UInt16) {
        switch (request, error) {
        case (.bindChannel(_, let peer), 403):
            what = "the server refuses the peer \(peer) with 403: open it in relay.peers.allow"
        case (.bindChannel(_, let peer), _): what = "the server refuses the peer \(peer) with \(error)"
        case (_, 486):
            what = "the server refuses an allocation with 486: raise relay.limits.allocationsPerUser"
        case (_, 508):
            what =
                "the server refuses an allocation with 508: raise relay.limits.allocations, or widen relay.minPort"
                + " to relay.maxPort"
        default: what = "the server refuses an allocation with \(error)"
        }
    }
}

extension IPAddress {
    static func any(_ family: Family) -> IPAddress {
        family == .ipv4 ? IPAddress(ipv4: 0) : IPAddress(ipv6High: 0, low: 0)
    }
}

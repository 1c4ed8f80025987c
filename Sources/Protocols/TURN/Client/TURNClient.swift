import STUN
package import Wire

/// A client of STUN and TURN (RFC 8489, RFC 8656) for one allocation, without a socket or a clock.
///
/// One request at a time: `begin` returns its bytes, `receive` handles datagrams from the server, and `advance` says
/// when to retransmit or that the request timed out. After a challenge the request is sent again with credentials.
/// Responses to signed requests are accepted only when they are signed with the same key.
package struct TURNClient: ~Copyable {
    package struct Credential: Hashable, Sendable {
        package let username: String
        package let password: String

        package init(username: String, password: String) {
            self.username = username
            self.password = password
        }
    }

    package enum Request: Hashable, Sendable {
        /// The client's own address, as the server sees it.
        case binding
        /// A relay for UDP.
        case allocate(IPAddress.Family)
        case permit(TransportAddress)
        case bindChannel(UInt16, TransportAddress)
        /// 0 ends the allocation.
        case refresh(seconds: UInt32)
    }

    package struct Response: Hashable, Sendable {
        package let mapped: TransportAddress?
        package let relayed: TransportAddress?
        package let lifetime: UInt32?
    }

    package enum Event: Hashable, Sendable {
        /// Not for this request: a late response, or noise.
        case nothing
        /// The request again, with credentials.
        case send([UInt8])
        case answered(Response)
        case refused(UInt16)
        /// The server rejected the credentials.
        case credentialsRefused
        /// Payload from a peer: its range in the datagram, and the channel that it came on.
        case payload(Range<Int>, channel: UInt16?)
    }

    package enum Timer: Hashable, Sendable {
        case wait
        case send([UInt8])
        case timedOut
    }

    /// When a request is retransmitted: the RTO doubles with each of `attempts` (RFC 8489 section 6.2.1). Over a
    /// reliable transport it is sent once, and times out after the same total time (section 6.2.2).
    package struct RetransmissionSchedule: Sendable {
        package var initialRTOMilliseconds: UInt64 = 500
        package var attempts = 5

        package init() {}
    }

    private struct Pending {
        let request: Request
        var transaction: TransactionID
        var bytes: [UInt8]
        var isSigned: Bool
        var attempts = 1
        var next: Instant
    }

    /// From the server's last challenge.
    package private(set) var realm = ""
    private var nonce: [UInt8] = []
    private var key: [UInt8] = []
    private var pending: Pending?
    private var challenges = 0
    private var writer = MessageWriter()
    private var transactions: SeededRandom
    private let credential: Credential
    private let isReliable: Bool
    private let retransmissionSchedule: RetransmissionSchedule
    private let authentication: any MessageAuthentication

    package init(
        _ credential: Credential, isReliable: Bool,
        retransmissionSchedule: RetransmissionSchedule = RetransmissionSchedule(),
        seed: UInt64, _ authentication: any MessageAuthentication
    ) {
        self.credential = credential
        self.isReliable = isReliable
        self.retransmissionSchedule = retransmissionSchedule
        self.authentication = authentication
        transactions = SeededRandom(seed: seed)
    }

    /// When `advance` is due.
    package var deadline: Instant? { pending?.next }

    /// The bytes of the request. A pending request is abandoned.
    package mutating func begin(_ request: Request, at now: Instant) -> [UInt8] {
        challenges = 0
        return write(request, at: now)
    }

    package mutating func advance(to now: Instant) -> Timer {
        guard var waiting = pending, now >= waiting.next else { return .wait }
        guard !isReliable, waiting.attempts < retransmissionSchedule.attempts else {
            pending = nil
            return .timedOut
        }
        waiting.next = now.adding(nanoseconds: rto(after: waiting.attempts))
        waiting.attempts += 1
        pending = waiting
        return .send(waiting.bytes)
    }

    package mutating func receive(_ bytes: RawSpan, at now: Instant) -> Event {
        guard let first = bytes.byte(at: 0) else { return .nothing }
        if first & 0xC0 == 0x40 { return Self.channelPayload(bytes) }
        guard let message = try? Message(bytes) else { return .nothing }
        if message.type == MessageType(.indication, .data) {
            return message.range(of: .data).map { .payload($0, channel: nil) } ?? .nothing
        }
        return receive(message, at: now)
    }

    private mutating func receive(_ message: borrowing Message, at now: Instant) -> Event {
        guard let waiting = pending, message.transaction == waiting.transaction else { return .nothing }
        if message.type.messageClass == .failure, let error = message.errorNumber {
            return fail(error, message, waiting, at: now)
        }
        guard message.type.messageClass == .success, !waiting.isSigned || isSigned(message) else { return .nothing }
        pending = nil
        return .answered(
            Response(
                mapped: message.xorAddress(.xorMappedAddress), relayed: message.xorAddress(.xorRelayedAddress),
                lifetime: message.integer32(.lifetime)))
    }

    /// 401 and 438 are challenges, which cannot be signed.
    private mutating func fail(
        _ error: UInt16, _ message: borrowing Message, _ waiting: Pending, at now: Instant
    ) -> Event {
        guard error == 401 || error == 438 else {
            guard !waiting.isSigned || isSigned(message) || message.integrityToCheck == nil else { return .nothing }
            pending = nil
            return .refused(error)
        }
        pending = nil
        challenges += 1
        guard !(error == 401 && waiting.isSigned), challenges <= 3, let given = message.attribute(.nonce),
            let name = message.text(.realm)
        else { return .credentialsRefused }
        nonce = given.copyToArray()
        if name != realm || key.isEmpty {
            realm = name
            let username = Array(credential.username.utf8)
            guard
                let made = PasswordAlgorithm.md5.key(
                    username: username.span.bytes, realm: name, password: Array(credential.password.utf8),
                    authentication)
            else { return .credentialsRefused }
            key = made.copyToArray()
        }
        return .send(write(waiting.request, at: now))
    }

    private func isSigned(_ message: borrowing Message) -> Bool {
        guard let algorithm = message.integrityToCheck else { return false }
        return message.hasIntegrity(algorithm, key: key.span.bytes, authentication)
    }

    private static func channelPayload(_ bytes: RawSpan) -> Event {
        guard let channel = bytes.integer(at: 0, as: UInt16.self), let length = bytes.integer(at: 2, as: UInt16.self),
            Int(length) <= bytes.byteCount &- 4
        else { return .nothing }
        return .payload(4..<4 &+ Int(length), channel: channel)
    }

    private func rto(after attempts: Int) -> UInt64 {
        (retransmissionSchedule.initialRTOMilliseconds << UInt64(min(max(attempts, 0), 16))) &* 1_000_000
    }

    private mutating func write(_ request: Request, at now: Instant) -> [UInt8] {
        let transaction = TransactionID(UInt32(truncatingIfNeeded: transactions.next()), transactions.next())
        writer.begin(MessageType(.request, request.method), transaction)
        switch request {
        case .binding: break
        case .allocate(let family):
            writer.append(.requestedTransport, integer: UInt32(17) << 24)
            if family == .ipv6 { writer.append(.requestedAddressFamily, integer: UInt32(2) << 24) }
        case .permit(let peer): writer.append(.xorPeerAddress, xor: peer)
        case .bindChannel(let number, let peer):
            writer.append(.channelNumber, integer: UInt32(number) << 16)
            writer.append(.xorPeerAddress, xor: peer)
        case .refresh(let seconds): writer.append(.lifetime, integer: seconds)
        }
        var isSigned = false
        if request != .binding, !key.isEmpty {
            writer.append(.username, text: credential.username)
            writer.append(.realm, text: realm)
            writer.append(.nonce, bytes: nonce)
            let key = key
            isSigned = writer.appendIntegrity(.sha1, key: key.span.bytes, authentication)
        }
        // A reliable transport waits once, for the total time of all attempts.
        let total = rto(after: retransmissionSchedule.attempts) &- rto(after: 0)
        pending = Pending(
            request: request, transaction: transaction, bytes: writer.bytes, isSigned: isSigned,
            next: now.adding(nanoseconds: isReliable ? total : rto(after: 0)))
        return writer.bytes
    }
}

extension TURNClient.Request {
    var method: STUN.Method {
        switch self {
        case .binding: .binding
        case .allocate: .allocate
        case .permit: .createPermission
        case .bindChannel: .channelBind
        case .refresh: .refresh
        }
    }
}

extension TURNClient {
    /// ChannelData, padded as streams require it and datagrams allow it (RFC 8656 section 12.5).
    package static func channelData(_ channel: UInt16, _ payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 + payload.count)
        bytes.append(bigEndian: channel)
        bytes.append(bigEndian: UInt16(truncatingIfNeeded: payload.count))
        bytes += payload
        while bytes.count & 3 != 0 { bytes.append(0) }
        return bytes
    }
}

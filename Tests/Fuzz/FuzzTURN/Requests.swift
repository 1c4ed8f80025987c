import FuzzInput
import STUN
import TURN
import Wire

// What clients send.

extension TURNHarness {
    /// u and v are static users, the others' names expire and are signed with a secret.
    static let users = ["u", "v", "50000:w:c", "50000:x:d"]

    /// A request that is signed, with what it needs and up to three attributes that the input makes up.
    ///
    ///     method | transaction | variation | signature | attributes
    func request(_ input: inout FuzzInput, on flow: Flow) -> Sent {
        let methods: [STUN.Method] = [
            .allocate, .refresh, .createPermission, .channelBind, .allocate, .refresh, .connect, .connectionBind,
        ]
        let method = methods[Int(input.byte() & 7)]
        let transaction = TransactionID(1, UInt64(input.byte() & 15))
        let variation = input.byte()
        let signature = input.byte()
        fetchNonce(on: flow)

        var sent = Sent([])
        var writer = MessageWriter()
        writer.begin(MessageType(.request, method), transaction)
        appendUsual(&writer, method, on: flow, variation, &sent, &input)
        for _ in 0..<(variation >> 6) { appendAny(&writer, &input) }
        sent.peers = Self.peers(in: writer.bytes)
        sign(&writer, on: flow, signature, &sent)
        if signature & 0x10 != 0 {
            // After the signature: must be ignored.
            writer.append(.lifetime, integer: UInt32(0))
            writer.append(.xorPeerAddress, xor: peer(input.byte()))
        }
        if signature & 0x20 != 0 { writer.appendFingerprint() }

        var made = Sent(writer.bytes)
        made.username = sent.username
        made.isCurrent = sent.isCurrent
        made.ticket = sent.ticket
        made.peers = sent.peers
        made.method = method
        made.transaction = transaction
        return made
    }

    private func appendUsual(
        _ writer: inout MessageWriter, _ method: STUN.Method, on flow: Flow, _ variation: UInt8, _ sent: inout Sent,
        _ input: inout FuzzInput
    ) {
        switch method {
        case .allocate:
            let protocolNumber: UInt32 = flow.transport.isStream && variation & 1 == 0 ? 6 : 17
            writer.append(.requestedTransport, integer: protocolNumber << 24)
            switch variation >> 1 & 7 {
            case 1: writer.append(.evenPort, integer: UInt8(0x80))
            case 2: writer.append(.evenPort, integer: UInt8(0))
            case 3: writer.append(.reservationToken, integer: lastToken)
            case 4: writer.append(.additionalAddressFamily, integer: UInt32(2) << 24)
            case 5: writer.append(.requestedAddressFamily, integer: UInt32(2) << 24)
            default: break
            }
            if variation & 0x10 != 0 { writer.append(.mobilityTicket, bytes: []) }
        case .refresh:
            if variation & 1 != 0 {
                writer.append(.lifetime, integer: variation & 2 == 0 ? 0 : UInt32(variation) * 100)
            }
            if variation & 4 != 0 { writer.append(.requestedAddressFamily, integer: UInt32(variation >> 3 & 3) << 24) }
            if variation & 0x20 != 0, !tickets.isEmpty {
                let (text, key) = tickets[Int(input.byte()) % tickets.count]
                writer.append(.mobilityTicket, bytes: text)
                sent.ticket = key
            }
        case .createPermission:
            for _ in 0...(variation & 3) { writer.append(.xorPeerAddress, xor: peer(input.byte())) }
        case .channelBind:
            writer.append(.channelNumber, integer: UInt32(0x4000 + UInt32(variation & 3)) << 16)
            writer.append(.xorPeerAddress, xor: peer(input.byte()))
        case .connect:
            writer.append(.xorPeerAddress, xor: peer(input.byte()))
        default:
            writer.append(.connectionID, integer: connectionID(input.byte()).rawValue)
        }
    }

    private func appendAny(_ writer: inout MessageWriter, _ input: inout FuzzInput) {
        let kinds: [AttributeType] = [
            .xorPeerAddress, .channelNumber, .lifetime, .evenPort, .reservationToken, .requestedAddressFamily,
            .additionalAddressFamily, .dontFragment, .mobilityTicket, .accessToken, .userHash, .padding, .connectionID,
            .requestedTransport, .draftAdditionalAddressFamily, .data,
        ]
        let kind = kinds[Int(input.byte() & 15)]
        writer.append(kind, bytes: input.take(Int(input.byte() & 31)))
    }

    ///     user (2) | old password | algorithms | behind (see `request`) | fingerprint | wrong key | another's nonce
    private func sign(_ writer: inout MessageWriter, on flow: Flow, _ choice: UInt8, _ sent: inout Sent) {
        let name = Self.users[Int(choice & 3)]
        let isOld = choice & 4 != 0
        let namesAlgorithm = choice & 8 != 0
        let isWrong = choice & 0x40 != 0
        writer.append(.username, text: name)
        writer.append(.realm, text: "r")
        writer.append(.nonce, bytes: choice & 0x80 == 0 ? nonces[flow] ?? [] : nonces.values.first ?? [])
        if namesAlgorithm {
            writer.append(.passwordAlgorithms, bytes: [0, 2, 0, 0, 0, 1, 0, 0])
            writer.append(.passwordAlgorithm, integer: UInt32(2) << 16)
        }
        let generation = isOld ? passwordGeneration &- 1 : passwordGeneration
        let key = key(of: name, generation, namesAlgorithm ? .sha256 : .md5)
        let used = isWrong ? key.map { $0 ^ 1 } : key
        guard writer.appendIntegrity(namesAlgorithm ? .sha256 : .sha1, key: used.span.bytes, openSSL) else { return }
        if isWrong { return }
        sent.username = name
        sent.isCurrent = !isOld && (name.first != "5" || unixSeconds < 50_000)
    }

    /// The key of a user under one of the passwords or secrets that there were.
    private func key(of name: String, _ generation: UInt8, _ algorithm: PasswordAlgorithm) -> [UInt8] {
        var password = Array("p\(generation)".utf8)
        if name.first == "5" {
            password = EphemeralCredential.password(of: name, secret: "secret \(generation)", openSSL) ?? []
        }
        let text = Array(name.utf8)
        return algorithm.key(username: text.span.bytes, realm: "r", password: password, openSSL)?.copyToArray() ?? []
    }

    func credentials() -> Credentials {
        let password = "p\(passwordGeneration)"
        return Credentials(
            realm: "r", users: ["u": password, "v": password], secrets: ["secret \(passwordGeneration)"],
            tokenKeys: ["k": [UInt8](repeating: 7, count: 32)])
    }

    /// A Send indication or ChannelData.
    func payload(_ input: inout FuzzInput) -> Sent {
        let choice = input.byte()
        let size = Int(input.byte())
        if choice & 0x80 == 0 {
            return Sent([0x40, choice & 3, 0, UInt8(size)] + [UInt8](repeating: 1, count: size))
        }
        var writer = MessageWriter()
        writer.begin(MessageType(.indication, .send), TransactionID(2, 2))
        writer.append(.xorPeerAddress, xor: peer(choice))
        writer.append(.data, bytes: [UInt8](repeating: 1, count: size))
        if choice & 0x40 != 0 { writer.append(.dontFragment, bytes: []) }
        return Sent(writer.bytes)
    }

    /// Addresses of every kind; some are relays that are open now.
    func peer(_ choice: UInt8) -> TransportAddress {
        let relays = sortedRelays.map(\.value)
        switch choice & 15 {
        case 0...3: return TransportAddress(IPAddress(ipv4: UInt32(choice & 3 + 1) << 24 | 1), port: 9)
        case 4: return TransportAddress(Self.server, port: 80)
        case 5: return TransportAddress(Self.external, port: 80)
        case 6: return TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 81)
        case 7: return TransportAddress(IPAddress(ipv6High: 0x2A00 << 48, low: 9), port: 9)
        case 8: return TransportAddress(IPAddress(ipv6High: 0x0064_FF9B_0000_0000, low: 0x0100_0001), port: 9)
        case 9: return TransportAddress(IPAddress(ipv6High: 0, low: 1), port: 81)
        case 10: return TransportAddress(IPAddress(ipv4: 0x0900_0000), port: UInt16(choice >> 4))
        case 11, 12:
            let relay = relays.isEmpty ? nil : relays[Int(choice >> 4) % relays.count]
            guard let relay, relay.address.family == .ipv4 else { break }
            return TransportAddress(Self.external, port: relay.port)
        default:
            if !relays.isEmpty { return relays[Int(choice >> 4) % relays.count] }
        }
        return TransportAddress(IPAddress(ipv4: 0x0800_0000), port: 1)
    }

    private func connectionID(_ choice: UInt8) -> PeerConnectionID {
        let known = connections.keys.sorted { $0.rawValue < $1.rawValue }
        guard choice & 0x80 == 0, !known.isEmpty else { return PeerConnectionID(rawValue: UInt32(choice & 0x7F)) }
        return known[Int(choice) % known.count]
    }

    private static func peers(in bytes: [UInt8]) -> [TransportAddress] {
        var peers: [TransportAddress] = []
        guard let message = try? Message(bytes.span.bytes) else { return [] }
        let transaction = message.transaction
        message.visitAttributes { type, value in
            if type == .xorPeerAddress, let peer = TransportAddress(xorValue: value, transaction: transaction) {
                peers.append(local(of: peer))
            }
        }
        return peers
    }
}

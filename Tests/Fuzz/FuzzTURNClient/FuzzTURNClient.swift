import FuzzInput
import OpenSSLCrypto
import STUN
import TURN
import Wire

/// A TURN client among hostile servers: what arrives is any bytes, or an answer that the input describes and the
/// harness gives the id of the request that waits, signed with the right key, a wrong one or none.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTURNClient(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(UnsafeRawBufferPointer(start: start, count: count))
    guard let harness = Harness(isReliable: input.byte() & 1 == 1) else { return 0 }
    var steps = 0
    while !input.isEmpty, steps < 200 {
        harness.step(&input)
        steps += 1
    }
    return 0
}

/// Made once: OpenSSL takes longer to look its functions up than a run takes. libFuzzer has one thread.
nonisolated(unsafe) private let openSSL = OpenSSLAuthentication()

private final class Harness {
    private static let peer = TransportAddress(IPAddress(ipv4: 0x0808_0808), port: 9)
    /// A challenge may come three times for one request, and each one sends it up to five times.
    private static let mostSent = 20

    private var client: TURNClient
    private let authentication: OpenSSLAuthentication
    private let isReliable: Bool
    private var now = Instant(nanoseconds: 1_000_000_000)
    /// What the client asks, in its own bytes, while it waits for a response.
    private var asked: [UInt8]?
    private var sent = 0

    init?(isReliable: Bool) {
        guard let authentication = openSSL else { return nil }
        self.authentication = authentication
        self.isReliable = isReliable
        client = TURNClient(.init(username: "u", password: "p"), isReliable: isReliable, seed: 1, authentication)
    }

    func step(_ input: inout FuzzInput) {
        switch input.byte() & 7 {
        case 0, 1:
            let bytes = client.begin(request(&input), at: now)
            sent = 0
            note(bytes)
        case 2: advance(&input)
        case 3: receive(input.take(Int(input.byte())), isSigned: false)
        default: response(&input)
        }
        if (client.deadline == nil) != (asked == nil) { fatalError("it waits for nothing, or nothing wakes it") }
    }

    private func request(_ input: inout FuzzInput) -> TURNClient.Request {
        switch input.byte() % 6 {
        case 0: .binding
        case 1: .allocate(.ipv4)
        case 2: .allocate(.ipv6)
        case 3: .permit(Self.peer)
        case 4: .bindChannel(0x4000, Self.peer)
        default: .refresh(seconds: UInt32(input.byte()) * 16)
        }
    }

    private func advance(_ input: inout FuzzInput) {
        let before = now
        now = now.adding(nanoseconds: UInt64(input.byte()) * 100_000_000)
        let deadline = client.deadline
        switch client.advance(to: now) {
        case .wait:
            if let deadline, deadline <= now { fatalError("a deadline that passes unused") }
        case .send(let bytes):
            if bytes != asked || isReliable { fatalError("another request than before") }
            note(bytes)
            if let next = client.deadline, next <= before { fatalError("a deadline in the past") }
        case .timedOut:
            if asked == nil { fatalError("nothing timed out") }
            asked = nil
        }
    }

    /// A response with up to four attributes.
    private func response(_ input: inout FuzzInput) {
        let asked = asked ?? []
        let request = try? Message(asked.span.bytes)
        let classes: [MessageType.Class] = [.success, .failure, .failure, .indication]
        let methods: [STUN.Method] = [.binding, .allocate, .refresh, .createPermission, .channelBind, .data]
        let choice = input.byte()
        let method = choice & 0x80 == 0 ? request?.type.method ?? .allocate : methods[Int(choice & 7) % methods.count]
        var writer = MessageWriter()
        writer.begin(
            MessageType(classes[Int(choice >> 3 & 3)], method),
            choice & 0x40 == 0 ? request?.transaction ?? TransactionID(0, 0) : TransactionID(1, 2))
        for _ in 0..<(input.byte() & 7) { append(&input, to: &writer) }
        let signature = input.byte()
        let isSigned = sign(&writer, signature)
        if signature & 0x10 != 0 { append(&input, to: &writer) }
        if signature & 0x20 != 0 { writer.appendFingerprint() }
        receive(writer.bytes, isSigned: isSigned)
    }

    private func append(_ input: inout FuzzInput, to writer: inout MessageWriter) {
        let errors: [ErrorCode] = [
            .unauthenticated, .staleNonce, .badRequest, .allocationMismatch, .tryAlternate, .insufficientCapacity,
        ]
        let kinds: [AttributeType] = [
            .xorMappedAddress, .xorRelayedAddress, .lifetime, .data, .realm, .nonce, .errorCode, .mobilityTicket,
        ]
        switch input.byte() & 7 {
        case 0, 1: writer.append(error: errors[Int(input.byte()) % errors.count])
        case 2: writer.append(.realm, text: "r\(input.byte() & 3)")
        case 3: writer.append(.nonce, bytes: input.take(Int(input.byte() & 15)))
        case 4: writer.append(.xorRelayedAddress, xor: Self.peer)
        case 5: writer.append(.data, bytes: input.take(Int(input.byte())))
        default: writer.append(kinds[Int(input.byte() & 7)], bytes: input.take(Int(input.byte() & 31)))
        }
    }

    /// Whether with the key that the client has.
    private func sign(_ writer: inout MessageWriter, _ choice: UInt8) -> Bool {
        let algorithm: IntegrityAlgorithm = choice & 4 == 0 ? .sha1 : .sha256
        switch choice & 3 {
        case 0: return false
        case 1:
            _ = writer.appendIntegrity(algorithm, key: [1, 2, 3].span.bytes, authentication)
            return false
        default:
            let (name, password) = (Array("u".utf8), Array("p".utf8))
            guard
                let key = PasswordAlgorithm.md5.key(
                    username: name.span.bytes, realm: client.realm, password: password, authentication)
            else { return false }
            return key.withBytes { writer.appendIntegrity(algorithm, key: $0, authentication) }
        }
    }

    private func receive(_ bytes: [UInt8], isSigned: Bool) {
        let wasSigned = asked.map { (try? Message($0.span.bytes))?.integrityToCheck != nil } ?? false
        let wasAsked = asked
        let event = client.receive(bytes.span.bytes, at: now)
        switch event {
        case .nothing: break
        case .payload(let range, let channel):
            if range.upperBound > bytes.count { fatalError("a payload beyond the bytes") }
            if channel != nil, bytes[0] & 0xC0 != 0x40 { fatalError("a channel that is none") }
        case .send(let request):
            if wasAsked == nil || request == wasAsked { fatalError("a request that nobody made") }
            note(request)
        case .answered:
            if wasAsked == nil { fatalError("a response without a request") }
            if wasSigned, !isSigned { fatalError("an unsigned response") }
            asked = nil
        case .refused, .credentialsRefused:
            if wasAsked == nil { fatalError("a refusal of nothing") }
            asked = nil
        }
    }

    /// What the client sends is a request by the rules, and it does not send it for ever.
    private func note(_ bytes: [UInt8]) {
        guard let message = try? Message(bytes.span.bytes), message.type.messageClass == .request else {
            fatalError("no request")
        }
        asked = bytes
        sent += 1
        if sent > Self.mostSent { fatalError("it asks and asks") }
    }
}

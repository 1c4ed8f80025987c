import STUN
import Wire

/// What an Allocate request asks for, read and checked (RFC 8656 section 7.2).
struct AllocationWishes {
    let transport: RelayTransport
    let family: IPAddress.Family
    let additional: IPAddress.Family?
    let port: RelayRequest.Port
    /// The lifetime to grant, in seconds.
    var lifetime: UInt32
    /// MOBILITY-TICKET, empty.
    let wantsTicket: Bool

    /// `allowsTCP`: whether the host relays connections.
    static func read(
        _ message: borrowing Message, on flow: Flow, allowsTCP: Bool
    ) -> Result<AllocationWishes, Refusal> {
        guard let value = message.attribute(.requestedTransport), value.byteCount == 4 else {
            return .failure(.badRequest)
        }
        guard let transport = value.byte(at: 0).flatMap({ RelayTransport(rawValue: $0) }),
            transport == .udp || allowsTCP
        else { return .failure(.refused(.unsupportedTransport)) }
        // RFC 6062 section 5.1: TCP is relayed over connections, to a port without conditions.
        if transport == .tcp,
            !flow.transport.isStream || message.has(.evenPort) || message.has(.reservationToken)
                || message.has(.dontFragment)
        {
            return .failure(.badRequest)
        }

        let requested: IPAddress.Family?
        let additional: IPAddress.Family?
        let also: AttributeType =
            message.has(.additionalAddressFamily) ? .additionalAddressFamily : .draftAdditionalAddressFamily
        switch (family(message, .requestedAddressFamily), family(message, also)) {
        case (.success(let first), .success(let second)): (requested, additional) = (first, second)
        case (.failure(let refusal), _), (_, .failure(let refusal)): return .failure(refusal)
        }
        // ADDITIONAL-ADDRESS-FAMILY only adds IPv6 to IPv4, and stands alone.
        if let additional, additional != .ipv6 || requested != nil { return .failure(.badRequest) }

        let port: RelayRequest.Port
        switch self.port(message) {
        case .success(let read): port = read
        case .failure(let refusal): return .failure(refusal)
        }
        switch port {
        case .reserved where requested != nil || additional != nil: return .failure(.badRequest)
        case .even(reserveNext: true) where additional != nil: return .failure(.badRequest)
        default: break
        }

        // RFC 8016 section 3.1.2: a client that asks for a ticket has none yet.
        guard message.attribute(.mobilityTicket)?.isEmpty ?? true else { return .failure(.badRequest) }
        guard !message.has(.lifetime) || message.integer32(.lifetime) != nil else { return .failure(.badRequest) }
        return .success(
            AllocationWishes(
                transport: transport, family: requested ?? .ipv4, additional: additional, port: port,
                lifetime: granted(message.integer32(.lifetime)), wantsTicket: message.has(.mobilityTicket)))
    }

    /// REQUESTED-ADDRESS-FAMILY or its sibling: 440 for a family that does not exist.
    static func family(_ message: borrowing Message, _ type: AttributeType) -> Result<IPAddress.Family?, Refusal> {
        guard let value = message.attribute(type) else { return .success(nil) }
        guard value.byteCount == 4, let number = value.byte(at: 0) else { return .failure(.badRequest) }
        guard let family = IPAddress.Family(rawValue: number) else {
            return .failure(.refused(.addressFamilyNotSupported))
        }
        return .success(family)
    }

    /// A lifetime between the default, which is also the shortest, and the longest.
    static func granted(_ wished: UInt32?) -> UInt32 {
        min(max(wished ?? 0, TURNEngine.defaultLifetime), TURNEngine.maximumLifetime)
    }

    private static func port(_ message: borrowing Message) -> Result<RelayRequest.Port, Refusal> {
        if let token = message.attribute(.reservationToken) {
            guard token.byteCount == 8, let value = token.integer(at: 0, as: UInt64.self), !message.has(.evenPort)
            else {
                return .failure(.badRequest)
            }
            return .success(.reserved(token: value))
        }
        guard let even = message.attribute(.evenPort) else { return .success(.any) }
        guard even.byteCount == 1, let bits = even.byte(at: 0) else { return .failure(.badRequest) }
        return .success(.even(reserveNext: bits & 0x80 != 0))
    }
}

extension Refusal {
    static func refused(_ error: ErrorCode) -> Refusal {
        Refusal(error: error, isChallenge: false)
    }
}

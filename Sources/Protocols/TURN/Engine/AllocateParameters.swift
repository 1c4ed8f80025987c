import STUN
import Wire

/// The parameters of an Allocate request, checked (RFC 8656 section 7.2).
struct AllocateParameters {
    let transport: RelayTransport
    let family: IPAddress.Family
    let additional: IPAddress.Family?
    let port: RelayRequest.Port
    /// The lifetime to grant, in seconds.
    var lifetime: UInt32
    /// MOBILITY-TICKET, empty.
    let requestsTicket: Bool

    /// - Parameter allowsTCP: whether the host relays TCP.
    static func read(
        _ message: borrowing Message, on flow: Flow, allowsTCP: Bool
    ) -> Result<AllocateParameters, RequestError> {
        guard let value = message.attribute(.requestedTransport), value.byteCount == 4 else {
            return .failure(.badRequest)
        }
        guard let transport = value.byte(at: 0).flatMap({ RelayTransport(rawValue: $0) }),
            transport == .udp || allowsTCP
        else { return .failure(.rejected(.unsupportedTransport)) }
        // RFC 6062 section 5.1: a TCP allocation needs a stream, and cannot ask for a particular port.
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
        case (.failure(let error), _), (_, .failure(let error)): return .failure(error)
        }
        // ADDITIONAL-ADDRESS-FAMILY can only be IPv6, and excludes REQUESTED-ADDRESS-FAMILY.
        if let additional, additional != .ipv6 || requested != nil { return .failure(.badRequest) }

        let port: RelayRequest.Port
        switch self.port(message) {
        case .success(let read): port = read
        case .failure(let error): return .failure(error)
        }
        switch port {
        case .reserved where requested != nil || additional != nil: return .failure(.badRequest)
        case .even(reserveNext: true) where additional != nil: return .failure(.badRequest)
        default: break
        }

        // RFC 8016 section 3.1.2: a client that requests a ticket sends an empty one.
        guard message.attribute(.mobilityTicket)?.isEmpty ?? true else { return .failure(.badRequest) }
        guard !message.has(.lifetime) || message.integer32(.lifetime) != nil else { return .failure(.badRequest) }
        return .success(
            AllocateParameters(
                transport: transport, family: requested ?? .ipv4, additional: additional, port: port,
                lifetime: granted(message.integer32(.lifetime)), requestsTicket: message.has(.mobilityTicket)))
    }

    /// REQUESTED-ADDRESS-FAMILY or ADDITIONAL-ADDRESS-FAMILY: 440 for an unknown family.
    static func family(_ message: borrowing Message, _ type: AttributeType) -> Result<IPAddress.Family?, RequestError> {
        guard let value = message.attribute(type) else { return .success(nil) }
        guard value.byteCount == 4, let number = value.byte(at: 0) else { return .failure(.badRequest) }
        guard let family = IPAddress.Family(rawValue: number) else {
            return .failure(.rejected(.addressFamilyNotSupported))
        }
        return .success(family)
    }

    /// A lifetime between the default, which is also the minimum, and the maximum.
    static func granted(_ requested: UInt32?) -> UInt32 {
        min(max(requested ?? 0, TURNEngine.defaultLifetime), TURNEngine.maximumLifetime)
    }

    private static func port(_ message: borrowing Message) -> Result<RelayRequest.Port, RequestError> {
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

extension RequestError {
    static func rejected(_ code: ErrorCode) -> RequestError {
        RequestError(code: code, isChallenge: false)
    }
}

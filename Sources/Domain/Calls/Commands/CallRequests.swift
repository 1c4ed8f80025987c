package import Model

// The bodies of requests; the commands check the limits.

/// What to do with the user's other calls when a call begins.
package enum OtherCalls: String, Hashable, Sendable, Codable {
    case hold, end
}

/// The requested media path of a new call.
package enum RequestedMode: String, Hashable, Sendable, Codable {
    case direct, gateway
}

package struct CreateCall: Hashable, Sendable, Decodable {
    package var clientID: ClientID
    /// Empty for a call in a conversation, whose members are called.
    package var callees: [UserID]
    package var kind: Call.Kind
    /// Absent: direct between two people, gateway for more.
    package var mode: RequestedMode?
    /// The first offer, between two people. It is held for the endpoint that accepts, so that ringing reveals no
    /// address.
    package var offer: SessionDescriptionInit?
    package var ringSeconds: Int64?
    package var other: OtherCalls?
    package var conversation: ConversationID?

    package init(
        clientID: ClientID, callees: [UserID] = [], kind: Call.Kind, mode: RequestedMode? = nil,
        offer: SessionDescriptionInit? = nil, ringSeconds: Int64? = nil, other: OtherCalls? = nil,
        conversation: ConversationID? = nil
    ) {
        self.clientID = clientID
        self.callees = callees
        self.kind = kind
        self.mode = mode
        self.offer = offer
        self.ringSeconds = ringSeconds
        self.other = other
        self.conversation = conversation
    }

    private enum CodingKeys: String, CodingKey {
        case clientID, callees, kind, mode, offer, ringSeconds, other, conversation
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        clientID = try values.decode(ClientID.self, forKey: .clientID)
        callees = try values.decodeIfPresent([UserID].self, forKey: .callees) ?? []
        kind = try values.decode(Call.Kind.self, forKey: .kind)
        mode = try values.decodeIfPresent(RequestedMode.self, forKey: .mode)
        offer = try values.decodeIfPresent(SessionDescriptionInit.self, forKey: .offer)
        ringSeconds = try values.decodeIfPresent(Int64.self, forKey: .ringSeconds)
        other = try values.decodeIfPresent(OtherCalls.self, forKey: .other)
        conversation = try values.decodeIfPresent(ConversationID.self, forKey: .conversation)
    }
}

extension Call.Kind: Codable {}

package struct AcceptCall: Hashable, Sendable, Decodable {
    /// Accepting is idempotent per endpoint; the id is present because every write has one.
    package var clientID: ClientID?
    package var other: OtherCalls?
    package var media: MediaState.Change?

    package init(clientID: ClientID? = nil, other: OtherCalls? = nil, media: MediaState.Change? = nil) {
        self.clientID = clientID
        self.other = other
        self.media = media
    }
}

package struct InviteToCall: Hashable, Sendable, Decodable {
    package var clientID: ClientID
    package var users: [UserID]

    package init(clientID: ClientID, users: [UserID]) {
        self.clientID = clientID
        self.users = users
    }
}

/// A digest that distinguishes requests with the same client id. FNV-1a with 64 bits: a user who makes two of their own
/// requests collide harms nobody.
struct BodyHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ text: String?) {
        for byte in (text ?? "\u{0}").utf8 { add(byte) }
        add(0xFF)
    }

    private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }

    var integer: Int64 { Int64(bitPattern: value) }
}

extension CreateCall {
    var bodyHash: Int64 {
        var hash = BodyHash()
        for callee in callees { hash.add(callee.text) }
        hash.add(kind.rawValue)
        hash.add(mode?.rawValue)
        hash.add(offer?.sdp)
        hash.add(ringSeconds.map(String.init))
        hash.add(other?.rawValue)
        hash.add(conversation?.text)
        return hash.integer
    }
}

extension InviteToCall {
    func bodyHash(for call: CallID) -> Int64 {
        var hash = BodyHash()
        hash.add(call.text)
        for user in users { hash.add(user.text) }
        return hash.integer
    }
}

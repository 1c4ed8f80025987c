/// An entity's id: a UUID (version 7 where this server made it, RFC 9562 section 5.7), written in lower case.
///
/// The phantom type keeps a user's id from being handed over where a call's is expected. The text is kept rather than
/// the 16 bytes, because ids travel from JSON to SQL and back far more often than they are compared.
package struct Identifier<Entity>: Hashable, Sendable {
    package let text: String

    /// Takes any UUID in its canonical form of 36 characters; letters are folded to lower case.
    package init?(_ text: String) {
        guard text.utf8.count == 36 else { return nil }
        var hasUpperCase = false
        for (index, byte) in text.utf8.enumerated() {
            switch (index, byte) {
            case (8, UInt8(ascii: "-")), (13, UInt8(ascii: "-")), (18, UInt8(ascii: "-")), (23, UInt8(ascii: "-")):
                break
            case (8, _), (13, _), (18, _), (23, _): return nil
            case (_, UInt8(ascii: "0")...UInt8(ascii: "9")), (_, UInt8(ascii: "a")...UInt8(ascii: "f")): break
            case (_, UInt8(ascii: "A")...UInt8(ascii: "F")): hasUpperCase = true
            default: return nil
            }
        }
        self.text = hasUpperCase ? text.lowercased() : text
    }

    /// Makes a version 7 UUID: 48 bits of `now` in milliseconds, then 74 random bits, so that ids sort by age.
    package static func make(at now: Timestamp, using generator: inout some RandomNumberGenerator) -> Self {
        let milliseconds = UInt64(clamping: now.milliseconds) & 0xFFFF_FFFF_FFFF
        let high = milliseconds << 16 | 0x7000 | UInt64.random(in: 0...0xFFF, using: &generator)
        let low = 0x8000_0000_0000_0000 | UInt64.random(in: 0...0x3FFF_FFFF_FFFF_FFFF, using: &generator)
        return Self(high: high, low: low)
    }

    /// Makes a version 7 UUID with the system's random numbers.
    package static func make(at now: Timestamp) -> Self {
        var generator = SystemRandomNumberGenerator()
        return make(at: now, using: &generator)
    }

    private init(high: UInt64, low: UInt64) {
        text = String(unsafeUninitializedCapacity: 36) { buffer in
            var position = 0
            for word in [high, low] {
                for shift in stride(from: 60, through: 0, by: -4) {
                    if position == 8 || position == 13 || position == 18 || position == 23 {
                        buffer[position] = UInt8(ascii: "-")
                        position += 1
                    }
                    let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 0xF
                    buffer[position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                    position += 1
                }
            }
            return 36
        }
    }
}

extension Identifier: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let identifier = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "must be a UUID")
        }
        self = identifier
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension Identifier: CustomStringConvertible {
    package var description: String { text }
}

/// What the ids stand for; nothing is ever made of these types.
package enum Entities {
    package enum User {}
    package enum Device {}
    package enum SignIn {}
    package enum Endpoint {}
    package enum Session {}
    package enum Call {}
    package enum Conversation {}
    package enum Client {}
    package enum File {}
    package enum VoiceRecording {}
    package enum Recording {}
    package enum Webhook {}
    package enum Event {}
    package enum Report {}
    package enum GroupLink {}
    package enum AssistantThread {}
    package enum AssistantRun {}
}

/// A person with an account.
package typealias UserID = Identifier<Entities.User>
/// An installation that a user signed in on.
package typealias DeviceID = Identifier<Entities.Device>
/// One sign-in of a user on a device, to which a refresh token belongs and which can be revoked. In JSON: `session`.
package typealias SignInID = Identifier<Entities.SignIn>
/// One running client: a browser tab or an app process.
package typealias EndpointID = Identifier<Entities.Endpoint>
/// One realtime connection of an endpoint.
package typealias SessionID = Identifier<Entities.Session>
/// A call.
package typealias CallID = Identifier<Entities.Call>
/// A conversation, which calls may belong to.
package typealias ConversationID = Identifier<Entities.Conversation>
/// An idempotency key that a client chooses for a write; scoped to the user.
package typealias ClientID = Identifier<Entities.Client>
/// A media file, such as the audio of a voice message.
package typealias FileID = Identifier<Entities.File>
/// A recording of which a voice file is made. In JSON: `recording`.
package typealias VoiceRecordingID = Identifier<Entities.VoiceRecording>
/// A recording of a call.
package typealias RecordingID = Identifier<Entities.Recording>
/// A webhook: a subscription of the app's own server to events.
package typealias WebhookID = Identifier<Entities.Webhook>
/// An event that webhooks get.
package typealias EventID = Identifier<Entities.Event>
/// A report of one user about another, to the operator.
package typealias ReportID = Identifier<Entities.Report>
/// A link by which people join a group.
package typealias GroupLinkID = Identifier<Entities.GroupLink>
/// Questions to the assistant that know of each other.
package typealias AssistantThreadID = Identifier<Entities.AssistantThread>
/// A question to the assistant, and its answer.
package typealias AssistantRunID = Identifier<Entities.AssistantRun>

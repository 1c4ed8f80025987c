public import Foundation
import NIOCore
import NIOHTTP1

extension Switchboard {
    private struct Answer: Decodable { var message: VoiceMessage }
    private struct TranscriptAnswer: Decodable { var transcript: Transcript }
    private struct Description: Codable { var sdp: String }
    private struct Offer: Encodable {
        var to: UserID
        var offer: Description
    }
    private struct Begun: Decodable {
        var recording: VoiceRecordingID
        var answer: Description
    }
    private struct Listing: Encodable {
        var with: UserID
        var limit: Int?
        var cursor: String?
    }
    /// A sound takes longer than a request, and is sent again where it is not known whether it came.
    private static let uploadSeconds: Int64 = 120
    private static let tries = 3

    /// Sends a voice message: a file with Opus in Ogg or WebM, within the bounds that the server has.
    ///
    /// - Parameters:
    ///   - file: What the file holds.
    ///   - user: Who is to hear it.
    public func sendVoiceMessage(_ file: Data, to user: UserID) async throws -> VoiceMessage {
        let route = "/v1/voice-messages?to=\(user)&clientID=\(newUUID())"
        // WebM begins like this (RFC 8794 section 11.2.1).
        let type = file.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) ? "audio/webm" : "audio/ogg"
        var attempt = 1
        while true {
            do {
                let token = try await credentials.accessToken()
                let answer = try await door.exchange(
                    .POST, route, token: token.text, body: (type, Array(file)), timeout: .seconds(Self.uploadSeconds))
                return try JSON.decode(Answer.self, from: answer).message
            } catch let error as SwitchboardError {
                guard attempt < Self.tries, error.isOfTheWay else { throw error }
                attempt += 1
                try await Task.sleep(for: .seconds(attempt))
            }
        }
    }

    /// Records a voice message on the server while it is spoken, which needs no recorder and nothing to be uploaded: for
    /// servers with a media gateway, as ``ServerDescription/voice`` tells.
    ///
    /// Where only a relay gets through, give the connection ``iceServers(for:)`` with ``ICEServers/Purpose/voiceMessage``.
    ///
    /// What comes from the first packet on is recorded. An app has one recording at a time: another one takes its place.
    ///
    /// - Parameters:
    ///   - offer: The session description of a new peer connection that sends a microphone's track in Opus; other sections
    ///     are answered without. At most 256 KiB.
    ///   - user: Who is to hear it.
    /// - Throws: ``Problem/Kind/conflict`` where the server has no media gateway, and ``Problem/Kind/invalidRequest`` with
    ///   the field `offer.sdp` for an offer that cannot be answered.
    public func recordVoiceMessage(offer: String, to user: UserID) async throws -> VoiceRecording {
        let begun: Begun = try await realtime.ask("voice.record", Offer(to: user, offer: .init(sdp: offer)))
        return VoiceRecording(id: begun.recording, answer: begun.answer.sdp, endpoint: realtime)
    }

    /// The voice messages between oneself and another, the newest first.
    ///
    /// - Parameters:
    ///   - user: The other one.
    ///   - limit: How many at most, 1 to 100.
    ///   - cursor: ``VoiceMessagePage/nextCursor`` of the part before.
    public func voiceMessages(
        with user: UserID, limit: Int? = nil, after cursor: String? = nil
    ) async throws -> VoiceMessagePage {
        try await realtime.ask("voice.list", Listing(with: user, limit: limit, cursor: cursor))
    }

    /// One voice message, with a new address of its sound.
    public func voiceMessage(_ id: VoiceMessageID) async throws -> VoiceMessage {
        let answer: Answer = try await realtime.ask("voice.get", ["message": id])
        return answer.message
    }

    /// Has a voice message written down, or tries again after that failed.
    ///
    /// - Throws: ``Problem`` with the kind `provider_not_configured` where the server has nobody who does it.
    public func transcribeVoiceMessage(_ id: VoiceMessageID) async throws -> Transcript {
        let answer: TranscriptAnswer = try await realtime.ask("voice.transcribe", ["message": id])
        return answer.transcript
    }

    /// Takes a voice message back, for both; only who sent it may.
    public func deleteVoiceMessage(_ id: VoiceMessageID) async throws {
        let _: Nothing = try await realtime.ask("voice.remove", ["message": id])
    }

    /// What a voice message sounds like: an Ogg file with Opus.
    public func sound(of message: VoiceMessage) async throws -> Data {
        var message = message
        if message.audio.expiresAt.timeIntervalSinceNow < 10 { message = try await voiceMessage(message.id) }
        let bytes = try await door.exchange(
            .GET, message.audio.url, token: nil, body: nil, timeout: .seconds(Self.uploadSeconds),
            limit: max(message.byteCount, 0))
        return Data(bytes)
    }
}

extension SwitchboardError {
    /// Nothing was refused: the way to the server is broken.
    fileprivate var isOfTheWay: Bool {
        switch self {
        case .unreachable, .timedOut: true
        default: false
        }
    }
}

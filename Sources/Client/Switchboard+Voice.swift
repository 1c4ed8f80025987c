public import Foundation
import NIOCore
import NIOHTTP1

extension Switchboard {
    private struct Response: Decodable { var message: VoiceMessage }
    private struct TranscriptResponse: Decodable { var transcript: Transcript }
    private struct Description: Codable { var sdp: String }
    private struct Offer: Encodable {
        var to: UserID
        var offer: Description
    }
    private struct RecordResult: Decodable {
        var recording: VoiceRecordingID
        var answer: Description
    }
    private struct Listing: Encodable {
        var with: UserID
        var limit: Int?
        var cursor: String?
    }
    /// An upload takes longer than other requests, and is retried if it is unknown whether it arrived.
    private static let uploadSeconds: Int64 = 120
    private static let maxAttempts = 3

    /// Sends a voice message: a file with Opus in Ogg or WebM, within the server's limits.
    ///
    /// - Parameters:
    ///   - file: The content of the file.
    ///   - user: The recipient.
    public func sendVoiceMessage(_ file: Data, to user: UserID) async throws -> VoiceMessage {
        let route = "/v1/voice-messages?to=\(user)&clientID=\(newUUID())"
        // The EBML header of WebM (RFC 8794 section 11.2.1).
        let type = file.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) ? "audio/webm" : "audio/ogg"
        var attempt = 1
        while true {
            do {
                let token = try await credentials.accessToken()
                let response = try await rest.exchange(
                    .POST, route, token: token.text, body: (type, Array(file)), timeout: .seconds(Self.uploadSeconds))
                return try JSON.decode(Response.self, from: response).message
            } catch let error as SwitchboardError {
                guard attempt < Self.maxAttempts, error.isConnectionError else { throw error }
                attempt += 1
                try await Task.sleep(for: .seconds(attempt))
            }
        }
    }

    /// Records a voice message on the server, without a local recorder or an upload: for servers with a media gateway,
    /// see ``ServerDescription/voice``.
    ///
    /// If the network requires a relay, pass ``iceServers(for:)`` with ``ICEServers/Purpose/voiceMessage`` to the peer
    /// connection.
    ///
    /// The recording begins with the first packet. An endpoint has one recording at a time: a new one replaces it.
    ///
    /// - Parameters:
    ///   - offer: The session description of a new peer connection that sends a microphone track in Opus, at most
    ///     256 KiB; other sections are rejected.
    ///   - user: The recipient.
    /// - Throws: ``Problem/Kind/conflict`` if the server has no media gateway, and ``Problem/Kind/invalidRequest`` with
    ///   the field `offer.sdp` for an offer that cannot be answered.
    public func recordVoiceMessage(offer: String, to user: UserID) async throws -> VoiceRecording {
        let result: RecordResult = try await realtime.request("voice.record", Offer(to: user, offer: .init(sdp: offer)))
        return VoiceRecording(id: result.recording, answer: result.answer.sdp, endpoint: realtime)
    }

    /// The voice messages between the signed-in user and another, newest first.
    ///
    /// - Parameters:
    ///   - user: The other user.
    ///   - limit: How many at most, 1 to 100.
    ///   - cursor: ``VoiceMessagePage/nextCursor`` of the previous page.
    public func voiceMessages(
        with user: UserID, limit: Int? = nil, after cursor: String? = nil
    ) async throws -> VoiceMessagePage {
        try await realtime.request("voice.list", Listing(with: user, limit: limit, cursor: cursor))
    }

    /// One voice message, with a new link to its audio.
    public func voiceMessage(_ id: VoiceMessageID) async throws -> VoiceMessage {
        let response: Response = try await realtime.request("voice.get", ["message": id])
        return response.message
    }

    /// Requests the transcript of a voice message, or retries it after a failure.
    ///
    /// - Throws: ``Problem`` with the kind `provider_not_configured` if the server has no transcription provider.
    public func transcribeVoiceMessage(_ id: VoiceMessageID) async throws -> Transcript {
        let response: TranscriptResponse = try await realtime.request("voice.transcribe", ["message": id])
        return response.transcript
    }

    /// Deletes a voice message for both users; only the sender may.
    public func deleteVoiceMessage(_ id: VoiceMessageID) async throws {
        let _: Nothing = try await realtime.request("voice.remove", ["message": id])
    }

    /// Loads the audio of a voice message: an Ogg file with Opus.
    public func audio(of message: VoiceMessage) async throws -> Data {
        var message = message
        if message.audio.expiresAt.timeIntervalSinceNow < 10 { message = try await voiceMessage(message.id) }
        let bytes = try await rest.exchange(
            .GET, message.audio.url, token: nil, body: nil, timeout: .seconds(Self.uploadSeconds),
            limit: max(message.byteCount, 0))
        return Data(bytes)
    }
}

extension SwitchboardError {
    /// Whether the connection failed, rather than the server rejecting the request.
    fileprivate var isConnectionError: Bool {
        switch self {
        case .unreachable, .timedOut: true
        default: false
        }
    }
}

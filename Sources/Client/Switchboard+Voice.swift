public import Foundation
import NIOCore
import NIOHTTP1

// Voice messages: their sound is made first, and then sent.
extension Switchboard {
    private struct Description: Codable { var sdp: String }
    private struct Offer: Encodable { var offer: Description }
    private struct RecordResult: Decodable {
        var recording: VoiceRecordingID
        var answer: Description
    }
    /// An upload is retried if it is unknown whether it arrived.
    private static let maxAttempts = 3

    /// Uploads a file, to be sent with ``Messages/sendVoice(_:replyTo:inThreadOf:)`` within a day. It needs a connection:
    /// ``Messages/sendVoice(_:durationMs:replyTo:inThreadOf:)`` does not.
    ///
    /// - Parameters:
    ///   - file: The content of a file with Opus in Ogg or WebM, within the server's limits.
    ///   - clientID: An upload that is repeated with it is carried out once.
    public func uploadVoice(_ file: Data, as clientID: MessageClientID? = nil) async throws -> VoiceFile {
        let clientID = clientID ?? MessageClientID(newUUID())
        var attempt = 1
        while true {
            do {
                let token = try await credentials.accessToken()
                return try await rest.uploadVoice(file, as: clientID, token: token.text)
            } catch let error as SwitchboardError {
                guard attempt < Self.maxAttempts, error.isConnectionError else { throw error }
                attempt += 1
                try await Task.sleep(for: .seconds(attempt))
            }
        }
    }

    /// Writes down what the user says, such as for the text of a message. The server keeps neither the sound nor the words.
    ///
    /// - Parameters:
    ///   - sound: The content of a file with Opus in Ogg or WebM, of at most two minutes and 2 MiB.
    ///   - language: Which is spoken, as a BCP 47 tag; nil if the server is to know.
    /// - Throws: ``Problem/Kind/providerNotConfigured`` where ``ServerDescription/transcribes`` is false,
    ///   ``Problem/Kind/consentRequired`` if the user or the server does not allow it, and ``Problem/Kind/providerFailed``.
    public func dictate(_ sound: Data, language: String? = nil) async throws -> Dictation {
        let token = try await credentials.accessToken()
        return try await rest.dictate(sound, language: language, token: token.text)
    }

    /// Discards a file that was not sent.
    public func discardVoice(_ file: VoiceFile) async throws {
        let _: Nothing = try await realtime.request("voice.discard", ["file": file.id])
    }

    /// Records a voice message on the server, without a local recorder or an upload: for servers with a media gateway,
    /// see ``ServerDescription/voice``.
    ///
    /// If the network requires a relay, pass ``iceServers(for:)`` with ``ICEServers/Purpose/voiceMessage`` to the peer
    /// connection.
    ///
    /// The recording begins with the first packet. An endpoint has one recording at a time: a new one replaces it.
    ///
    /// - Parameter offer: The session description of a new peer connection that sends a microphone track in Opus, at most
    ///   256 KiB; other sections are rejected.
    /// - Throws: ``Problem/Kind/conflict`` if the server has no media gateway, and ``Problem/Kind/invalidRequest`` with
    ///   the field `offer.sdp` for an offer that cannot be answered.
    public func recordVoice(offer: String) async throws -> VoiceRecording {
        let result: RecordResult = try await realtime.request("voice.record", Offer(offer: .init(sdp: offer)))
        return VoiceRecording(id: result.recording, answer: result.answer.sdp, endpoint: realtime)
    }

    /// Loads the audio of a voice message: an Ogg file with Opus.
    ///
    /// - Throws: ``Problem/Kind/notFound`` and ``Problem/Kind/conflict`` if the user does not see the message, it was deleted,
    ///   or it is no voice message.
    public func audio(of message: Message) async throws -> Data {
        let link = try await messages(in: message.conversation).audioLink(of: message.number)
        let bytes = try await rest.exchange(
            .GET, link.url, token: nil, body: nil, timeout: .seconds(RESTClient.voiceSeconds),
            limit: max(message.voice?.byteCount ?? 0, 0))
        return Data(bytes)
    }
}

extension RESTClient {
    /// A transfer of sound takes longer than other requests.
    static let voiceSeconds: Int64 = 120

    private struct Upload: Decodable { var file: VoiceFile }

    /// Uploads a sound, once; a repetition with the same id has the same file.
    func uploadVoice(_ sound: Data, as clientID: MessageClientID, token: String) async throws -> VoiceFile {
        let response = try await exchange(
            .POST, "/v1/voice-files?clientID=\(clientID)", token: token, body: (Self.type(of: sound), Array(sound)),
            timeout: .seconds(Self.voiceSeconds))
        return try JSON.decode(Upload.self, from: response).file
    }

    func dictate(_ sound: Data, language: String?, token: String) async throws -> Dictation {
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-"))
        let query = language?.addingPercentEncoding(withAllowedCharacters: allowed).map { "?language=\($0)" }
        let response = try await exchange(
            .POST, "/v1/dictation\(query ?? "")", token: token, body: (Self.type(of: sound), Array(sound)),
            timeout: .seconds(Self.voiceSeconds))
        return try JSON.decode(Dictation.self, from: response)
    }

    /// By the EBML header of WebM (RFC 8794 section 11.2.1).
    private static func type(of sound: Data) -> String {
        sound.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) ? "audio/webm" : "audio/ogg"
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

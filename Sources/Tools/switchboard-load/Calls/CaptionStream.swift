import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat

/// The caption streams of one call, as server-sent events to the endpoint of a participant. Only participants receive
/// them.
struct CaptionStream: Sendable {
    struct Caption: Decodable, Sendable {
        var user: String
        /// RFC 3339.
        var startedAt: String
        var durationMs: Int
        var text: String
    }

    enum Event: Sendable {
        case listening
        case caption(Caption)
        /// Why there are currently none.
        case failure(String)
    }

    private static let maxEventByteCount = 1 << 20

    let http: MediaHTTP
    let call: String
    let member: MediaCall.Member

    private struct Hello: Encodable { var token, endpoint, secret: String }
    private struct Listen: Encodable {
        struct Stream: Encodable { var stream: String }
        var id: Int
        var listen: Stream
    }
    private struct Heartbeat: Encodable { var heartbeat: [String: String] = [:] }

    private struct Frame: Decodable {
        struct Result: Decodable { var session: String? }
        struct Change: Decodable {
            struct Captions: Decodable { var failure: String? }
            struct Call: Decodable { var captions: Captions? }
            enum Key: CodingKey { case type, data }

            var failure: String?

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                guard try container.decode(String.self, forKey: .type) == "call" else { return }
                failure = try container.decode(Call.self, forKey: .data).captions?.failure
            }
        }
        struct Problem: Decodable { var detail: String? }

        var id: Int?
        var result: Result?
        var error: Problem?
        var heartbeat: [String: Bool]?
        var changes: [Change]?
        var caption: Caption?

        enum CodingKeys: CodingKey { case id, result, error, heartbeat, stream, changes, event }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decodeIfPresent(Int.self, forKey: .id)
            result = id == 0 ? try container.decodeIfPresent(Result.self, forKey: .result) : nil
            error = try container.decodeIfPresent(Problem.self, forKey: .error)
            heartbeat = container.contains(.heartbeat) ? [:] : nil
            let stream = try container.decodeIfPresent(String.self, forKey: .stream) ?? ""
            if stream.hasPrefix("call:") {
                changes = try container.decodeIfPresent([Change].self, forKey: .changes)
            }
            if stream.hasPrefix("captions:") {
                caption = try container.decodeIfPresent(Caption.self, forKey: .event)
            }
        }
    }

    /// Listens until the task is cancelled, or the server ends it.
    func run(_ onEvent: (Event) async -> Void) async throws {
        let hello = Hello(token: member.person.token, endpoint: member.endpoint, secret: member.secret)
        var buffer = ByteBuffer()
        var session: String?
        for try await chunk in try await http.stream("/v1/realtime/sse", hello) {
            buffer.writeImmutableBuffer(chunk)
            while let event = Self.event(&buffer) {
                let frame = try JSONDecoder().decode(Frame.self, from: event)
                if let problem = frame.error { throw MediaFailure("the call's stream: \(problem.detail ?? "")") }
                if let started = frame.result?.session {
                    session = started
                    try await post(Listen(id: 1, listen: .init(stream: "call:\(call)")), to: started)
                    try await post(Listen(id: 2, listen: .init(stream: "captions:\(call)")), to: started)
                }
                if frame.id == 2 { await onEvent(.listening) }
                if frame.heartbeat != nil, let session { try await post(Heartbeat(), to: session) }
                for change in frame.changes ?? [] {
                    if let failure = change.failure { await onEvent(.failure(failure)) }
                }
                if let caption = frame.caption { await onEvent(.caption(caption)) }
            }
            guard buffer.readableBytes < Self.maxEventByteCount else { throw MediaFailure("an event without an end") }
        }
        throw MediaFailure("the call's stream ended")
    }

    private func post(_ frame: some Encodable, to session: String) async throws {
        try await http.send("/v1/realtime/sse/\(session)", frame, [("Authorization", "Bearer \(member.person.token)")])
    }

    /// `data: {…}` and an empty line.
    private static func event(_ buffer: inout ByteBuffer) -> Data? {
        while let end = buffer.readableBytesView.firstRange(of: [10, 10]) {
            let event = buffer.readableBytesView[..<end.lowerBound]
            defer {
                buffer.moveReaderIndex(to: end.upperBound)
                buffer.discardReadBytes()
            }
            if event.starts(with: "data: ".utf8) { return Data(event.dropFirst(6)) }
        }
        return nil
    }
}

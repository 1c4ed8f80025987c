import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat

/// The stream of one call, as server-sent events to a client of its own: what is told of its captions.
struct CaptionStream: Sendable {
    struct Caption: Decodable, Sendable {
        var user: String
        /// RFC 3339.
        var startedAt: String
        var durationMs: Int
        var text: String
    }

    enum News: Sendable {
        case listening
        case caption(Caption)
        /// Why there are none now.
        case failure(String)
    }

    private static let largestEvent = 1 << 20

    let http: MediaHTTP
    let call: String
    let person: VirtualUser

    private struct Greeting: Encodable { var token, endpoint, secret: String }
    private struct Listen: Encodable {
        struct Stream: Encodable { var stream: String }
        var id = 1
        var listen: Stream
    }
    private struct Heartbeat: Encodable { var heartbeat: [String: String] = [:] }

    private struct Frame: Decodable {
        struct Result: Decodable { var session: String? }
        struct Change: Decodable {
            struct Captions: Decodable { var failure: String? }
            struct Call: Decodable { var captions: Captions? }
            enum Key: CodingKey { case type, data }

            var caption: Caption?
            var failure: String?

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                switch try container.decode(String.self, forKey: .type) {
                case "caption": caption = try container.decode(Caption.self, forKey: .data)
                case "call": failure = try container.decode(Call.self, forKey: .data).captions?.failure
                default: break
                }
            }
        }
        struct Problem: Decodable { var detail: String? }

        var id: Int?
        var result: Result?
        var error: Problem?
        var heartbeat: [String: Bool]?
        var changes: [Change]?

        enum CodingKeys: CodingKey { case id, result, error, heartbeat, changes }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decodeIfPresent(Int.self, forKey: .id)
            result = id == 0 ? try container.decodeIfPresent(Result.self, forKey: .result) : nil
            error = try container.decodeIfPresent(Problem.self, forKey: .error)
            heartbeat = container.contains(.heartbeat) ? [:] : nil
            changes = try container.decodeIfPresent([Change].self, forKey: .changes)
        }
    }

    /// Listens until the task is cancelled, or the server ends it.
    func run(_ give: (News) async -> Void) async throws {
        let hello = Greeting(token: person.token, endpoint: UUIDText.make(), secret: UUIDText.make())
        var buffer = ByteBuffer()
        var session: String?
        for try await chunk in try await http.stream("/v1/realtime/sse", hello) {
            buffer.writeImmutableBuffer(chunk)
            while let event = Self.event(&buffer) {
                let frame = try JSONDecoder().decode(Frame.self, from: event)
                if let problem = frame.error { throw MediaFailure("the call's stream: \(problem.detail ?? "")") }
                if let started = frame.result?.session {
                    session = started
                    try await post(Listen(listen: .init(stream: "call:\(call)")), to: started)
                }
                if frame.id == 1 { await give(.listening) }
                if frame.heartbeat != nil, let session { try await post(Heartbeat(), to: session) }
                for change in frame.changes ?? [] {
                    if let caption = change.caption { await give(.caption(caption)) }
                    if let failure = change.failure { await give(.failure(failure)) }
                }
            }
            guard buffer.readableBytes < Self.largestEvent else { throw MediaFailure("an event without an end") }
        }
        throw MediaFailure("the call's stream ended")
    }

    private func post(_ frame: some Encodable, to session: String) async throws {
        try await http.send("/v1/realtime/sse/\(session)", frame, [("Authorization", "Bearer \(person.token)")])
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

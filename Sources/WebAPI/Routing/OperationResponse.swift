import FoundationEssentials
package import Model

/// The response of an operation, independent of REST and realtime.
package struct OperationResponse: Sendable {
    package var status: Int
    /// JSON text, or empty.
    package var body: [UInt8]
    /// The new positions of the streams that this write changed. The route table removes those of other users.
    package var positions: [StreamName: Position]
    /// Over REST, instead of the body: what happens from now on, to clients that take an event stream.
    var events: AsyncStream<ServerSentEvent>?

    package init(status: Int, body: [UInt8], positions: [StreamName: Position] = [:]) {
        self.status = status
        self.body = body
        self.positions = positions
    }

    static let noContent = Self(status: 204, body: [])

    static func json(
        _ value: some Encodable, status: Int = 200, positions: [StreamName: Position] = [:]
    ) throws -> Self {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return Self(status: status, body: Array(try encoder.encode(value)), positions: positions)
    }

    /// The body for a REST client, which includes the positions, since there is no frame around it.
    package var bodyWithPositions: [UInt8] {
        guard !positions.isEmpty, body.last == UInt8(ascii: "}") else { return body }
        var result = Array(body.dropLast())
        if result.count > 1 { result.append(UInt8(ascii: ",")) }
        result += Array("\"positions\":\(Self.json(positions))}".utf8)
        return result
    }

    /// `{"call:C1":["e1",18]}`.
    package static func json(_ positions: [StreamName: Position]) -> String {
        JSON.object(
            positions.sorted { $0.key.text < $1.key.text }.map { stream, position in
                (stream.text, .array([.text(position.epoch), .integer(position.sequence)]))
            }
        ).encoded
    }
}

/// An event of an event stream (WHATWG HTML section 9.2).
struct ServerSentEvent: Hashable, Sendable {
    /// A word.
    var name: String
    /// JSON text, on one line.
    var json: String

    var text: String { "event: \(name)\ndata: \(json)\n\n" }
}

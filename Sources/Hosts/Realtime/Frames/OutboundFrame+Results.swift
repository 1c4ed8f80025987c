import Model
import NIOCore

/// The answers to frames that carry an id.
extension OutboundFrame {
    /// `{"id":3,"result":{…},"positions":{"call:C1":["e1",18]}}`
    static func result(_ id: Int64, _ json: [UInt8], positions: [StreamName: Position]) -> Self {
        Self(expecting: json.count + 96 + positions.count * 96) { buffer in
            buffer.writeText(#"{"id":"#)
            buffer.writeDecimal(id)
            buffer.writeText(#","result":"#)
            buffer.writeBytes(json)
            if !positions.isEmpty {
                buffer.writeText(#","positions":{"#)
                var isFirst = true
                for (stream, position) in positions.sorted(by: { $0.key.text < $1.key.text }) {
                    if !isFirst { buffer.writeText(",") }
                    isFirst = false
                    buffer.writeQuoted(stream.text)
                    buffer.writeText(":")
                    buffer.writePosition(position)
                }
                buffer.writeText("}")
            }
            buffer.writeText("}")
        }
    }

    /// `{"id":3,"error":{"type":"conflict","title":"…","status":409,"detail":"…"}}`; without id where it was not legible.
    static func error(_ id: Int64?, _ problem: Problem) -> Self {
        Self { buffer in
            buffer.writeText("{")
            if let id {
                buffer.writeText(#""id":"#)
                buffer.writeDecimal(id)
                buffer.writeText(",")
            }
            buffer.writeText(#""error":"#)
            buffer.writeProblem(problem)
            buffer.writeText("}")
        }
    }

    /// `{"id":1,"result":{"session":"…","user":"…","endpoint":"…","heartbeat":20,"serverTime":"…","resumed":{…}}}`
    static func hello(_ id: Int64, _ welcome: Welcome) -> Self {
        Self(expecting: 384 + welcome.resumed.count * 64) { buffer in
            buffer.writeText(#"{"id":"#)
            buffer.writeDecimal(id)
            buffer.writeText(#","result":{"session":"#)
            buffer.writeQuoted(welcome.session.text)
            buffer.writeText(#","user":"#)
            buffer.writeQuoted(welcome.user.text)
            buffer.writeText(#","endpoint":"#)
            buffer.writeQuoted(welcome.endpoint.text)
            if let secret = welcome.newSecret {
                buffer.writeText(#","secret":"#)
                buffer.writeQuoted(secret)
            }
            buffer.writeText(#","heartbeat":"#)
            buffer.writeDecimal(welcome.heartbeat.nanoseconds / 1_000_000_000)
            buffer.writeText(#","serverTime":"#)
            buffer.writeQuoted(welcome.serverTime.text)
            buffer.writeText(#","resumed":{"#)
            for (index, resumed) in welcome.resumed.enumerated() {
                if index > 0 { buffer.writeText(",") }
                buffer.writeQuoted(resumed.stream.text)
                buffer.writeText(resumed.isWhole ? #":"ok""# : #":"reset""#)
            }
            buffer.writeText("}}}")
        }
    }

    /// `{"id":2,"result":{"stream":"call:C1","position":["e1",17]}}`
    static func listening(_ id: Int64, to stream: StreamName, at position: Position) -> Self {
        Self { buffer in
            buffer.writeText(#"{"id":"#)
            buffer.writeDecimal(id)
            buffer.writeText(#","result":{"stream":"#)
            buffer.writeQuoted(stream.text)
            buffer.writeText(#","position":"#)
            buffer.writePosition(position)
            buffer.writeText("}}")
        }
    }

    /// `{"id":5,"result":{}}`
    static func done(_ id: Int64) -> Self {
        result(id, Array("{}".utf8), positions: [:])
    }

    /// `{"id":4,"result":{"expiresIn":900}}`, in seconds.
    static func tokenTaken(_ id: Int64, expiresIn seconds: Int64) -> Self {
        Self { buffer in
            buffer.writeText(#"{"id":"#)
            buffer.writeDecimal(id)
            buffer.writeText(#","result":{"expiresIn":"#)
            buffer.writeDecimal(seconds)
            buffer.writeText("}}")
        }
    }
}

/// What the answer to a hello says.
struct Welcome: Sendable {
    var session: SessionID
    var user: UserID
    var endpoint: EndpointID
    var newSecret: String?
    var heartbeat: TimeAmount
    var serverTime: Timestamp
    /// The streams that the hello wanted to resume, and whether each could be continued.
    var resumed: [(stream: StreamName, isWhole: Bool)]
}

extension ByteBuffer {
    /// Writes a problem document (RFC 9457).
    mutating func writeProblem(_ problem: Problem) {
        writeText(#"{"type":"#)
        writeQuoted(problem.kind.rawValue)
        writeText(#","title":"#)
        writeQuoted(problem.kind.title)
        writeText(#","status":"#)
        writeDecimal(Int64(problem.kind.status))
        writeText(#","detail":"#)
        writeQuoted(problem.detail)
        if let field = problem.field {
            writeText(#","field":"#)
            writeQuoted(field)
        }
        if let retryAfter = problem.retryAfter {
            writeText(#","retryAfter":"#)
            writeDecimal(retryAfter)
        }
        for (name, json) in problem.members.sorted(by: { $0.key < $1.key }) {
            writeText(",")
            writeQuoted(name)
            writeText(":")
            writeString(json)
        }
        writeText("}")
    }
}

import Model
import NIOCore

/// The results of frames that carry an id.
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

    /// `{"id":3,"error":{"type":"conflict","title":"…","status":409,"detail":"…","request":"…"}}`; without an
    /// unreadable id.
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

    /// `{"id":1,"result":{"session":"…","user":"…","endpoint":"…","heartbeat":20,"serverTime":"…",
    /// "server":{"name":"Switchboard","version":"0.1.0","build":"…"},"resumed":{…}}}`
    static func hello(_ id: Int64, _ result: HelloResult) -> Self {
        Self(expecting: 384 + result.resumed.count * 64) { buffer in
            buffer.writeText(#"{"id":"#)
            buffer.writeDecimal(id)
            buffer.writeText(#","result":{"session":"#)
            buffer.writeQuoted(result.session.text)
            buffer.writeText(#","user":"#)
            buffer.writeQuoted(result.user.text)
            buffer.writeText(#","endpoint":"#)
            buffer.writeQuoted(result.endpoint.text)
            if let secret = result.newSecret {
                buffer.writeText(#","secret":"#)
                buffer.writeQuoted(secret)
            }
            buffer.writeText(#","heartbeat":"#)
            buffer.writeDecimal(result.heartbeat.nanoseconds / 1_000_000_000)
            buffer.writeText(#","serverTime":"#)
            buffer.writeQuoted(result.serverTime.text)
            if let version = result.serverVersion {
                buffer.writeText(#","server":{"name":"Switchboard","version":"#)
                buffer.writeQuoted(version)
                if let build = result.clientBuild {
                    buffer.writeText(#","build":"#)
                    buffer.writeQuoted(build)
                }
                buffer.writeText("}")
            }
            buffer.writeText(#","resumed":{"#)
            for (index, resumed) in result.resumed.enumerated() {
                if index > 0 { buffer.writeText(",") }
                buffer.writeQuoted(resumed.stream.text)
                buffer.writeText(resumed.isContinued ? #":"ok""# : #":"reset""#)
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
    static func tokenAccepted(_ id: Int64, expiresIn seconds: Int64) -> Self {
        Self { buffer in
            buffer.writeText(#"{"id":"#)
            buffer.writeDecimal(id)
            buffer.writeText(#","result":{"expiresIn":"#)
            buffer.writeDecimal(seconds)
            buffer.writeText("}}")
        }
    }
}

/// The result of a hello.
struct HelloResult: Sendable {
    var session: SessionID
    var user: UserID
    var endpoint: EndpointID
    var newSecret: String?
    var heartbeat: TimeAmount
    var serverTime: Timestamp
    var serverVersion: String?
    var clientBuild: String?
    /// The streams of the hello, and whether each is continued.
    var resumed: [(stream: StreamName, isContinued: Bool)]
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
        if let request = problem.request {
            writeText(#","request":"#)
            writeQuoted(request.text)
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

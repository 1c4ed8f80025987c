/// A frame to the server.
enum ClientFrame: Hashable, Sendable {
    case hello(id: Int, token: String, endpoint: EndpointID, secret: String, resume: [String: StreamPosition])
    case listen(id: Int, stream: String, after: StreamPosition?)
    case unlisten(id: Int, stream: String)
    /// `params` is JSON text.
    case request(id: Int, name: String, params: [UInt8])
    case token(id: Int, String)
    case heartbeat
}

extension ClientFrame {
    private struct Hello: Encodable {
        struct Inner: Encodable {
            var token: String
            var endpoint: EndpointID
            var secret: String
            var resume: [String: StreamPosition]
            var client = Client()
        }
        /// The name and version of this library, which the server shows with the sign-in and counts.
        struct Client: Encodable {
            var name = SwitchboardVersion.client
            var version = SwitchboardVersion.text
        }
        var id: Int
        var hello: Inner
    }

    private struct Listen: Encodable {
        struct Inner: Encodable { var stream: String; var after: StreamPosition? }
        var id: Int
        var listen: Inner
    }

    private struct Unlisten: Encodable {
        struct Inner: Encodable { var stream: String }
        var id: Int
        var unlisten: Inner
    }

    private struct Token: Encodable { var id: Int; var token: String }

    /// The frame's JSON text.
    func text() throws(SwitchboardError) -> [UInt8] {
        switch self {
        case .hello(let id, let token, let endpoint, let secret, let resume):
            try JSON.encode(
                Hello(id: id, hello: .init(token: token, endpoint: endpoint, secret: secret, resume: resume)))
        case .listen(let id, let stream, let after):
            try JSON.encode(Listen(id: id, listen: .init(stream: stream, after: after)))
        case .unlisten(let id, let stream):
            try JSON.encode(Unlisten(id: id, unlisten: .init(stream: stream)))
        case .token(let id, let token):
            try JSON.encode(Token(id: id, token: token))
        case .request(let id, let name, let params):
            Array("{\"id\":\(id),\"request\":\"\(name)\",\"params\":".utf8) + params + [UInt8(ascii: "}")]
        case .heartbeat:
            Array(#"{"heartbeat":{}}"#.utf8)
        }
    }
}

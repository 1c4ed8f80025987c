package import Model

/// One message of a client.
package enum ClientFrame: Equatable {
    case hello(Int64, Hello)
    case listen(Int64, StreamName, after: Position?)
    case unlisten(Int64, StreamName)
    /// The parameters are the JSON text of an object.
    case request(Int64, name: String, params: [UInt8])
    case token(Int64, String)
    case heartbeat
}

/// The client's credentials and the streams to resume.
package struct Hello: Equatable {
    package var token: String
    package var endpoint: EndpointID?
    package var secret: String?
    /// The streams that the client resumes, in its order.
    package var resume: [Resumption] = []
    package var client: ClientInfo?

    package struct Resumption: Equatable {
        package var stream: StreamName
        package var after: Position
    }
}

/// Why a message is not a valid frame, and its id if that could be read.
package struct FrameError: Error, Equatable {
    package var id: Int64?
    package var problem: Problem
}

extension ClientFrame {
    /// Ids are integers that every JSON library represents exactly.
    package static let ids: ClosedRange<Int64> = 0...9_007_199_254_740_991
    package static let maxTokenLength = 16 * 1024
    package static let maxNameLength = 64

    /// Parses one message. Unknown members are ignored, and `null` means absent.
    ///
    /// - Parameter resumptions: How many streams a hello may resume.
    package static func parse(_ text: [UInt8], resumptions: Int) throws(FrameError) -> ClientFrame {
        let members: Members
        do { members = try Members(text) } catch { throw FrameError(id: nil, problem: .unreadable(error)) }
        var id: Int64?
        do throws(Problem) {
            id = try members.integer(members.id, named: "id", in: ids)
            return try members.frame(id: id, resumptions: resumptions)
        } catch {
            throw FrameError(id: id, problem: error)
        }
    }

    /// Parses the hello of a client without a WebSocket: the object within a hello frame.
    package static func parseHello(_ text: [UInt8], resumptions: Int) throws(Problem) -> Hello {
        do {
            var reader = JSONReader(text)
            let range = try reader.skip()
            try reader.finish()
            return try Hello(text, in: range, prefix: "", resumptions: resumptions)
        } catch let parseError as JSONParseError {
            throw .unreadable(parseError)
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(.internalError, "The hello could not be read.")
        }
    }
}

/// The ranges of a frame's members in its text, found and checked to be JSON in one pass.
private struct Members {
    let text: [UInt8]
    var id: Range<Int>?
    var hello: Range<Int>?
    var listen: Range<Int>?
    var unlisten: Range<Int>?
    var request: Range<Int>?
    var params: Range<Int>?
    var token: Range<Int>?
    var heartbeat: Range<Int>?

    init(_ text: [UInt8]) throws(JSONParseError) {
        self.text = text
        var reader = JSONReader(text)
        try reader.beginObject()
        while let key = try reader.nextKey() {
            let isNull = try reader.nextKind() == .null
            let range = try reader.skip()
            if isNull { continue }
            switch key {
            case "id": id = range
            case "hello": hello = range
            case "listen": listen = range
            case "unlisten": unlisten = range
            case "request": request = range
            case "params": params = range
            case "token": token = range
            case "heartbeat": heartbeat = range
            default: break
            }
        }
        try reader.finish()
    }

    func frame(id: Int64?, resumptions: Int) throws(Problem) -> ClientFrame {
        if heartbeat != nil { return .heartbeat }
        let verbs = [hello, listen, unlisten, request, token].compactMap { $0 }
        guard verbs.count == 1 else {
            throw Problem(
                .invalidRequest,
                "A frame must have exactly one of hello, listen, unlisten, request, token and heartbeat.")
        }
        guard let id else { throw .invalid("id", "The id is missing.") }
        if let hello {
            return .hello(id, try Hello(text, in: hello, prefix: "hello.", resumptions: resumptions))
        }
        if let listen {
            let target = try Listen(text, in: listen, prefix: "listen.")
            return .listen(id, target.stream, after: target.after)
        }
        if let unlisten {
            return .unlisten(id, try Listen(text, in: unlisten, prefix: "unlisten.").stream)
        }
        if let token {
            return .token(id, try string(token, named: "token", atMost: ClientFrame.maxTokenLength))
        }
        let name = try string(request, named: "request", atMost: ClientFrame.maxNameLength)
        return .request(id, name: name, params: try parameters())
    }

    private func parameters() throws(Problem) -> [UInt8] {
        guard let params else { return Array("{}".utf8) }
        guard text[params.lowerBound] == UInt8(ascii: "{") else {
            throw .invalid("params", "params must be an object.")
        }
        return Array(text[params])
    }

    func integer(_ range: Range<Int>?, named name: String, in bounds: ClosedRange<Int64>) throws(Problem) -> Int64? {
        guard let range else { return nil }
        var reader = JSONReader(text, in: range)
        guard let number = try? reader.readInteger(), bounds.contains(number) else {
            throw .invalid(name, "This must be an integer from \(bounds.lowerBound) to \(bounds.upperBound).")
        }
        return number
    }

    private func string(_ range: Range<Int>?, named name: String, atMost limit: Int) throws(Problem) -> String {
        guard let range else { throw .invalid(name, "This is missing.") }
        var reader = JSONReader(text, in: range)
        return try reader.string(named: name, atMost: limit)
    }
}

/// The object of `listen` and `unlisten`.
private struct Listen {
    var stream: StreamName
    var after: Position?

    init(_ text: [UInt8], in range: Range<Int>, prefix: String) throws(Problem) {
        var reader = JSONReader(text, in: range)
        var named: StreamName?
        var position: Position?
        try reader.members(of: String(prefix.dropLast())) { (key, reader) throws(Problem) in
            switch key {
            case "stream": named = try reader.stream(named: prefix + key)
            case "after": position = try reader.position(named: prefix + key)
            default: try reader.skipMember(named: prefix + key)
            }
        }
        guard let named else { throw .invalid(prefix + "stream", "The stream is missing.") }
        stream = named
        after = position
    }
}

extension Hello {
    fileprivate init(_ text: [UInt8], in range: Range<Int>, prefix: String, resumptions: Int) throws(Problem) {
        var reader = JSONReader(text, in: range)
        var token: String?
        var endpoint: EndpointID?
        var secret: String?
        var resume: [Resumption] = []
        var client: ClientInfo?
        try reader.members(of: String(prefix.dropLast())) { (key, reader) throws(Problem) in
            let name = prefix + key
            switch key {
            case "token": token = try reader.string(named: name, atMost: ClientFrame.maxTokenLength)
            case "endpoint":
                endpoint = EndpointID(try reader.string(named: name, atMost: 36))
                guard endpoint != nil else { throw .invalid(name, "The endpoint must be a UUID.") }
            case "secret": secret = try reader.string(named: name, atMost: 128)
            case "resume": resume = try reader.resumptions(named: name, atMost: resumptions)
            case "client": client = try reader.clientInfo(named: name)
            default: try reader.skipMember(named: name)
            }
        }
        guard let token else { throw .invalid(prefix + "token", "The access token is missing.") }
        self.init(token: token, endpoint: endpoint, secret: secret, resume: resume, client: client)
    }
}

extension Problem {
    fileprivate static func unreadable(_ parseError: JSONParseError) -> Self {
        Problem(.invalidRequest, "The frame is not a JSON object: \(parseError.detail) (byte \(parseError.offset))")
    }
}

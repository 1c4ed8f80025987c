import Model

/// Reads values whose text was checked to be JSON: only their type can be wrong, and the problem names the field.
extension JSONReader {
    /// Calls `body` with each member that is not null; it must read or skip the value.
    mutating func members(
        of name: String, _ body: (String, inout JSONReader) throws(Problem) -> Void
    ) throws(Problem) {
        do { try beginObject() } catch { throw .invalid(name, "This must be an object.") }
        while let key = try nextMemberKey(of: name) {
            let kind = try? nextKind()
            if kind == .null {
                try skipMember(named: key)
            } else {
                try body(key, &self)
            }
        }
    }

    private mutating func nextMemberKey(of name: String) throws(Problem) -> String? {
        do { return try nextKey() } catch { throw .invalid(name, error.detail) }
    }

    mutating func skipMember(named name: String) throws(Problem) {
        do { _ = try skip() } catch { throw .invalid(name, error.detail) }
    }

    mutating func string(named name: String, atMost limit: Int) throws(Problem) -> String {
        guard let text = try? readString() else { throw .invalid(name, "This must be a string.") }
        guard text.utf8.count <= limit else { throw .invalid(name, "This must have at most \(limit) bytes.") }
        guard !text.isEmpty else { throw .invalid(name, "This must not be empty.") }
        return text
    }

    mutating func stream(named name: String) throws(Problem) -> StreamName {
        guard let stream = StreamName(try string(named: name, atMost: 128)) else {
            throw .invalid(name, "This must be the name of a stream.")
        }
        return stream
    }

    /// Reads `["e1",904]`, or of a conversation `["e1",904,1,50]`.
    mutating func position(named name: String) throws(Problem) -> Position {
        do {
            try beginArray()
            if try hasElement() {
                let epoch = try readString()
                if try hasElement(), epoch.utf8.count <= 64 {
                    let sequence = try readInteger()
                    guard sequence >= 0 else { throw Problem.invalid(name, Self.positionForm) }
                    if try !hasElement() { return Position(epoch: epoch, sequence: sequence) }
                    let first = try readInteger()
                    guard try hasElement() else { throw Problem.invalid(name, Self.positionForm) }
                    let last = try readInteger()
                    if try !hasElement(), first >= 1, last >= first {
                        return Position(epoch: epoch, sequence: sequence, held: first...last)
                    }
                }
            }
        } catch {}
        throw .invalid(name, Self.positionForm)
    }

    private static var positionForm: String {
        #"A position must be an epoch and a sequence, such as ["e1",904], of a conversation with the first and the last "#
            + "number that is held."
    }

    /// Reads `{"name":"Switchboard-Swift","version":"1.2.0"}`.
    mutating func clientInfo(named name: String) throws(Problem) -> ClientInfo {
        var client: String?
        var version: String?
        try members(of: name) { (key, reader) throws(Problem) in
            switch key {
            case "name": client = try reader.clientText(named: name + ".name")
            case "version": version = try reader.clientText(named: name + ".version")
            default: try reader.skipMember(named: name)
            }
        }
        guard let client else { throw .invalid(name + ".name", "The client's name is missing.") }
        guard let version else { throw .invalid(name + ".version", "The client's version is missing.") }
        return ClientInfo(name: client, version: version)
    }

    private mutating func clientText(named name: String) throws(Problem) -> String {
        guard let text = try? readString(), ClientInfo.isValid(text) else {
            throw .invalid(name, "This must be 1 to \(ClientInfo.maxLength) printable characters of ASCII.")
        }
        return text
    }

    mutating func resumptions(named name: String, atMost limit: Int) throws(Problem) -> [Hello.Resumption] {
        var resume: [Hello.Resumption] = []
        var seen: Set<StreamName> = []
        try members(of: name) { (key, reader) throws(Problem) in
            guard let stream = StreamName(key) else {
                throw .invalid(name, "There is no stream named \(key.prefix(64)).")
            }
            let after = try reader.position(named: name + "." + stream.text)
            guard seen.insert(stream).inserted else { return }
            guard resume.count < limit else { throw .invalid(name, "At most \(limit) streams can be resumed.") }
            resume.append(Hello.Resumption(stream: stream, after: after))
        }
        return resume
    }
}

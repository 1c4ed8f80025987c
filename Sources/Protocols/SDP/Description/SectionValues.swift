// Structured values of attributes.

/// `a=group`: which sections belong together (RFC 5888 section 5; BUNDLE: RFC 9143).
package struct SectionGroup: Hashable, Sendable {
    package var semantics: String
    package var mids: [String]

    package init(_ semantics: String, _ mids: [String]) {
        self.semantics = semantics
        self.mids = mids
    }
}

/// `a=extmap`: the id of a header extension in packets (RFC 8285 section 5).
package struct ExtensionMap: Hashable, Sendable {
    package var id: UInt16
    package var direction: Direction?
    package var uri: String
    package var attributes: String?

    package init(_ id: UInt16, _ uri: String, direction: Direction? = nil) {
        self.id = id
        self.uri = uri
        self.direction = direction
    }

    init?(_ value: Substring) {
        var rest = value
        guard let (number, direction) = rest.takeWord()?.split(at: "/"), let id = number.number(as: UInt16.self),
            (1...255).contains(id) || (4096...4351).contains(id), let uri = rest.takeWord()
        else { return nil }
        self.init(id, String(uri))
        if let direction {
            guard let direction = Direction(rawValue: String(direction)) else { return nil }
            self.direction = direction
        }
        attributes = rest.isEmpty ? nil : String(rest)
    }

    var text: String {
        "\(id)" + (direction.map { "/\($0.rawValue)" } ?? "") + " \(uri)" + (attributes.map { " \($0)" } ?? "")
    }
}

/// `a=msid`: the stream and the track that a section sends (RFC 8830 section 2).
package struct MSID: Hashable, Sendable {
    package var stream: String
    package var track: String?

    package init(stream: String, track: String?) {
        self.stream = stream
        self.track = track
    }

    init?(_ value: Substring) {
        var rest = value
        guard let stream = rest.takeWord() else { return nil }
        self.init(stream: String(stream), track: rest.takeWord().map { String($0) })
    }

    var text: String {
        stream + (track.map { " \($0)" } ?? "")
    }
}

/// `a=ssrc`: an attribute of one RTP source (RFC 5576 section 4.1).
package struct SourceAttribute: Hashable, Sendable {
    package var ssrc: UInt32
    package var name: String
    package var value: String?

    package init(_ ssrc: UInt32, _ name: String, _ value: String?) {
        self.ssrc = ssrc
        self.name = name
        self.value = value
    }

    init?(_ text: Substring) {
        let (number, rest) = text.split(at: " ")
        guard let ssrc = number.number(as: UInt32.self) else { return nil }
        let (name, value) = (rest ?? "").split(at: ":")
        self.init(ssrc, String(name), value.map { String($0) })
    }

    var text: String {
        name.isEmpty && value == nil ? "\(ssrc)" : "\(ssrc) \(name)" + (value.map { ":\($0)" } ?? "")
    }
}

/// `a=ssrc-group`: sources that belong together (RFC 5576 section 4.2), such as a stream and its retransmissions (FID).
package struct SourceGroup: Hashable, Sendable {
    package var semantics: String
    package var ssrcs: [UInt32]

    package init(_ semantics: String, _ ssrcs: [UInt32]) {
        self.semantics = semantics
        self.ssrcs = ssrcs
    }

    init?(_ value: Substring) {
        var rest = value
        guard let semantics = rest.takeWord() else { return nil }
        self.init(String(semantics), [])
        while let word = rest.takeWord() {
            guard let ssrc = word.number(as: UInt32.self) else { return nil }
            ssrcs.append(ssrc)
        }
    }

    var text: String {
        ([semantics] + ssrcs.map { String($0) }).joined(separator: " ")
    }
}

/// `b=`: the bandwidth of a section; kilobits per second for `AS`, bits for `TIAS` (RFC 8866 section 5.8, RFC 3890).
package struct Bandwidth: Hashable, Sendable {
    package var type: String
    package var value: UInt64

    package init(_ type: String, _ value: UInt64) {
        self.type = type
        self.value = value
    }

    init?(_ text: Substring) {
        let (type, value) = text.split(at: ":")
        guard type.isToken, let value = value?.number(as: UInt64.self) else { return nil }
        self.init(String(type), value)
    }
}

/// An attribute that this module does not interpret: kept unchanged.
package struct OtherAttribute: Hashable, Sendable {
    package var name: String
    package var value: String?

    package init(_ name: String, _ value: String? = nil) {
        self.name = name
        self.value = value
    }
}

/// A line that this module does not interpret, such as `t=0 0`: kept unchanged.
package struct OtherLine: Hashable, Sendable {
    package let letter: Unicode.Scalar
    package var value: String

    package init(_ letter: Unicode.Scalar, _ value: String) {
        self.letter = letter
        self.value = value
    }
}

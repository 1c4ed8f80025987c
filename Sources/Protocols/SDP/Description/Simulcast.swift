/// `a=rid`: one encoding of a track, whose id is in every packet (RFC 8851 section 4).
package struct RestrictionID: Hashable, Sendable {
    package enum Direction: String, Hashable, Sendable {
        case send
        case recv
    }

    package var id: String
    package var direction: Direction
    /// `pt=…` and other restrictions, unparsed.
    package var restrictions: String?

    package init(_ id: String, _ direction: Direction) {
        self.id = id
        self.direction = direction
    }

    init?(_ value: Substring) {
        var rest = value
        guard let id = rest.takeWord(), Self.isName(id),
            let direction = rest.takeWord().flatMap({ Direction(rawValue: String($0)) })
        else { return nil }
        self.init(String(id), direction)
        restrictions = rest.isEmpty ? nil : String(rest)
    }

    /// The restrictions of its resolution and bitrate.
    package var limits: EncodingLimits { EncodingLimits(restrictions ?? "") }

    static func isName(_ text: Substring) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                default: false
                }
            }
    }

    var text: String {
        "\(id) \(direction.rawValue)" + (restrictions.map { " \($0)" } ?? "")
    }
}

/// The limits of an encoding in `a=rid` (RFC 8851 section 5).
package struct EncodingLimits: Hashable, Sendable {
    /// Of a frame: `max-fs`, or `max-width` times `max-height`, whichever is less.
    package var pixelCount: UInt64?
    /// `max-br`, in bits per second.
    package var bitrate: UInt64?

    package init() {}

    /// Malformed and unknown restrictions are ignored.
    init(_ restrictions: String) {
        var values: [Substring: UInt32] = [:]
        for parameter in restrictions.split(separator: ";") {
            let (name, value) = parameter.split(at: "=")
            if let value = value?.number(as: UInt32.self), value > 0 { values[name] = value }
        }
        bitrate = values["max-br"].map { UInt64($0) }
        pixelCount = values["max-fs"].map { UInt64($0) }
        if let width = values["max-width"], let height = values["max-height"] {
            pixelCount = min(pixelCount ?? .max, UInt64(width) &* UInt64(height))
        }
    }
}

/// `a=simulcast`: which encodings are sent or received at the same time (RFC 8853 section 5.1).
///
///     a=simulcast:send q;h,~x;f     three streams; h may be replaced by x, which starts paused
package struct Simulcast: Hashable, Sendable {
    package struct Choice: Hashable, Sendable {
        package var rid: String
        package var isPaused: Bool

        package init(_ rid: String, isPaused: Bool = false) {
            self.rid = rid
            self.isPaused = isPaused
        }
    }

    /// Streams in the order of preference, each a list of alternatives; empty when the direction is not given.
    package var send: [[Choice]] = []
    package var receive: [[Choice]] = []

    package init(send: [[Choice]] = [], receive: [[Choice]] = []) {
        self.send = send
        self.receive = receive
    }

    init?(_ value: Substring) {
        var rest = value
        while let word = rest.takeWord() {
            guard let list = rest.takeWord().flatMap({ Self.streams($0) }) else { return nil }
            switch word {
            case "send" where send.isEmpty: send = list
            case "recv" where receive.isEmpty: receive = list
            default: return nil
            }
        }
        if send.isEmpty, receive.isEmpty { return nil }
    }

    private static func streams(_ list: Substring) -> [[Choice]]? {
        var streams: [[Choice]] = []
        // Early Chromium and Firefox wrote `rid=q;h`.
        let list = list.hasPrefix("rid=") ? list.dropFirst(4) : list
        for stream in list.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
            var choices: [Choice] = []
            for choice in stream.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                let isPaused = choice.first == UInt8(ascii: "~")
                let rid = Substring(isPaused ? choice.dropFirst() : choice)
                guard RestrictionID.isName(rid) else { return nil }
                choices.append(Choice(String(rid), isPaused: isPaused))
            }
            streams.append(choices)
        }
        return streams
    }

    var text: String {
        [("send", send), ("recv", receive)].filter { !$0.1.isEmpty }.map { word, streams in
            let list = streams.map { stream in
                stream.map { ($0.isPaused ? "~" : "") + $0.rid }.joined(separator: ",")
            }
            return "\(word) \(list.joined(separator: ";"))"
        }.joined(separator: " ")
    }
}

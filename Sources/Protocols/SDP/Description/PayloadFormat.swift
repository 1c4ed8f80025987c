/// One payload type of a section: its `rtpmap`, `fmtp` and `rtcp-fb` lines together (RFC 8866 sections 6.6 and 6.15,
/// RFC 4585 section 4.2).
package struct PayloadFormat: Hashable, Sendable {
    /// An encoding as `rtpmap` names it: `opus/48000/2`.
    package struct Encoding: Hashable, Sendable {
        package var name: String
        package var clockRate: UInt32
        package var channels: UInt8?

        package init(_ name: String, clockRate: UInt32, channels: UInt8? = nil) {
            self.name = name
            self.clockRate = clockRate
            self.channels = channels
        }

        init?(_ value: Substring) {
            let (name, rest) = value.split(at: "/")
            guard let (rate, channels) = rest?.split(at: "/"), name.isToken,
                let clockRate = rate.number(as: UInt32.self)
            else { return nil }
            self.init(String(name), clockRate: clockRate)
            if let channels {
                // Anything after the channels is reserved for later specifications.
                guard let count = channels.split(at: "/").0.number(as: UInt8.self) else { return nil }
                self.channels = count
            }
        }

        var text: String {
            "\(name)/\(clockRate)" + (channels.map { "/\($0)" } ?? "")
        }
    }

    /// 0 to 127.
    package let payloadType: UInt8
    /// Absent for the payload types that RFC 3551 fixed, such as 0 for PCMU.
    package var encoding: Encoding?
    /// The value of `fmtp`, unparsed.
    package var parameters: String?
    /// The feedback that may be sent about it: `nack pli`, `transport-cc`.
    package var feedback: [String] = []

    package init(_ payloadType: UInt8, _ encoding: Encoding? = nil) {
        self.payloadType = payloadType
        self.encoding = encoding
    }

    /// More lines of feedback than this are ignored.
    static let maximumFeedback = 32

    /// The value of one parameter of `fmtp`, which are written `name=value;name=value`.
    package func parameter(_ name: String) -> Substring? {
        for part in (parameters ?? "").utf8.split(separator: UInt8(ascii: ";")) {
            let (key, value) = Substring(part.drop { $0 == UInt8(ascii: " ") }).split(at: "=")
            if key.lowercased() == name { return value ?? "" }
        }
        return nil
    }
}

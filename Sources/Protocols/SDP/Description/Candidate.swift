/// An address at which a side may be reached (RFC 8839 section 5.1, with RFC 6544 section 4.5 for TCP).
///
///     candidate:1 1 udp 2130706431 192.0.2.1 3480 typ host
///     candidate:2 1 tcp 1518214911 192.0.2.1 3478 typ host tcptype passive
///
/// The address stays text: browsers also send mDNS names. Unknown types and transports parse too, since RFC 8839
/// requires that they are ignored and not rejected; so does an extension attribute at the end without a value.
package struct Candidate: Hashable, Sendable {
    package struct Parameter: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package var foundation: String
    package var component: UInt16 = 1
    /// In lower case: `udp` or `tcp`.
    package var transport: String
    package var priority: UInt32
    package var address: String
    package var port: UInt16
    /// `host`, `srflx`, `prflx` or `relay`.
    package var type: String
    package var relatedAddress: String?
    package var relatedPort: UInt16?
    /// `active`, `passive` or `so`, for TCP.
    package var tcpType: String?
    /// Other extension attributes, such as `generation 0` or `ufrag abcd`.
    package var parameters: [Parameter] = []

    package init(
        foundation: String, transport: String, priority: UInt32, address: String, port: UInt16, type: String,
        tcpType: String? = nil
    ) {
        self.foundation = foundation
        self.transport = transport
        self.priority = priority
        self.address = address
        self.port = port
        self.type = type
        self.tcpType = tcpType
    }

    /// From the text after `a=candidate:`.
    package init?(_ value: Substring) {
        var rest = value
        guard let foundation = rest.takeWord(), foundation.utf8.count <= 64,
            let component = rest.takeWord()?.number(as: UInt16.self),
            let transport = rest.takeWord(), transport.isToken,
            let priority = rest.takeWord()?.number(as: UInt32.self),
            let address = rest.takeWord(), address.utf8.count <= 255,
            let port = rest.takeWord()?.number(as: UInt16.self),
            rest.takeWord() == "typ", let type = rest.takeWord(), type.isToken
        else { return nil }
        self.init(
            foundation: String(foundation), transport: transport.lowercased(), priority: priority,
            address: String(address), port: port, type: String(type))
        self.component = component
        while let name = rest.takeWord() {
            guard let value = rest.takeWord() else { break }
            switch name {
            case "raddr": relatedAddress = String(value)
            case "rport":
                guard let port = value.number(as: UInt16.self) else { return nil }
                relatedPort = port
            case "tcptype": tcpType = String(value)
            default: parameters.append(Parameter(String(name), String(value)))
            }
        }
    }

    /// From a browser's `candidate` string: `candidate:…`, with or without `a=` before it.
    package init?(attribute: String) {
        var text = attribute[...]
        if text.hasPrefix("a=") { text = text.dropFirst(2) }
        guard text.hasPrefix("candidate:") else { return nil }
        self.init(text.dropFirst("candidate:".count))
    }

    package var text: String {
        var words = [
            foundation, String(component), transport, String(priority), address, String(port), "typ", type,
        ]
        if let relatedAddress { words += ["raddr", relatedAddress] }
        if let relatedPort { words += ["rport", String(relatedPort)] }
        if let tcpType { words += ["tcptype", tcpType] }
        for parameter in parameters { words += [parameter.name, parameter.value] }
        return words.joined(separator: " ")
    }
}

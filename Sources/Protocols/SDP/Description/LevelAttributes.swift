/// The attributes that are allowed both at session level and in a section.
package struct LevelAttributes: Hashable, Sendable {
    // RFC 8839 section 5.4 and 5.6.
    package var iceUfrag: String?
    package var icePassword: String?
    package var iceOptions: [String] = []
    package var fingerprints: [FingerprintAttribute] = []
    package var setup: SetupRole?
    package var direction: Direction?
    package var extensions: [ExtensionMap] = []
    /// RFC 8285 section 6: one-byte and two-byte header extensions may be mixed in one stream.
    package var allowsMixedExtensions = false
    package var others: [OtherAttribute] = []

    package init() {}
}

/// Reading and writing of these attributes.
extension LevelAttributes {
    /// Reads an attribute; false when it is none of these.
    mutating func take(_ name: Substring, _ value: Substring?, in line: DescriptionLine) throws(DescriptionError)
        -> Bool
    {
        switch name {
        case "ice-ufrag":
            guard let value, value.isICEText, (4...256).contains(value.utf8.count) else {
                throw line.error("ice-ufrag:, 4 to 256 letters, digits, + and /")
            }
            iceUfrag = String(value)
        case "ice-pwd":
            guard let value, value.isICEText, (22...256).contains(value.utf8.count) else {
                throw line.error("ice-pwd:, 22 to 256 letters, digits, + and /")
            }
            icePassword = String(value)
        case "ice-options":
            // RFC 8839 section 5.6 has blanks between them; libdatachannel writes a comma, which no option has.
            iceOptions += (value ?? "").utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ",") }
                .map { String(Substring($0)) }
        case "fingerprint":
            guard let value, let fingerprint = FingerprintAttribute(value) else {
                throw line.error(FingerprintAttribute.grammar)
            }
            fingerprints.append(fingerprint)
        case "setup":
            guard let value, let role = SetupRole(rawValue: String(value)) else {
                throw line.error("setup:actpass, active, passive or holdconn")
            }
            setup = role
        case "extmap":
            if let map = value.flatMap({ ExtensionMap($0) }) { extensions.append(map) }
        case "extmap-allow-mixed":
            allowsMixedExtensions = true
        default:
            guard let direction = Direction(rawValue: String(name)), value == nil else { return false }
            self.direction = direction
        }
        return true
    }

    func write(into text: inout DescriptionText) {
        text.attribute("ice-ufrag", iceUfrag)
        text.attribute("ice-pwd", icePassword)
        if !iceOptions.isEmpty { text.attribute("ice-options", iceOptions.joined(separator: " ")) }
        for fingerprint in fingerprints { text.attribute("fingerprint", fingerprint.text) }
        text.attribute("setup", setup?.rawValue)
        text.flag("extmap-allow-mixed", allowsMixedExtensions)
        for map in extensions { text.attribute("extmap", map.text) }
        if let direction { text.flag(direction.rawValue, true) }
        for other in others {
            if let value = other.value { text.attribute(other.name, value) } else { text.flag(other.name, true) }
        }
    }
}

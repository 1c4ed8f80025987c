/// An attribute type. Below 0x8000 it is comprehension-required (RFC 8489 section 14).
package struct AttributeType: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package var isComprehensionRequired: Bool {
        rawValue < 0x8000
    }

    // RFC 8489 section 18.3.
    package static let mappedAddress = AttributeType(rawValue: 0x0001)
    package static let username = AttributeType(rawValue: 0x0006)
    package static let messageIntegrity = AttributeType(rawValue: 0x0008)
    package static let errorCode = AttributeType(rawValue: 0x0009)
    package static let unknownAttributes = AttributeType(rawValue: 0x000A)
    package static let realm = AttributeType(rawValue: 0x0014)
    package static let nonce = AttributeType(rawValue: 0x0015)
    package static let messageIntegritySHA256 = AttributeType(rawValue: 0x001C)
    package static let passwordAlgorithm = AttributeType(rawValue: 0x001D)
    package static let userHash = AttributeType(rawValue: 0x001E)
    package static let xorMappedAddress = AttributeType(rawValue: 0x0020)
    package static let passwordAlgorithms = AttributeType(rawValue: 0x8002)
    package static let software = AttributeType(rawValue: 0x8022)
    package static let alternateServer = AttributeType(rawValue: 0x8023)
    package static let fingerprint = AttributeType(rawValue: 0x8028)

    // RFC 8656 section 18.
    package static let channelNumber = AttributeType(rawValue: 0x000C)
    package static let lifetime = AttributeType(rawValue: 0x000D)
    package static let xorPeerAddress = AttributeType(rawValue: 0x0012)
    package static let data = AttributeType(rawValue: 0x0013)
    package static let xorRelayedAddress = AttributeType(rawValue: 0x0016)
    package static let requestedAddressFamily = AttributeType(rawValue: 0x0017)
    package static let evenPort = AttributeType(rawValue: 0x0018)
    package static let requestedTransport = AttributeType(rawValue: 0x0019)
    package static let dontFragment = AttributeType(rawValue: 0x001A)
    package static let reservationToken = AttributeType(rawValue: 0x0022)
    package static let additionalAddressFamily = AttributeType(rawValue: 0x8000)
    /// The number that ADDITIONAL-ADDRESS-FAMILY had in the drafts, which coturn's clients still send.
    package static let draftAdditionalAddressFamily = AttributeType(rawValue: 0x8032)
    package static let addressErrorCode = AttributeType(rawValue: 0x8001)
    package static let icmp = AttributeType(rawValue: 0x8004)

    // RFC 6062 section 6.2.
    package static let connectionID = AttributeType(rawValue: 0x002A)

    // RFC 5780 section 7.
    package static let changeRequest = AttributeType(rawValue: 0x0003)
    package static let padding = AttributeType(rawValue: 0x0026)
    package static let responsePort = AttributeType(rawValue: 0x0027)
    package static let responseOrigin = AttributeType(rawValue: 0x802B)
    package static let otherAddress = AttributeType(rawValue: 0x802C)

    // RFC 7635 section 12 and RFC 8016 section 5.
    package static let accessToken = AttributeType(rawValue: 0x001B)
    package static let thirdPartyAuthorization = AttributeType(rawValue: 0x802E)
    package static let mobilityTicket = AttributeType(rawValue: 0x8030)

    // RFC 8445 section 16.1.
    package static let priority = AttributeType(rawValue: 0x0024)
    package static let useCandidate = AttributeType(rawValue: 0x0025)
    package static let iceControlled = AttributeType(rawValue: 0x8029)
    package static let iceControlling = AttributeType(rawValue: 0x802A)
    /// libwebrtc's renomination (draft-thatcher-ice-renomination section 4): a number that increases with every
    /// nomination.
    package static let nomination = AttributeType(rawValue: 0xC001)
}

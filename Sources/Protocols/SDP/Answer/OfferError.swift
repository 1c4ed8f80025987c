/// Why an offer cannot be answered.
package struct OfferError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        case noSections
        /// There are several sections.
        case noBundle
        case noMid
        case repeatedMid
        case noRTCPMultiplexing
        case noICECredentials
        case noFingerprint
        /// `holdconn`: nothing would come of it.
        case setup(SetupRole)
        /// Who begins the handshake was settled by the first offer.
        case roleChanged(SetupRole)
        /// A payload type has another meaning than in another section, or than before.
        case payloadTypeChanged(UInt8)
        /// The same for a header extension's id.
        case extensionChanged(UInt16)
        /// There are fewer sections than in the previous offer.
        case sectionsMissing(Int)
        /// Sections keep their mid and kind until they are rejected.
        case sectionChanged(was: String)
        case fingerprintChanged
        /// Audio or video is offered in no supported codec, and the leg is not answered without it.
        case codecsNotSupported(SectionRejection)
        /// Every section had to be rejected; this is why the first one was that the offer itself does not reject.
        case nothingAcceptable(String)
        /// No SSRC was found that the client does not use itself.
        case noFreeSSRC
    }

    package let reason: Reason
    /// The index of the section in the offer, from 0; nil when the error is about the whole offer.
    package let section: Int?
    package let mid: String?

    package var description: String {
        guard let section else { return reason.text }
        return "section \(section + 1)\(mid.map { " (mid \($0))" } ?? ""): \(reason.text)"
    }
}

extension OfferError.Reason {
    package var text: String {
        switch self {
        case .noSections: "the offer has no sections"
        case .noBundle:
            "there is no a=group:BUNDLE; all media goes over one transport here (RFC 9143): set the client's bundle "
                + "policy to max-bundle"
        case .noMid: "it has no a=mid"
        case .repeatedMid: "another section has the same a=mid"
        case .noRTCPMultiplexing: "it has no a=rtcp-mux; RTCP goes with RTP here (RFC 8834)"
        case .noICECredentials: "a=ice-ufrag or a=ice-pwd is missing"
        case .noFingerprint: "there is no a=fingerprint of sha-256, sha-384 or sha-512; media needs DTLS"
        case .setup(let role):
            "a=setup:\(role.rawValue) is offered; it must be actpass, active or passive"
        case .roleChanged(let role):
            "a=setup:\(role.rawValue) changes who begins the handshake; it must be actpass or as before"
        case .payloadTypeChanged(let type):
            "payload type \(type) stands for another codec than in another section or an earlier offer"
        case .extensionChanged(let id):
            "a=extmap:\(id) stands for another extension than in another section or an earlier offer"
        case .sectionsMissing(let count):
            "the previous offer had \(count) sections; sections may be rejected, never removed"
        case .sectionChanged(let was): "it was \(was) before, and has not been rejected since"
        case .fingerprintChanged: "the certificate's fingerprint changed; that needs a new leg"
        case .codecsNotSupported(let rejection): rejection.description
        case .nothingAcceptable(let why): "no section can be accepted: \(why)"
        case .noFreeSSRC: "no SSRC is free"
        }
    }
}

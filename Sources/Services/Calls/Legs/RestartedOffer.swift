import Model
import SDP

/// The offer that corresponds to an ICE restart by an SDP fragment (RFC 9725 section 4.3.3).
enum RestartedOffer {
    static func text(of offer: String, ufrag: String, password: String) throws -> String {
        guard var offer = try? SessionDescription(parsing: offer) else {
            throw Problem(.internalError, "The offer of this session can no longer be read.")
        }
        offer.attributes.iceUfrag = nil
        offer.attributes.icePassword = nil
        for index in offer.sections.indices {
            offer.sections[index].attributes.iceUfrag = ufrag
            offer.sections[index].attributes.icePassword = password
            offer.sections[index].candidates = []
        }
        return offer.text
    }

    /// Whether the client had these credentials when it made the offer, so that they begin nothing new.
    static func has(_ offer: String, ufrag: String, password: String) -> Bool {
        guard let offer = try? SessionDescription(parsing: offer) else { return false }
        return ([offer.attributes] + offer.sections.map(\.attributes)).contains {
            $0.iceUfrag == ufrag && $0.icePassword == password
        }
    }
}

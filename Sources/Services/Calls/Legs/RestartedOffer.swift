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
}

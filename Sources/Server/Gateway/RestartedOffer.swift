import Model
import SDP

/// What a client that restarts ICE by a fragment (RFC 9725 section 4.3.3) would have offered.
enum RestartedOffer {
    static func text(of offer: String, ufrag: String, password: String) throws -> String {
        guard var offer = try? SessionDescription(parsing: offer) else {
            throw Problem(.internalError, "The offer of this session cannot be read any more.")
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

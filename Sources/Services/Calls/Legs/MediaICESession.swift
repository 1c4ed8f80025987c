/// What PATCH changes of a session of WHIP, of WHEP or of a recording (RFC 9725 section 4.3).
package struct MediaICESession: Sendable {
    /// Its entity tag, another one after each restart.
    package let tag: String
    let offer: String

    init(tag: String, offer: String) {
        self.tag = tag
        self.offer = offer
    }

    /// Whether these are the client's credentials since the last restart.
    package func has(ufrag: String, password: String) -> Bool {
        RestartedOffer.has(offer, ufrag: ufrag, password: password)
    }
}

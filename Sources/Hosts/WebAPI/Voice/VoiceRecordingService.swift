package import Model

/// Records voice messages by legs with the media gateway. Each method throws a `Problem` where it cannot do what it says.
package protocol VoiceTaking: Sendable {
    /// Whether there is a gateway.
    var isPossible: Bool { get }
    /// Answers an offer that sends sound, which is recorded from then on: for a user, who hears nothing of it yet.
    func record(to: UserID, sdp: String, by principal: Principal) async throws -> VoiceTakeAnswer
    /// The tag of a recording of the user's.
    func tag(of take: VoiceTakeID, by principal: Principal) throws -> String
    /// Restarts ICE with the client's new credentials.
    func restart(_ take: VoiceTakeID, ufrag: String, password: String, by principal: Principal) async throws
        -> VoiceTakeAnswer
    /// Ends it, and makes it a message. One that was sent already is found again.
    func send(_ take: VoiceTakeID, by principal: Principal) async throws -> SentVoice
    func discard(_ take: VoiceTakeID, by principal: Principal) async throws
}

/// What a leg answers to the offer of a recording, or to a restart of ICE.
package struct VoiceTakeAnswer: Hashable, Sendable {
    package let take: VoiceTakeID
    package let sdp: String
    /// Names the ICE session; it changes when ICE is restarted.
    package let tag: String

    package init(take: VoiceTakeID, sdp: String, tag: String) {
        self.take = take
        self.sdp = sdp
        self.tag = tag
    }
}

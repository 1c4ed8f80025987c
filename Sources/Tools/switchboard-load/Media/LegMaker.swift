import DatagramIO
import ICE
import OpenSSLCrypto
import SDP
import SecureMedia
import Wire

/// Makes the legs of one participant, with its own certificate and ICE credentials, like a page that was just loaded.
struct LegMaker: Sendable {
    /// A leg, and the worker that it runs on.
    struct Leg: Sendable {
        let worker: MediaWorker
        let id: MediaWorker.LegID

        /// Closes the leg, and returns when it is closed. Only then may another leg replace it, so that the server's
        /// goodbye is not counted as an error.
        func leave() async { await worker.leave(id) }

        /// Announces that the server will end the leg, so that this is not counted as an error.
        func expectEnd() async { await worker.expectEnd(id) }
    }

    /// An offer without an answer yet.
    struct Opening: Sendable {
        let offer: MediaOffer
        fileprivate let begin: LegBegin
    }

    private let context: MediaContext
    private let fingerprint: CertificateFingerprint
    private let worker: MediaWorker
    private let expectsMedia: Bool
    private let speech: SpeechLog?

    /// - Parameters:
    ///   - expectsMedia: whether a publisher is in the call already.
    ///   - speech: where the ends of speeches are logged.
    init(_ profiles: [SRTPProfile], on worker: MediaWorker, expectsMedia: Bool, speech: SpeechLog? = nil) throws {
        guard let identity = MediaIdentity.make(), let fingerprint = identity.fingerprint(),
            let context = MediaContext.client(identity, profiles: profiles)
        else { throw MediaFailure("OpenSSL has no memory") }
        self.context = context
        self.fingerprint = fingerprint
        self.worker = worker
        self.expectsMedia = expectsMedia
        self.speech = speech
    }

    /// Makes an offer.
    func open(_ parameters: MediaParameters, setup: SetupRole = .actpass) throws -> Opening {
        let begin = LegBegin(
            offered: SystemClock.now().nanoseconds, expectsMedia: expectsMedia, speech: speech)
        let offer = MediaOffer(parameters, try credentials(), fingerprint: fingerprint, setup: setup)
        return Opening(offer: offer, begin: begin)
    }

    /// Answers the server's offer, and connects the leg. `send` passes the answer to the server, before the leg starts
    /// its checks.
    func answer(
        _ text: String, asked: UInt64, _ send: (String) async throws -> Void
    ) async throws -> Leg {
        let offer = try SessionDescription.parse(text)
        let credentials = try credentials()
        let plan = try LegPlan(credentials, [], theirs: offer)
        try await send(MediaAnswer(to: offer, credentials, fingerprint: fingerprint).text)
        let begin = LegBegin(offered: asked, expectsMedia: expectsMedia, speech: speech)
        return Leg(worker: worker, id: try await worker.join(plan, context, begin))
    }

    private func credentials() throws -> LocalCredentials {
        guard let random = OpenSSLRandom.bytes(LocalCredentials.randomByteCount),
            let credentials = LocalCredentials(random: random.span.bytes)
        else { throw MediaFailure("OpenSSL has no randomness") }
        return credentials
    }

    /// Connects the leg, and returns when media can flow.
    func connect(_ opening: Opening, _ plan: LegPlan) async throws -> Leg {
        Leg(worker: worker, id: try await worker.join(plan, context, opening.begin))
    }
}

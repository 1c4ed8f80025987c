import DatagramIO
import ICE
import OpenSSLCrypto
import SDP
import SecureMedia
import Wire

/// Makes the legs of one participant: with a certificate and ICE credentials of its own, as a page that was just loaded.
struct LegMaker: Sendable {
    /// A leg that is there, and where.
    struct Leg: Sendable {
        let worker: MediaWorker
        let id: MediaWorker.LegID

        /// Comes back when it has gone: only then may another take its place, or the server's goodbye would be news to it.
        func leave() async { await worker.leave(id) }

        /// The server is about to end it, and that is as it should be. Comes back when the leg knows.
        func expectEnd() async { await worker.expectEnd(id) }
    }

    /// An offer that waits for its answer.
    struct Opening: Sendable {
        let offer: MediaOffer
        fileprivate let begin: LegBegin
    }

    private let context: MediaContext
    private let fingerprint: OpenSSLCrypto.CertificateFingerprint
    private let worker: MediaWorker
    private let expectsMedia: Bool
    private let speech: SpeechLog?

    /// - Parameters:
    ///   - expectsMedia: somebody whose media should come at once is in the call.
    ///   - speech: where it is noted when something has been said.
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

    /// An offer of our own.
    func open(_ wishes: MediaWishes, setup: SetupRole = .actpass) throws -> Opening {
        let begin = LegBegin(
            offered: SystemClock.now().nanoseconds, expectsMedia: expectsMedia, speech: speech)
        let offer = MediaOffer(wishes, try credentials(), fingerprint: fingerprint, setup: setup)
        return Opening(offer: offer, begin: begin)
    }

    /// An answer to the server's offer, and the leg that comes of both. The answer has to be there before the leg checks
    /// its way: `bring` takes it to the server.
    func answer(
        _ text: String, asked: UInt64, _ bring: (String) async throws -> Void
    ) async throws -> Leg {
        let offer = try SessionDescription.reading(text)
        let credentials = try credentials()
        let plan = try LegPlan(credentials, [], theirs: offer)
        try await bring(MediaAnswer(to: offer, credentials, fingerprint: fingerprint).text)
        let begin = LegBegin(offered: asked, expectsMedia: expectsMedia, speech: speech)
        return Leg(worker: worker, id: try await worker.join(plan, context, begin))
    }

    private func credentials() throws -> LocalCredentials {
        guard let random = OpenSSLRandom.bytes(LocalCredentials.randomByteCount),
            let credentials = LocalCredentials(random: random.span.bytes)
        else { throw MediaFailure("OpenSSL has no randomness") }
        return credentials
    }

    /// Comes back when media can flow.
    func connect(_ opening: Opening, _ plan: LegPlan) async throws -> Leg {
        Leg(worker: worker, id: try await worker.join(plan, context, opening.begin))
    }
}

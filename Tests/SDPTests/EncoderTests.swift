import SDP
import Testing

/// What encoders are answered when they publish by WHIP.
@Suite("Offers of encoders")
struct EncoderTests {
    struct Encoder: Sendable, CustomTestStringConvertible {
        let name: String
        let offer: String
        let video: MediaCodec
        var isStereo = true
        var rids: [String] = []

        var testDescription: String { name }
    }

    private static let h264 = MediaCodec.h264(.constrainedBaseline, packetizationMode: 1)

    static let encoders = [
        Encoder(name: "OBS 30", offer: EncoderOffers.obs30, video: h264),
        Encoder(name: "OBS 31", offer: EncoderOffers.obs31, video: .av1(profile: 0)),
        Encoder(name: "OBS 32", offer: EncoderOffers.obs32, video: h264, rids: ["0", "1", "2"]),
        Encoder(name: "FFmpeg 8", offer: EncoderOffers.ffmpeg8, video: h264, isStereo: false),
        // Beside VP8, which all who watch can play, nothing else is asked of a publisher.
        Encoder(name: "Safari 18", offer: EncoderOffers.safari18, video: .vp8, isStereo: false),
        Encoder(name: "GStreamer", offer: EncoderOffers.gstreamer, video: .vp8),
    ]

    /// The capabilities for WHIP.
    private func publisher() -> TestLeg {
        var test = TestLeg()
        test.capabilities.videoCodecs = MediaCodec.forwardedVideo
        test.capabilities.commonVideoCodecs = [.vp8]
        (test.capabilities.audioSlots, test.capabilities.videoSlots) = (0, 0)
        test.capabilities.prefersStereo = true
        test.capabilities.requiresEveryKind = true
        return test
    }

    @Test("each is read and answered", arguments: encoders)
    func answered(encoder: Encoder) throws {
        let offer = try SessionDescription(parsing: encoder.offer)
        #expect(try SessionDescription(parsing: encoder.offer.replacing("\n", with: "\r\n")) == offer)
        #expect(try SessionDescription(parsing: offer.text) == offer)
        var test = publisher()
        let leg = try test.answer(offer)
        #expect(leg.sections.allSatisfy { $0.rejection == nil && $0.direction == .receiveOnly && $0.slot == nil })
        #expect(leg.answer.bundle == offer.bundle && leg.answer.groups.count == 1)
        for (offered, answered) in zip(offer.sections, leg.answer.sections) {
            #expect(answered.mid == offered.mid && answered.port == 3480 && answered.direction == .receiveOnly)
            let role = offered.attributes.setup ?? offer.attributes.setup
            #expect(answered.attributes.setup == (role == .passive ? .active : .passive))
            #expect(answered.hasRTCPMultiplexing)
        }
        let audio = try #require(leg.sections.first { $0.kind == .audio })
        #expect(audio.codecs.first?.codec == .opus && audio.isStereo == encoder.isStereo)
        let opus = try #require(leg.answer.sections[audio.index].payloads.first)
        #expect(opus.parameter("stereo") == (encoder.isStereo ? "1" : nil))
        #expect(opus.parameter("usedtx") == (encoder.isStereo ? nil : "1"))
        let video = try #require(leg.sections.first { $0.kind == .video })
        #expect(video.codecs.map(\.codec) == [encoder.video] && video.rids == encoder.rids)
        #expect(video.codecs[0].feedback.contains(.nack))
        // Without rids their sources are known before the first packet.
        #expect(video.sources.isEmpty == !encoder.rids.isEmpty)
        #expect(leg.remote.fingerprints.count == 1 && leg.remote.credentials.ufrag.utf8.count >= 4)
        // A later offer, such as one that restarts ICE, finds the leg as it was.
        #expect(try test.answer(offer).sections == leg.sections)
    }

    @Test("the transport of OBS is read from the session")
    func session() throws {
        for text in [EncoderOffers.obs30, EncoderOffers.obs31, EncoderOffers.obs32] {
            let offer = try SessionDescription(parsing: text)
            #expect(offer.attributes.iceOptions == ["ice2", "trickle"] && offer.attributes.setup == .actpass)
            #expect(offer.groups.map(\.semantics) == ["BUNDLE", "LS"])
            var test = publisher()
            let remote = try test.answer(offer).remote
            #expect(remote.credentials.ufrag == offer.attributes.iceUfrag && remote.trickles)
        }
    }

    @Test("the layers of OBS are received by their rids")
    func layers() throws {
        var test = publisher()
        let section = try test.answer(SessionDescription(parsing: EncoderOffers.obs32)).answer.sections[1]
        #expect(section.simulcast == Simulcast(receive: ["0", "1", "2"].map { [.init($0)] }))
        #expect(section.attributes.extensions.map(\.id) == [1, 2])
        #expect(section.restrictionIDs.map(\.id) == ["0", "1", "2"])
    }

    @Test("FFmpeg in a profile other than baseline is refused with what it has and what is accepted")
    func profiles() throws {
        for id in ["4d000d", "64000d"] {
            let offer = try SessionDescription(parsing: EncoderOffers.ffmpeg8.replacing("42000d", with: id))
            var test = publisher()
            let error = #expect(throws: OfferError.self) { try test.answer(offer) }
            #expect(error?.section == 1)
            #expect(error?.description.contains("H264 (profile-level-id=\(id))") == true)
            #expect(error?.description.contains("H264 (profile=baseline)") == true)
        }
    }

    @Test("of webrtcbin's default policy one section is answered, and for two the setting is named")
    func bundlePolicy() throws {
        let text = EncoderOffers.gstreamer.replacing("a=group:BUNDLE video0 audio1\n", with: "")
        var offer = try SessionDescription(parsing: text)
        var test = publisher()
        let error = #expect(throws: OfferError.self) { try test.answer(offer) }
        #expect(error?.reason == .noBundle && error?.description.contains("max-bundle") == true)
        offer.sections.removeLast()
        #expect(try test.answer(offer).sections.map(\.rejection) == [nil])
    }
}

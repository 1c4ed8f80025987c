import MediaGateway
import Model
import Testing

@testable import Services

@Suite struct GatewayLegsTests {
    @Test func errorsNameTheOffer() {
        let bad = Problem(LegRejection.badOffer("section 2 (mid 1): it has no a=rtcp-mux"))
        #expect(bad.kind == .invalidRequest && bad.field == "offer.sdp" && bad.detail.contains("mid 1"))
        let codecs = Problem(LegRejection.codecsNotSupported("section 1 (mid 0): no codec"))
        #expect(codecs.kind == .codecsNotSupported && codecs.kind.status == 422 && codecs.field == "offer.sdp")
        #expect(codecs.detail == "The offer cannot be answered: section 1 (mid 0): no codec.")
        #expect(Problem(LegRejection.full).kind == .unavailable && Problem(LegRejection.full).retryAfter != nil)
        #expect(Problem(LegRejection.gone).kind == .unavailable)
    }
}

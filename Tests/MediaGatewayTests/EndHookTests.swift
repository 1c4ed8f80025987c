import OpenSSLCrypto
import SecureMedia
import Synchronization
import TestSupport
import Testing

@testable import MediaGateway

@Suite("The end hook")
struct EndHookTests {
    @Test("it does not grow, however many legs end")
    func manyEnds() throws {
        let identity = try #require(MediaIdentity.make())
        let context = try #require(MediaContexts.make(identity, profiles: SRTPProfile.preferred))
        let shared = GatewayShared(context) { _ in }
        // The stack depth at which the hook is called, which must not grow with each leg.
        let depths = Shared<[Int]>([])
        shared.ended.withLock { $0.call = { _, _ in depths.update { $0.append(stackPointer()) } } }
        for number in 0..<1000 as Range<UInt64> {
            let event = GatewayEvent.ended(LegKey(call: "call", participant: "ann"), .closed)
            shared.notify(event, of: number)
        }
        let seen = depths.value
        #expect(seen.count == 1000 && Set(seen).count == 1, "\(seen.prefix(3)) … \(seen.suffix(1))")
    }
}

private func stackPointer() -> Int {
    var here = 0
    return withUnsafeMutablePointer(to: &here) { Int(bitPattern: $0) }
}

import FuzzInput
import MediaGateway
import Wire

/// A worker of the gateway under everything that may arrive at its port, in an order that the input gives: checks that
/// are valid and that are not, a real client's DTLS delivered in pieces, twice, late and damaged, SRTP protected with
/// the right keys and then perhaps changed, bytes as they are, from several addresses; legs that open, restart and end;
/// time.
///
/// Checked on the way: legs, ways, names and sources stay within their bounds; what is not authentic changes nothing
/// but the count of what was dropped, and tells nobody anything. In the end nothing is left.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLeg(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(UnsafeRawBufferPointer(start: start, count: count))
    guard let setup = LegFuzzHarness.shared, let harness = LegHarness(setup) else { return 0 }
    var steps = 0
    while !input.isEmpty, steps < 200 {
        harness.step(&input)
        steps += 1
    }
    harness.finish()
    return 0
}

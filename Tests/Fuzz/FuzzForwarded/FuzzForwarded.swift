import FuzzInput
import Realtime
import Wire

/// What clients and proxies write into `Forwarded` and `X-Forwarded-For`. The first byte selects the header, the rest
/// are its lines.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzForwarded(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(UnsafeRawBufferPointer(start: start, count: count))
    let header: ForwardedHeader = input.byte() & 1 == 1 ? .forwarded : .xForwardedFor
    let lines = input.take(count).split(separator: 0x0A, omittingEmptySubsequences: false).map {
        String(decoding: $0, as: UTF8.self)
    }
    let hops = header.hops(in: lines)
    if hops.count > 32 { fatalError("a chain beyond the limit") }
    for case .some(let hop) in hops where hop.unmapped != hop { fatalError("an address that is not reduced") }
    if !ForwardedHeader.none.hops(in: lines).isEmpty { fatalError("hops of no header") }

    // Anything that a client forged is left of what the nearest proxy appends in a line of its own.
    let nearest = IPAddress(ipv4: 0xC000_0207)
    let appended = header.hops(in: lines + [header == .forwarded ? "for=192.0.2.7" : "192.0.2.7"])
    if appended.last != nearest { fatalError("an appended hop that is not the last") }

    // And what it appends to the last line is the last hop, or is ignored.
    let same = lines.dropLast() + [(lines.last ?? "") + (header == .forwarded ? ", for=192.0.2.7" : ", 192.0.2.7")]
    let last = header.hops(in: Array(same)).last
    if let last, let address = last, address != nearest { fatalError("a forged hop is the last") }
    return 0
}

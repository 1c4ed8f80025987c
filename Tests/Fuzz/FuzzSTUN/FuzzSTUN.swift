import STUN
import Wire

/// Any bytes: reading a message and everything in it must neither trap nor read beyond the end.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSTUN(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count).bytes
    guard let message = try? Message(bytes) else { return 0 }
    var total = 0
    message.visitAttributes { _, value in total &+= value.byteCount }
    for type: AttributeType in [.xorMappedAddress, .xorPeerAddress, .xorRelayedAddress] { _ = message.xorAddress(type) }
    _ = message.integer32(.lifetime)
    _ = message.text(.username)
    _ = message.errorNumber
    _ = message.unknownRequired(knowing: [.username])
    // Attributes that are handled never extend beyond the first signature.
    if let range = message.range(of: .data), range.upperBound > message.handledEnd {
        fatalError("behind the signature")
    }
    if total > count { fatalError("more than there is") }
    return 0
}

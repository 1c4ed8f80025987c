import Containers
import Wire

/// Any bytes as a file with a voice in it. Pages of Ogg get the checksums of their bytes, since nobody guesses those.
/// What is read is written as Ogg, and read again as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzContainers(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var file = Array(UnsafeBufferPointer(start: start, count: count))
    check(file)
    var start = 0
    while let end = OggChecksum.seal(&file, at: start) { start = end }
    check(file)
    return 0
}

private func check(_ file: [UInt8]) {
    guard let track = try? OpusFile.read(file.span.bytes, limit: OpusLimit(seconds: 3_600)) else { return }
    if track.sampleCount > track.end { fatalError("more is heard than there is") }
    var writer = OggOpusWriter(serial: 1, head: track.head)
    var copy = writer.begin(OpusTags(vendor: "fuzz"))
    var end: UInt64 = 0
    for index in 0..<track.packetCount {
        let packet = track.packet(index)
        if packet.start < end { fatalError("packets overlap") }
        end = packet.start + UInt64(packet.duration)
        copy += writer.append(packet.bytes, duration: packet.duration)
    }
    copy += writer.end()
    guard let again = try? OpusFile.read(copy.span.bytes, limit: OpusLimit(seconds: 3_600)) else {
        fatalError("what is written is not read")
    }
    if again.packetCount != track.packetCount || again.isCutOff { fatalError("not all was written") }
    for index in 0..<track.packetCount where !again.packet(index).bytes.elementsEqual(track.packet(index).bytes) {
        fatalError("another packet came back")
    }
}

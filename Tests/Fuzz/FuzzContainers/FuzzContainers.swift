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
    let whole = try? OpusFile.read(file.span.bytes, limit: OpusLimit(seconds: 3_600))
    checkStream(file, whole)
    guard let track = whole else { return }
    if track.sampleCount > track.end { fatalError("more samples than packets have") }
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
    if again.packetCount != track.packetCount || again.isTruncated { fatalError("not all was written") }
    for index in 0..<track.packetCount where !again.packet(index).bytes.elementsEqual(track.packet(index).bytes) {
        fatalError("another packet came back")
    }
}

/// Piece by piece, the same packets come out of Ogg.
private func checkStream(_ file: [UInt8], _ whole: OpusTrack?) {
    var stream = OggOpusStream(limit: OpusLimit(seconds: 3_600))
    var packets: [OggOpusStream.Packet] = []
    for start in stride(from: 0, to: file.count, by: 100) {
        stream.append(Array(file[start..<min(start + 100, file.count)]))
        do {
            while let page = try stream.nextPage() { packets += page }
        } catch { return }
    }
    guard let whole, file.starts(with: Array("OggS".utf8)) else { return }
    if packets.count != whole.packetCount { fatalError("other packets came in pieces") }
    for (index, packet) in packets.enumerated() where !packet.bytes.elementsEqual(whole.packet(index).bytes) {
        fatalError("another packet came in pieces")
    }
    if let count = stream.sampleCount, count != whole.sampleCount { fatalError("another length came in pieces") }
}

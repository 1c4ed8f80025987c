import Containers
import Foundation
import Wire

/// Files that FFmpeg wrote: see Fixtures/make.py.
enum Files {
    static let folder = Bundle.module.resourceURL?.appending(path: "Fixtures") ?? URL(filePath: "Fixtures")

    static func named(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    static func read(_ bytes: [UInt8], seconds: Int = 60) throws -> OpusTrack {
        try OpusFile.read(bytes.span.bytes, limit: OpusLimit(seconds: seconds))
    }
}

extension OpusTrack {
    var packets: [[UInt8]] { (0..<packetCount).map { Array(packet($0).bytes) } }
}

/// Opus packets of 20 ms, of so many bytes each.
func packets(_ byteCounts: [Int]) -> [[UInt8]] {
    byteCounts.enumerated().map { index, count in
        [0xF8] + [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: max(count - 1, 0))
    }
}

/// Where the pages of an Ogg file begin.
func pageStarts(_ file: [UInt8]) -> [Int] {
    var starts: [Int] = []
    var offset = 0
    while offset + 27 <= file.count {
        starts.append(offset)
        let segments = file[(offset + 27)...].prefix(Int(file[offset + 26]))
        offset += 27 + segments.count + segments.reduce(0) { $0 + Int($1) }
    }
    return starts
}

/// Gives the page that begins there the checksum of its bytes, bit by bit (RFC 3533 section 6).
func seal(_ file: inout [UInt8], at start: Int) {
    let lengths = file[(start + 27)...].prefix(Int(file[start + 26]))
    let end = start + 27 + lengths.count + lengths.reduce(0) { $0 + Int($1) }
    for index in 22..<26 { file[start + index] = 0 }
    var value: UInt32 = 0
    for byte in file[start..<end] {
        value ^= UInt32(byte) << 24
        for _ in 0..<8 { value = value & 1 << 31 != 0 ? value << 1 ^ 0x04C1_1DB7 : value << 1 }
    }
    for index in 0..<4 { file[start + 22 + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt32(index))) }
}

import Testing

@testable import WebAPI

@Suite struct ByteRangeTests {
    @Test(arguments: [
        (nil, ByteRange.whole), ("bytes=0-", .part(0..<100)), ("bytes=0-0", .part(0..<1)),
        ("bytes=10-19", .part(10..<20)), ("BYTES = 10 - 19", .whole), ("bytes= 10-19", .part(10..<20)),
        ("bytes=90-1000", .part(90..<100)), ("bytes=99-", .part(99..<100)), ("bytes=-1", .part(99..<100)),
        ("bytes=-1000", .part(0..<100)), ("bytes=100-", .unsatisfiable), ("bytes=100-200", .unsatisfiable),
        ("bytes=-0", .unsatisfiable), ("bytes=99999999999999999999-", .unsatisfiable),
        ("bytes=0-99999999999999999999", .part(0..<100)), ("bytes=-99999999999999999999", .part(0..<100)),
        // What cannot be read, and several ranges, are answered with the whole.
        ("bytes=20-10", .whole), ("bytes=0-1,4-5", .whole), ("bytes=-", .whole), ("bytes=", .whole), ("bytes", .whole),
        ("bytes=a-b", .whole), ("bytes=1-+5", .whole), ("lines=0-1", .whole), ("", .whole), ("bytes=--1", .whole),
    ])
    func aRangeIsAPartOrTheWhole(header: String?, expected: ByteRange) {
        #expect(ByteRange(header, byteCount: 100) == expected)
    }

    @Test func anEmptyFileHasNoParts() {
        #expect(ByteRange("bytes=0-", byteCount: 0) == .unsatisfiable)
        #expect(ByteRange("bytes=-5", byteCount: 0) == .unsatisfiable)
        #expect(ByteRange(nil, byteCount: 0) == .whole)
    }
}

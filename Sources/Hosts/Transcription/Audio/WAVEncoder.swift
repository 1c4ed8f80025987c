/// Writes audio as a WAV file: a RIFF header of 44 bytes and PCM of 16 bits.
///
/// ```
/// "RIFF" size "WAVE" | "fmt " 16, PCM, 1 channel, rate, bytes/s, bytes/sample, 16 bits | "data" size, samples
/// ```
package enum WAVEncoder {
    package static let headerLength = 44

    package static func encode(_ audio: SpeechAudio) -> [UInt8] {
        let rate = UInt32(SpeechAudio.samplesPerSecond)
        // What does not fit the header's 32 bits (37 hours) is far longer than what is transcribed at a time.
        let size = UInt32(clamping: audio.samples.count * 2)
        var file: [UInt8] = []
        file.reserveCapacity(headerLength + audio.samples.count * 2)
        file += "RIFF".utf8
        file += little(UInt32(clamping: Int(size) + headerLength - 8))
        file += "WAVEfmt ".utf8
        file += little(16 as UInt32) + little(1 as UInt16) + little(1 as UInt16)
        file += little(rate) + little(rate * 2) + little(2 as UInt16) + little(16 as UInt16)
        file += "data".utf8
        file += little(size)
        file += audio.bytes
        return file
    }

    private static func little(_ value: some FixedWidthInteger) -> [UInt8] {
        (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}

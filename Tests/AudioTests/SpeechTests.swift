import Audio
import Foundation
import RTP
import Testing
import Wire

/// Words that flite speaks, and that pocketsphinx recognizes after Opus and a bad network.
@Suite("Speech", .enabled(if: Speech.isInstalled, "flite and pocketsphinx are not installed"))
struct SpeechTests {
    @Test("words are recognized after Opus", arguments: [false, true])
    func understood(isBadNetwork: Bool) throws {
        let words = "one two three four five"
        let spoken = try Speech.say(words)
        #expect(spoken.count > 16_000)
        let encoder = try VoiceEncoder(.wide, .init(repairsLoss: isBadNetwork, isDiscontinuous: true))
        var random = SeededRandom(seed: 11)
        var buffer = JitterBuffer()
        var timeline = AudioTimeline(begin: Instant(nanoseconds: 0))
        let voice = try RecordedVoice(.wide)
        var decoded: [Int16] = []
        var isAfterLoss = false
        func pass(_ output: JitterBuffer.Output) {
            switch output {
            case .lost: isAfterLoss = true
            case .packet(let packet):
                for segment in timeline.take(packet, isAfterLoss: isAfterLoss) { voice.take(segment, into: &decoded) }
                isAfterLoss = false
            }
        }
        var number = 0
        for start in stride(from: 0, to: spoken.count, by: encoder.frameCount) {
            let payload = try encoder.encode(spoken[start..<min(start + encoder.frameCount, spoken.count)])
            defer { number += 1 }
            if isBadNetwork, Int.random(in: 0..<100, using: &random) < 5 { continue }
            let late = isBadNetwork ? UInt64.random(in: 0...40_000_000, using: &random) : 0
            let now = Instant(nanoseconds: UInt64(number) * 20_000_000 + late)
            buffer.insert(
                AudioPacket(
                    sequence: UInt16(truncatingIfNeeded: number), timestamp: UInt32(number) * 960, arrival: now,
                    payload: payload))
            while let output = buffer.next(at: now) { pass(output) }
        }
        while let output = buffer.drain() { pass(output) }
        let end = Instant(nanoseconds: UInt64(number) * 20_000_000)
        for segment in timeline.finish(at: end) { voice.take(segment, into: &decoded) }
        voice.finish(into: &decoded)
        #expect(abs(decoded.count - number * 320) < 640)
        let understood = try Speech.recognize(decoded)
        if isBadNetwork {
            #expect(understood.contains("three"), "\(understood)")
        } else {
            #expect(understood == words)
        }
    }
}

enum Speech {
    static let isInstalled = ["flite", "pocketsphinx_continuous"].allSatisfy { path(of: $0) != nil }

    /// Speech from flite, at 16 kHz.
    static func say(_ words: String) throws -> [Int16] {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).wav")
        defer { try? FileManager.default.removeItem(at: file) }
        try run("flite", ["-voice", "slt", "-t", words, "-o", file.path])
        let bytes = Array(try Data(contentsOf: file))
        // A header of 44 bytes, then samples.
        return stride(from: 44, to: bytes.count - 1, by: 2).map { Int16(bytes[$0]) | Int16(bytes[$0 + 1]) << 8 }
    }

    static func recognize(_ samples: [Int16]) throws -> String {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).raw")
        defer { try? FileManager.default.removeItem(at: file) }
        let silence = [Int16](repeating: 0, count: 8_000)
        try Data(
            (silence + samples + silence).flatMap {
                [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
            }
        )
        .write(to: file)
        return try run("pocketsphinx_continuous", ["-infile", file.path, "-logfn", "/dev/null"])
            .split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    private static func path(of program: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        return folders.map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    @discardableResult
    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: path(of: program) ?? program)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(program) ended with \(process.terminationStatus)")
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

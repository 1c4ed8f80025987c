import Model
import Storage
import Testing

@testable import Calls
@testable import Services

@Suite("Pages of translated transcripts") struct TranscriptTranslatorTests {
    private let user = UserID.make(at: Timestamp.systemClock())

    private func segments(_ lengths: [Int]) -> [RecordingTranscript.Segment] {
        lengths.enumerated().map { index, length in
            .init(
                start: Int64(index), end: Int64(index + 1), text: String(repeating: "я", count: length), user: user,
                source: .microphone, track: 0)
        }
    }

    private func pages(_ lengths: [Int]) -> [Range<Int>] {
        let segments = segments(lengths)
        var pages = [TranscriptTranslator.page(of: segments, from: 0)]
        while let end = pages.last?.upperBound, end < segments.count {
            pages.append(TranscriptTranslator.page(of: segments, from: end))
        }
        return pages
    }

    @Test("they have so many segments and characters, and at least a segment") func bounds() {
        #expect(pages([]) == [0..<0])
        #expect(pages(Array(repeating: 10, count: 45)) == [0..<20, 20..<40, 40..<45])
        #expect(pages([1_500, 2_500, 1, 3_999, 2]) == [0..<2, 2..<4, 4..<5])
        #expect(pages([20_000, 20_000]) == [0..<1, 1..<2])
    }

    @Test("they end before what is not wanted") func before() {
        let segments = segments(Array(repeating: 10, count: 45))
        #expect(TranscriptTranslator.page(of: segments, from: 3, before: 4) == 3..<4)
        #expect(TranscriptTranslator.page(of: segments, from: 3, before: 40) == 3..<23)
        #expect(TranscriptTranslator.page(of: segments, from: 40, before: 400) == 40..<45)
    }
}

import Foundation
import Testing

@testable import SwitchboardClient

/// Recordings and what was said in them, as the server writes them.
@Suite struct RecordingTests {
    @Test func readsAManifest() throws {
        let recording = try JSON.decode(
            Recording.self,
            from: Array(
                """
                {"id":"r","call":"c","by":"u","status":"complete","startedAt":"2026-11-22T17:00:00.000Z",
                "endedAt":"2026-11-22T17:00:09.500Z","tracks":[
                {"user":"u","endpoint":"e","source":"microphone","offsetMs":40,"durationMs":9000,"byteCount":36000,
                "audio":{"url":"/v1/media/f?user=u","expiresAt":"2026-11-22T18:00:00.000Z"}},
                {"user":"v","endpoint":"g","source":"screen","offsetMs":2000}]}
                """.utf8))
        #expect(recording.id == "r" && recording.by == "u" && recording.tracks.count == 2)
        #expect(recording.tracks[0].audio?.url == "/v1/media/f?user=u" && recording.tracks[1].audio == nil)
        #expect(recording.endedAt?.timeIntervalSince(recording.startedAt) == 9.5)
    }

    @Test func readsATranscriptOfWhichAPartFailed() throws {
        let transcript = try JSON.decode(
            RecordingTranscript.self,
            from: Array(
                """
                {"status":"failed","language":"en","segments":[
                {"start":400,"end":1600,"text":"one two","user":"u","source":"microphone","track":0}],"tracks":[
                {"track":0,"user":"u","source":"microphone","status":"complete"},
                {"track":1,"user":"v","source":"microphone","status":"failed",
                "failure":{"type":"timed_out","detail":"Too long.","mayRetry":true}}],
                "failure":{"type":"timed_out","detail":"Too long.","mayRetry":true}}
                """.utf8))
        #expect(transcript.status == "failed" && transcript.failure?.mayRetry == true)
        #expect(transcript.segments.map(\.text) == ["one two"] && transcript.segments[0].user == "u")
        #expect(transcript.tracks.map(\.status) == ["complete", "failed"])
    }
}

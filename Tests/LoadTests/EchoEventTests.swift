import SDP
import Testing

@testable import switchboard_load

@Suite("The output of an echo")
struct EchoEventTests {
    @Test("every event is one line, which names its call")
    func lines() {
        let events: [(EchoEvent, String)] = [
            (.rings(call: "C1", kind: "video", from: "Ann"), "call C1: rings, video, from Ann"),
            (.declined(call: "C1", limit: 4), "call C1: declined, since 4 are open (--limit)"),
            (.answered(call: "C1"), "call C1: answered"),
            (.echoes(call: "C1", .audio), "call C1: sends audio back"),
            (
                .ended(call: "C1", reason: "hung_up", seconds: 12, audio: 600, video: 0),
                "call C1: ended, hung_up, after 12 s; sent back 600 packets of audio, 0 of video"
            ),
            (.stopping(calls: 1), "stopping: hanging up 1 call"),
            (.stopping(calls: 0), "stopping: hanging up 0 calls"),
        ]
        for (event, line) in events { #expect(event.line == line) }
    }

    @Test("the first line says how to call the user")
    func ready() {
        let line = EchoEvent.ready(name: "Echo", user: "U1", server: "http://127.0.0.1:8080").line
        #expect(line.hasPrefix("ready: Echo is user U1; "))
        #expect(line.contains(#"POST http://127.0.0.1:8080/v1/calls and "callees": ["U1"]"#))
    }

    @Test("a name cannot begin another line or change the terminal")
    func hostileNames() {
        let name = "Ann\ncall C2: answered\u{1B}[2J\u{2028}\u{202E}" + String(repeating: "x", count: 10_000)
        let line = EchoEvent.rings(call: "C1", kind: "audio", from: name).line
        #expect(line.hasPrefix("call C1: rings, audio, from Ann call C2: answered [2J  xxx"))
        #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 } && line.count < 300)
    }
}

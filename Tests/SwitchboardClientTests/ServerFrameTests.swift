import Foundation
import Testing

@testable import SwitchboardClient

struct ServerFrameTests {
    private static let call = """
        {"id":"c1","kind":"audio","mode":"direct","status":"ringing","version":1,"caller":"u2",\
        "createdAt":"2026-11-20T22:53:00.123Z","participants":[{"user":"u2","displayName":"Ann","state":"joined",\
        "endpoint":"e2","connected":false,"media":{"audio":true,"video":false,"screen":false,"held":false}},\
        {"user":"u1","displayName":"Ben","state":"ringing","ringDeadline":"2026-11-20T22:54:00Z","remainingMs":59000,\
        "connected":false,"media":{"audio":true,"video":false,"screen":false,"held":false}}]}
        """

    @Test func understandsAGreeting() throws {
        let frame = try ServerFrame(
            Array(
                #"{"id":1,"result":{"session":"s","user":"u1","endpoint":"e1","heartbeat":20,"serverTime":"2026-11-20T22:53:00.123Z","resumed":{"user:u1":"reset"}}}"#
                    .utf8))
        guard case .result(1, let answer) = frame else { Issue.record("\(frame)"); return }
        #expect(
            answer.greeting
                == Greeting(session: "s", user: "u1", endpoint: "e1", heartbeat: 20, resumed: ["user:u1": "reset"]))
    }

    @Test func understandsACallsSnapshotAndChanges() throws {
        let snapshot = try ServerFrame(
            Array(#"{"stream":"call:c1","snapshot":{"call":\#(Self.call)},"epoch":"x","seq":17}"#.utf8))
        guard case .snapshot("call:c1", .call(let call), let position) = snapshot else {
            Issue.record("\(snapshot)")
            return
        }
        #expect(position == StreamPosition(epoch: "x", sequence: 17))
        #expect(call.participants.map(\.state) == [.joined, .ringing])
        #expect(call.participants[1].remainingMs == 59_000)
        #expect(call.createdAt.timeIntervalSince1970.truncatingRemainder(dividingBy: 1) > 0.12)

        let changes = try ServerFrame(
            Array(
                #"{"stream":"call:c1","changes":[{"seq":18,"type":"call","data":{"id":"c1","kind":"audio","mode":"direct","status":"ended","endReason":"of_tomorrow","version":2,"caller":"u2","createdAt":"2026-11-20T22:53:00.123Z"}},{"seq":19,"type":"new_kind","data":[1]}]}"#
                    .utf8))
        guard case .changes("call:c1", let list) = changes else { Issue.record("\(changes)"); return }
        #expect(list.map(\.sequence) == [18, 19])
        guard case .call(let fields) = list[0].content else { Issue.record("\(list[0])"); return }
        #expect(fields.endReason == EndReason(rawValue: "of_tomorrow"))
        #expect(list[1].content == .unknown(type: "new_kind"))
    }

    @Test func understandsWhatIsSaid() throws {
        let text =
            #"{"stream":"captions:c1","event":{"user":"u2","source":"microphone","startedAt":"2026-11-23T10:00:00.000Z","durationMs":900,"text":"hello"}}"#
        guard case .caption("captions:c1", let caption) = try ServerFrame(Array(text.utf8)) else {
            Issue.record("It is a caption.")
            return
        }
        #expect(caption.user == "u2" && caption.text == "hello")
        #expect(StreamName.call(of: "captions:c1") == "c1" && !StreamName.isDurable("captions:c1"))
    }

    @Test func understandsWhatIsSaidInAnotherLanguage() throws {
        let text =
            #"{"stream":"captions:c1:pt","event":{"user":"u2","source":"microphone","startedAt":"2026-11-23T10:00:00.000Z","language":"pt","from":"es","status":"done","text":"ol\u00e1","engine":"apertium","kind":"rules"}}"#
        guard case .captionTranslation("captions:c1:pt", let translation) = try ServerFrame(Array(text.utf8)) else {
            Issue.record("It is a translation of a caption.")
            return
        }
        #expect(translation.text == "olá" && translation.status == .done && translation.kind == .rules)
        #expect(StreamName.call(of: "captions:c1:pt") == "c1" && !StreamName.isDurable("captions:c1:pt"))
        #expect(
            StreamName.isOfCaptionTranslations("captions:c1:pt") && !StreamName.isOfCaptionTranslations("captions:c1"))
    }

    @Test func understandsAMailbox() throws {
        let frame = try ServerFrame(
            Array(
                #"{"stream":"signals:c1:e1","snapshot":{"signals":[{"seq":1,"type":"offer","data":{"from":{"user":"u2","endpoint":"e2"},"kind":"offer","generation":1,"payload":{"sdp":"v=0"}}},{"seq":2,"type":"candidates","data":{"from":{"user":"u2","endpoint":"e2"},"kind":"candidates","generation":1,"payload":{"candidates":[{"candidate":"a","sdpMid":"0"}],"end":true}}}]},"epoch":"x","seq":2}"#
                    .utf8))
        guard case .snapshot(_, .signals(let entries), _) = frame else { Issue.record("\(frame)"); return }
        let sender = Signal.Sender(user: "u2", endpoint: "e2")
        let candidates = [ICECandidate(candidate: "a", sdpMid: "0")]
        #expect(
            entries == [
                StreamChange(
                    sequence: 1, content: .signal(Signal(from: sender, content: .offer(sdp: "v=0"), generation: 1))),
                StreamChange(
                    sequence: 2,
                    content: .signal(
                        Signal(from: sender, content: .candidates(candidates, end: true), generation: 1))),
            ])
    }

    @Test func understandsRejectionsAndByes() throws {
        let refusal = try ServerFrame(
            Array(
                #"{"id":3,"error":{"type":"conflict","title":"t","status":409,"detail":"d","retryAfter":1500,"winner":{"from":{"user":"u2","endpoint":"e2"},"kind":"offer","generation":2,"payload":{"sdp":"v=0"}}}}"#
                    .utf8))
        guard case .failure(3, let problem) = refusal else { Issue.record("\(refusal)"); return }
        #expect(problem.kind == .conflict)
        #expect(problem.retryAfter == .milliseconds(1_500))
        #expect(problem.winner?.content == .offer(sdp: "v=0"))

        let bye = try ServerFrame(Array(#"{"bye":{"code":4008,"reason":"slow","retryAfter":1500}}"#.utf8))
        guard case .bye(4008, "slow", 1_500) = bye else { Issue.record("\(bye)"); return }
    }

    @Test(arguments: [
        #"{"heartbeat":{"serverTime":"2026-11-20T22:53:00.123Z"}}"#, #"{"something":"new"}"#,
        #"{"stream":"weather:x","event":{}}"#,
    ])
    func acceptsWhatItDoesNotKnow(text: String) throws { _ = try ServerFrame(Array(text.utf8)) }

    @Test(arguments: ["", "[]", "{", #"{"stream":"call:c1","changes":[{}]}"#, #"{"id":1,"error":{}}"#])
    func refusesWhatIsBroken(text: String) {
        #expect(throws: SwitchboardError.self) { try ServerFrame(Array(text.utf8)) }
    }

    @Test func namesItselfInItsHelloAndItsRequests() throws {
        struct Frame: Decodable {
            struct Hello: Decodable { var token: String; var client: SignIn.Client }
            var hello: Hello
        }
        let hello = ClientFrame.hello(id: 1, token: "t", endpoint: "e1", secret: "s", resume: [:])
        let frame = try JSON.decode(Frame.self, from: try hello.text())
        #expect(frame.hello.token == "t")
        #expect(frame.hello.client == SignIn.Client(name: "Switchboard-Swift", version: SwitchboardVersion.text))
        // RFC 9110 section 10.1.5: a product with its version, and a comment.
        #expect(SwitchboardVersion.userAgent.hasPrefix("Switchboard-Swift/\(SwitchboardVersion.text) ("))
        #expect(SwitchboardVersion.userAgent.hasSuffix(")"))
        let numbers = SwitchboardVersion.text.split(separator: "-")[0].split(separator: ".").compactMap { Int($0) }
        #expect(numbers.count == 3)
    }

    @Test func writesRequestsAroundTheirParameters() throws {
        let text = try ClientFrame.request(id: 7, name: "me.get", params: Array("{}".utf8)).text()
        #expect(String(decoding: text, as: UTF8.self) == #"{"id":7,"request":"me.get","params":{}}"#)
    }
}

import Foundation
import SDP
import Testing

@Suite("Answers to real offers")
struct AnswerTests {
    static let sessions = Array(Set(Offers.names.map { String($0.dropLast(2)) })).sorted()

    /// The answers stand beside the offers, so that a change is seen for what it is, and Tests/EndToEndTests gives them
    /// to the clients. DEV_SWITCHBOARD_WRITE_ANSWERS names the folder into which they are written anew.
    @Test("are the ones that the clients were seen to accept", arguments: sessions)
    func kept(session: String) throws {
        var leg = TestLeg()
        for name in Offers.names.filter({ $0.hasPrefix(session + "-") && $0.count == session.count + 2 }) {
            let answer = try leg.answer(Offers.description(name)).answer
            #expect(try SessionDescription(parsing: answer.text) == answer)
            let file = "\(name).answer.sdp"
            if let folder = ProcessInfo.processInfo.environment["DEV_SWITCHBOARD_WRITE_ANSWERS"] {
                try Data(answer.text.utf8).write(to: URL(filePath: folder).appending(path: file))
            } else {
                let kept = try String(contentsOf: Offers.folder.appending(path: file), encoding: .utf8)
                #expect(answer.text == kept, "\(file)")
            }
        }
    }
}

import Assistant
import Calls
import Foundation
import Friends
import Messaging
import SDP
import Testing

/// The limits in the documentation of the SDK are those that the server enforces.
struct DocumentedLimitTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/Client")

    /// The comments of a file as one line.
    private func documentation(of file: String) throws -> String {
        try String(contentsOf: Self.sources.appending(path: file), encoding: .utf8)
            .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix("///") }
            .map { $0.dropFirst(3).trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
    }

    @Test func areThoseOfCalls() throws {
        let rules = CallRules()
        let ring = rules.ringSecondsAllowed
        let creating = try documentation(of: "Switchboard+Calls.swift")
        #expect(creating.contains("The users to ring, 1 to \(rules.participantLimit - 1)."))
        #expect(
            creating.contains(
                "Seconds to ring, \(ring.lowerBound) to \(ring.upperBound); nil is the server's \(rules.ringSeconds)."))
        #expect(creating.contains("The SDP to offer, at most \(rules.descriptionLimit / 1_024) KiB;"))
        let requests = try documentation(of: "Calls/LiveCall+Requests.swift")
        #expect(
            requests.contains(
                "An SDP is at most \(rules.descriptionLimit / 1_024) KiB, a batch at most \(rules.batchLimit) "))
        #expect(requests.contains("ends \(rules.setupSeconds) seconds after it was accepted;"))
        #expect(requests.contains("leaves it after \(rules.legSetupSeconds) seconds"))
        let signals = try documentation(of: "Calls/Signal.swift")
        #expect(signals.contains("answered within \(rules.offerSeconds) seconds"))
        #expect(signals.contains("ICE candidates, at most \(rules.batchLimit);"))
    }

    @Test func areThoseOfFriends() throws {
        let text = try documentation(of: "Friends/Friends.swift")
        #expect(text.contains("A snapshot has the newest \(FriendRules.snapshotLimit);"))
        #expect(text.contains("A request waits for \(FriendRules.requestSeconds / 86_400) days."))
        #expect(text.contains("at most \(FriendRules.noteCharacters) characters."))
        #expect(text.contains("if \(FriendRules.sentLimit) requests wait already"))
        #expect(text.contains("at most \(FriendRules.reportsPerDay) a day."))
        #expect(FriendRules.reportCharacters == 2000 && text.contains("at most 2,000 characters."))
    }

    @Test func areThoseOfMessages() throws {
        let text = try documentation(of: "Conversations/Messages+Writes.swift")
        #expect(MessageText.maxBytes == 65_536 && text.contains("At most 65,536 bytes of UTF-8."))
        #expect(ConversationLimits().requestMessages == 3)
        #expect(
            try documentation(of: "Conversations/Conversations.swift").contains(
                "at most three messages arrive before they accept it"))
    }

    @Test func areThoseOfLanguages() throws {
        let limits = ConversationLimits()
        let text = try documentation(of: "Conversations/Messages+Translations.swift")
        #expect(text.contains("The numbers of 1 to \(limits.translatedAtOnce) messages."))
        #expect(text.contains("messages before the newest \(limits.window),"))
        #expect(text.contains("At most \(limits.glossaryTerms)."))
    }

    @Test func areThoseOfTheAssistant() throws {
        let text = try documentation(of: "Assistant/Assistant.swift")
        #expect(AssistantQuestion.maxLength == 4_000 && text.contains("question: At most 4,000 characters."))
        #expect(text.contains("questions: 1 to \(AssistantQuestion.maxBatch), each of at most 4,000 characters."))
    }

    @Test func areThoseOfLegs() throws {
        let capabilities = GatewayCapabilities()
        #expect(
            try documentation(of: "Calls/LiveCall+Requests.swift").contains(
                "at most \(capabilities.audioSlots) of audio and \(capabilities.videoSlots) of video"))
    }
}

/// The examples in articles are those that are compiled with these tests.
struct DocumentedExampleTests {
    @Test(arguments: [("reading", "Reading"), ("asking", "Asking"), ("waking", "Waking")])
    func areCompiled(name: String, article: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let example = try String(contentsOf: folder.appending(path: "Examples/\(name).swift"), encoding: .utf8)
        let lines = try #require(example.firstMatch(of: /docs:begin\n([\s\S]*?) *\/\/ docs:end/)).1
            .split(separator: "\n", omittingEmptySubsequences: false)
        // An article has them without the indentation of the function.
        let code = lines.map { $0.hasPrefix("    ") ? String($0.dropFirst(4)) : String($0) }.joined(separator: "\n")
        let text = try String(
            contentsOf: folder.appending(path: "../../Sources/Client/SwitchboardClient.docc/\(article).md"),
            encoding: .utf8)
        #expect(text.contains("```swift\n\(code)```\n"))
    }
}

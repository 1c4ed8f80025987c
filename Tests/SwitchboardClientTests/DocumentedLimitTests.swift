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

    @Test func areThoseOfLegs() throws {
        let capabilities = GatewayCapabilities()
        #expect(
            try documentation(of: "Calls/LiveCall+Requests.swift").contains(
                "at most \(capabilities.audioSlots) of audio and \(capabilities.videoSlots) of video"))
    }
}

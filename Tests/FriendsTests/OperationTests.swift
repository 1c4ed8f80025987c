import Accounts
import Friends
import Messaging
import Model
import Services
import Testing
import Tokens

@testable import WebAPI

/// The operations of REST and realtime, without a server: statuses, documents, and fields of problems.
@Suite struct OperationTests {
    private func run(
        _ name: String, _ scratch: ScratchFriends, by principal: Principal, _ parameters: [String: String] = [:],
        body: String = ""
    ) async throws -> OperationResponse {
        let conversations = ConversationService(
            store: scratch.store, commands: ConversationCommands(), secrets: SystemSecrets())
        let all =
            FriendOperations.all(scratch.commands) + ContactOperations.all(scratch.commands, conversations)
        let operation = try #require(all.first { $0.name == name })
        return try await operation.run(
            OperationRequest(
                principal: principal, parameters: parameters, body: Array(body.utf8), clientAddress: "-"))
    }

    private func text(_ response: OperationResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    @Test func statusesAndDocuments() async throws {
        let scratch = try await ScratchFriends()
        let people = try await scratch.users("Anna", "Ben")
        let (anna, ben) = (people[0], people[1])
        let body = #"{"clientID":"\#(scratch.clientID())","user":"\#(ben.user)","note":"Hi"}"#
        let made = try await run("friends.request", scratch, by: anna, body: body)
        #expect(made.status == 201 && made.positions[.user(anna.user)]?.sequence == 1)
        #expect(text(made).contains(#""state":"requested""#) && text(made).contains(#""note":"Hi""#))
        let again = try await run("friends.request", scratch, by: anna, body: body)
        #expect(again.status == 200 && text(again).contains(#""duplicate":true"#))
        let accepted = try await run("friends.accept", scratch, by: ben, ["user": anna.user.text])
        #expect(accepted.status == 200 && text(accepted).contains(#""state":"friend""#))
        let list = try await run("friends.list", scratch, by: anna, ["state": "friend", "limit": "1"])
        #expect(list.status == 200 && text(list).contains(ben.user.text))
        let removed = try await run("friends.remove", scratch, by: anna, ["user": ben.user.text])
        #expect(removed.status == 204)
        let link = try await run("me.makeLink", scratch, by: anna)
        #expect(link.status == 201)
        let token = text(link).split(separator: "\"")[3]
        let contact = try await run("links.get", scratch, by: ben, ["token": String(token)])
        #expect(text(contact).contains(#""kind":"contact""#) && text(contact).contains(anna.user.text))
        let removal = try await run("me.removeLink", scratch, by: anna)
        #expect(removal.status == 204)
        let report = #"{"clientID":"\#(scratch.clientID())","user":"\#(anna.user)","reason":"spam"}"#
        for (status, document) in [(201, "{}"), (200, #"{"duplicate":true}"#)] {
            let response = try await run("reports.create", scratch, by: ben, body: report)
            #expect(response.status == status && text(response) == document)
        }
    }

    @Test func problemsNameTheirField() async throws {
        let scratch = try await ScratchFriends()
        let anna = try await scratch.user("Anna")
        let id = scratch.clientID().text
        for (name, parameters, body, field) in [
            ("friends.request", [:], "{}", "clientID"), ("friends.request", [:], "[]", "body"),
            ("friends.request", [:], #"{"clientID":"\#(id)","user":"x"}"#, "user"),
            ("friends.request", [:], #"{"clientID":"\#(id)","user":"\#(id)","note":7}"#, "note"),
            ("friends.list", ["state": "declined"], "", "state"), ("friends.list", ["limit": "0"], "", "limit"),
            ("friends.accept", ["user": "x"], "", "user"), ("friends.decline", [:], "", "user"),
            ("links.get", ["token": "x"], "", "token"),
            ("reports.create", [:], #"{"clientID":"\#(id)","user":"\#(id)","reason":"x"}"#, "reason"),
        ] {
            let found = await problem { _ = try await run(name, scratch, by: anna, parameters, body: body) }
            #expect(found?.field == field, "\(name) \(parameters) \(body)")
        }
    }
}

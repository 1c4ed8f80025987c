import Model
import Testing

@testable import Messaging

@Suite("Conversations and their members")
struct ConversationCommandsTests {
    @Test("two people have one conversation, whoever begins it, and everybody has one for notes")
    func pairs() throws {
        let chat = Chat(people: 2)
        let (ann, ben) = (chat.people[0], chat.people[1])
        let first = try chat.commands.createDirect(with: ben, id: chat.newID(), by: ann, in: chat.store)
        let second = try chat.commands.createDirect(with: ann, id: chat.newID(), by: ben, in: chat.store)
        #expect(first.isNew && !second.isNew)
        #expect(first.found.conversation == second.found.conversation && second.found.conversation.memberCount == 2)
        #expect(
            problem { _ = try chat.commands.createDirect(with: ann, id: chat.newID(), by: ann, in: chat.store) }
                == .invalidRequest)
        let notes = try chat.commands.createNotes(id: chat.newID(), by: ann, in: chat.store)
        #expect(try chat.commands.createNotes(id: chat.newID(), by: ann, in: chat.store).found == notes.found)
        try chat.send("remember", to: notes.found.conversation.id, by: 0)
        #expect(
            problem { _ = try chat.commands.get(notes.found.conversation.id, by: ben, in: chat.store) } == .notFound)
    }

    @Test("a request of a stranger is three messages, until it is accepted")
    func request() throws {
        let chat = Chat(people: 2, areFriends: false)
        let id = try chat.commands.createDirect(
            with: chat.people[1], id: chat.newID(), by: chat.people[0], in: chat.store
        )
        .found.conversation.id
        for number in 1...3 { try chat.send("\(number)", to: id, by: 0) }
        #expect(problem { try chat.send("4", to: id, by: 0) } == .forbidden)
        #expect(try chat.texts(id, by: 1) == ["1", "2", "3"])
        #expect(problem { try chat.send("no", to: id, by: 1) } == .forbidden)
        for _ in 0..<2 {
            let found = try chat.commands.accept(id, by: chat.people[1], in: chat.store)
            #expect(found.member.state == .member && found.conversation.memberCount == 2)
        }
        try chat.send("yes", to: id, by: 1)
        try chat.send("4", to: id, by: 0)
        #expect(try chat.texts(id, by: 0) == ["1", "2", "3", "yes", "4"])
    }

    @Test("nothing tells somebody who asks that the other has blocked them")
    func blocked() throws {
        func transcript(isBlocked: Bool) throws -> [String] {
            let chat = Chat(people: 2, areFriends: false)
            if isBlocked { chat.store.blocks.insert([chat.people[0], chat.people[1]]) }
            let found = try chat.commands.createDirect(
                with: chat.people[1], id: chat.newID(), by: chat.people[0], in: chat.store
            ).found
            let id = found.conversation.id
            var said = ["\(found.conversation.memberCount) \(found.member.state)"]
            for number in 1...4 {
                let kind = problem { try chat.send("\(number)", to: id, by: 0) }
                said.append(kind.map(\.rawValue) ?? "sent")
            }
            let members = try chat.commands.members(of: id, after: nil, limit: 10, by: chat.people[0], in: chat.store)
            said.append(contentsOf: members.members.map { "\($0.role) \($0.state) \($0.version)" })
            said.append(
                contentsOf: try chat.page(of: id, by: 0).messages.map { "\($0.number) \($0.version) \($0.text ?? "")" })
            #expect(try chat.texts(id, by: 1) == (isBlocked ? [] : ["1", "2", "3"]))
            return said
        }
        #expect(try transcript(isBlocked: true) == transcript(isBlocked: false))
    }

    @Test("strangers are invited to a group, and see nothing of it before they accept")
    func invited() throws {
        let chat = Chat(people: 3, areFriends: false)
        chat.store.friends.insert([chat.people[0], chat.people[1]])
        let id = try chat.group([1, 2, 1], name: "Trip")
        try chat.send("before", to: id, by: 0)
        let invitation = try chat.commands.get(id, by: chat.people[2], in: chat.store)
        #expect(invitation.member.state == .invited && invitation.conversation.memberCount == 2)
        #expect(try chat.texts(id, by: 2) == [])
        #expect(
            problem { _ = try chat.commands.members(of: id, after: nil, limit: 9, by: chat.people[2], in: chat.store) }
                == .forbidden)
        #expect(problem { try chat.send("x", to: id, by: 2) } == .forbidden)
        #expect(try chat.commands.accept(id, by: chat.people[2], in: chat.store).conversation.memberCount == 3)
        try chat.send("after", to: id, by: 1)
        #expect(try chat.texts(id, by: 2) == ["after"], "the span begins when it is accepted")
    }

    @Test("who leaves keeps what was seen, and who returns does not see what was in between")
    func leaving() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1, 2])
        let sent = try chat.send("one", to: id, by: 0)
        for _ in 0..<2 { try chat.commands.leave(id, by: chat.people[2], in: chat.store) }
        let text = try MessageText("changed")
        _ = try chat.commands.edit(
            1, in: id, text: text, basedOn: sent.textVersion, by: chat.people[0], store: chat.store)
        try chat.send("two", to: id, by: 1)
        #expect(try chat.texts(id, by: 2) == ["one"], "as it was, though it was edited since")
        #expect(problem { try chat.send("x", to: id, by: 2) } == .forbidden)
        _ = try chat.commands.add([chat.people[2]], to: id, by: chat.people[0], in: chat.store)
        try chat.send("three", to: id, by: 0)
        #expect(try chat.texts(id, by: 2) == ["one", "three"])
        #expect(try chat.texts(id, by: 0) == ["changed", "two", "three"])
        _ = try chat.commands.delete(1, in: id, by: chat.people[0], store: chat.store)
        #expect(try chat.texts(id, by: 2) == ["", "three"], "deletions reach everybody")
    }

    @Test("leaving before anything was written, twice")
    func leavingAtOnce() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        for _ in 0..<2 { try chat.commands.leave(id, by: chat.people[1], in: chat.store) }
        #expect(problem { _ = try chat.commands.get(id, by: chat.people[1], in: chat.store) } == .notFound)
    }

    @Test("a group always has one owner while somebody is in it")
    func owners() throws {
        let chat = Chat(people: 4)
        let id = try chat.group([1, 2, 3])
        func owners() -> [Int] {
            chat.people.indices.filter { chat.store.member(chat.people[$0], of: id)?.role == .owner }
        }
        func change(_ role: MemberRole, of other: Int, by user: Int) throws {
            _ = try chat.commands.change(
                role: role, of: chat.people[other], in: id, by: chat.people[user], store: chat.store)
        }
        #expect(owners() == [0])
        #expect(problem { try change(.admin, of: 2, by: 1) } == .forbidden)
        try change(.admin, of: 2, by: 0)
        try change(.admin, of: 3, by: 2)
        #expect(problem { try change(.member, of: 3, by: 2) } == .forbidden)
        #expect(problem { try change(.owner, of: 3, by: 0) } == .conflict)
        for _ in 0..<2 { _ = try chat.commands.handOver(id, to: chat.people[1], by: chat.people[0], in: chat.store) }
        #expect(owners() == [1])
        #expect(
            problem { _ = try chat.commands.handOver(id, to: chat.people[3], by: chat.people[0], in: chat.store) }
                == .forbidden)
        #expect(
            problem { try chat.commands.remove(chat.people[1], from: id, by: chat.people[0], in: chat.store) }
                == .forbidden)
        try chat.commands.leave(id, by: chat.people[1], in: chat.store)
        #expect(owners() == [0], "an administrator, who joined first")
        for person in [0, 2, 3] {
            try chat.commands.leave(id, by: chat.people[person], in: chat.store)
            #expect(owners().count == (person == 3 ? 0 : 1))
        }
        #expect(chat.store.conversation(id)?.memberCount == 0)
    }

    @Test("names and settings change by those who may, once")
    func settings() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1], name: "A")
        let before = try chat.commands.get(id, by: chat.people[0], in: chat.store).conversation
        #expect(try chat.commands.rename(id, to: "A", by: chat.people[1], in: chat.store).conversation == before)
        let renamed = try chat.commands.rename(id, to: "B", by: chat.people[1], in: chat.store).conversation
        #expect(renamed.name == "B" && renamed.version == before.sequence + 1)
        let closed = ConversationSettings(write: .admins, add: .admins, rename: .admins)
        #expect(
            problem { _ = try chat.commands.change(id, settings: closed, by: chat.people[1], in: chat.store) }
                == .forbidden)
        _ = try chat.commands.change(id, settings: closed, by: chat.people[0], in: chat.store)
        #expect(problem { _ = try chat.commands.rename(id, to: "C", by: chat.people[1], in: chat.store) } == .forbidden)
        #expect(problem { try chat.send("x", to: id, by: 1) } == .forbidden)
        try chat.send("news", to: id, by: 0)
    }

    @Test("groups and requests are bounded, and those who block or do not exist are not added")
    func bounds() throws {
        var chat = Chat(people: 6)
        var limits = ConversationLimits()
        (limits.members, limits.addedAtOnce, limits.conversations) = (4, 3, 2)
        chat.commands = ConversationCommands.quiet(limits)
        #expect(problem { _ = try chat.group([1, 2, 3, 4]) } == .invalidRequest)
        let id = try chat.group([1, 2, 3])
        #expect(
            problem { _ = try chat.commands.add([chat.people[4]], to: id, by: chat.people[0], in: chat.store) }
                == .conflict)
        // Who is in it already takes no room.
        _ = try chat.commands.add([chat.people[1], chat.people[1]], to: id, by: chat.people[0], in: chat.store)
        chat.store.blocks.insert([chat.people[0], chat.people[5]])
        chat.store.inactive.insert(chat.people[4])
        #expect(problem { _ = try chat.group([5]) } == .notFound)
        #expect(problem { _ = try chat.group([4]) } == .notFound)
        _ = try chat.group([1])
        #expect(problem { _ = try chat.group([1]) } == .conflict)
    }

    @Test("what strangers begin is accepted or refused if the user says so, and the refusal looks like a request")
    func messageRequests() throws {
        let chat = Chat(people: 4, areFriends: false)
        let (ann, ben) = (chat.people[0], chat.people[1])
        chat.store.requestPolicies[ben] = .refuse
        let refused = try chat.direct(0, 1)
        let asked = try chat.direct(0, 2)
        for id in [refused, asked] {
            #expect(chat.store.conversation(id)?.memberCount == 1)
            let seen = try chat.commands.members(of: id, after: nil, limit: 10, by: ann, in: chat.store).members
            #expect(Set(seen.map(\.state)) == [.member, .invited])
            for _ in 0..<3 { try chat.send("hello", to: id, by: 0) }
            #expect(problem { try chat.send("a fourth", to: id, by: 0) } == .forbidden)
        }
        #expect(problem { _ = try chat.page(of: refused, by: 1) } == .notFound)
        #expect(try chat.texts(asked, by: 2).count == 3)
        let group = try chat.group([1])
        #expect(problem { _ = try chat.commands.get(group, by: ben, in: chat.store) } == .notFound)
        chat.store.requestPolicies[chat.people[3]] = .accept
        let accepted = try chat.direct(0, 3)
        #expect(chat.store.conversation(accepted)?.memberCount == 2)
        // Who has refused begins it themselves.
        #expect(try chat.direct(1, 0) == refused)
        #expect(chat.store.conversation(refused)?.memberCount == 2)
    }
}

import Model
import Testing

@testable import Messaging

@Suite("Messages that follow calls")
struct CallMessageTests {
    private let call = CallID.make(at: Timestamp(milliseconds: 1))

    private func followed(
        _ chat: Chat, _ state: CallRecord.State, by caller: Int = 0, _ states: [String], missed: [Int] = [],
        joined: [Int] = []
    ) -> FollowedCall {
        FollowedCall(
            record: CallRecord(
                id: call, kind: "audio", state: state, startedAt: chat.store.now,
                endedAt: state == .ended ? chat.store.now : nil, reason: state == .ended ? "missed" : nil,
                participants: zip(chat.people, states).map { .init(user: $0, state: $1) }),
            caller: chat.people[caller], joined: joined.map { chat.people[$0] },
            missed: Set(missed.map { chat.people[$0] }))
    }

    private func direct(_ chat: Chat) throws -> ConversationID {
        try chat.commands.createDirect(with: chat.people[1], id: chat.newID(), by: chat.people[0], in: chat.store)
            .found.conversation.id
    }

    @Test("one message follows the call by its version, and the document shows that it is on")
    func follows() throws {
        let chat = Chat(people: 2)
        let id = try direct(chat)
        let began = followed(chat, .ringing, ["joined", "ringing"], joined: [0])
        let number = try #require(try chat.commands.follow(new: began, in: id, store: chat.store))
        let ringing = try chat.commands.message(number, in: id, by: chat.people[1], store: chat.store)
        #expect(ringing.kind == .call && ringing.text == nil && ringing.call?.state == .ringing)
        #expect(ringing.author == chat.people[0])
        var conversation = try #require(chat.store.conversation(id))
        #expect(conversation.liveCall?.id == call && conversation.liveCall?.number == number)
        let version = conversation.version

        try chat.send("meanwhile", to: id, by: 1)
        let over = followed(chat, .ended, ["left", "missed"], missed: [1])
        try chat.commands.follow(over, replacing: began, number, in: id, store: chat.store)
        let ended = try chat.commands.message(number, in: id, by: chat.people[0], store: chat.store)
        #expect(ended.number == ringing.number && ended.version > ringing.version && ended.call?.state == .ended)
        conversation = try #require(chat.store.conversation(id))
        #expect(conversation.liveCall == nil && conversation.version > version && conversation.lastNumber == 2)
        // The same again changes nothing.
        try chat.commands.follow(over, replacing: over, number, in: id, store: chat.store)
        #expect(chat.store.conversation(id)?.sequence == conversation.sequence)
    }

    @Test("a missed call is unread for whom it rang, others are not")
    func unread() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1, 2])
        func count(_ person: Int) throws -> Int? {
            try chat.commands.unread(of: chat.people[person], in: [id], store: chat.store)[id]?.messages
        }
        let ringing = followed(chat, .ringing, ["joined", "ringing", "ringing"], joined: [0])
        let number = try #require(try chat.commands.follow(new: ringing, in: id, store: chat.store))
        #expect(try (0...2).map(count) == [0, 0, 0])
        let missed = followed(chat, .active, ["joined", "joined", "missed"], missed: [2], joined: [0, 1])
        try chat.commands.follow(missed, replacing: ringing, number, in: id, store: chat.store)
        #expect(try (0...2).map(count) == [0, 0, 1])
        // Who joins later has not missed it.
        let joined = followed(chat, .active, ["joined", "joined", "joined"], joined: [0, 1, 2])
        try chat.commands.follow(joined, replacing: missed, number, in: id, store: chat.store)
        #expect(try (0...2).map(count) == [0, 0, 0])
    }

    @Test("it is neither edited nor forwarded, and deleted for oneself alone")
    func unchangeable() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        for state in [CallRecord.State.active, .ended] {
            let number = try #require(
                try chat.commands.follow(
                    new: FollowedCall(
                        record: CallRecord(
                            id: chat.newID(), kind: "video", state: state, startedAt: chat.store.now),
                        caller: chat.people[1], joined: [], missed: []), in: id, store: chat.store))
            for person in 0...1 {
                let user = chat.people[person]
                #expect(
                    problem {
                        _ = try chat.commands.delete(number, in: id, by: user, store: chat.store)
                    } == .conflict)
                #expect(
                    problem {
                        let outgoing = OutgoingMessage(
                            clientID: chat.newID(), forward: MessageReference(id, number), digest: [])
                        _ = try chat.commands.send(outgoing, to: id, by: user, in: chat.store)
                    } == .conflict)
            }
            #expect(
                try problem {
                    _ = try chat.commands.edit(
                        number, in: id, text: try MessageText("x"), basedOn: 1, by: chat.people[1], store: chat.store)
                } == .conflict)
            _ = try chat.commands.hide(number, in: id, by: chat.people[0], store: chat.store)
            #expect(try chat.page(of: id, by: 0).messages.isEmpty || state == .ended)
            #expect(try chat.page(of: id, by: 1).messages.contains { $0.number == number })
        }
    }

    @Test("who left sees that there was a call, and nothing of what came later")
    func formerMember() throws {
        let chat = Chat(people: 3)
        let id = try chat.group([1, 2])
        let began = followed(chat, .active, ["joined", "joined", "joined"], joined: [0, 1, 2])
        let number = try #require(try chat.commands.follow(new: began, in: id, store: chat.store))
        try chat.commands.leave(id, by: chat.people[2], in: chat.store)
        // They are not told its end: at once they see what they will see of it.
        let before = try chat.commands.message(number, in: id, by: chat.people[2], store: chat.store)
        try chat.commands.follow(
            followed(chat, .ended, ["left", "left", "left"]), replacing: began, number, in: id, store: chat.store)
        let seen = try chat.commands.message(number, in: id, by: chat.people[2], store: chat.store)
        #expect(before.call == seen.call && before.version == seen.version)
        #expect(seen.call?.id == call && seen.call?.state == .ended && seen.call?.endedAt == nil)
        #expect(seen.call?.participants.isEmpty == true)
        #expect(try chat.commands.get(id, by: chat.people[2], in: chat.store).conversation.liveCall == nil)
    }

    @Test("a call that is withheld is its caller's alone")
    func withheld() throws {
        let chat = Chat(people: 2)
        let id = try direct(chat)
        chat.store.blocks.insert([chat.people[0], chat.people[1]])
        let began = followed(chat, .ringing, ["joined", "invited"], joined: [0])
        let number = try #require(try chat.commands.follow(new: began, in: id, store: chat.store))
        func document(_ person: Int) throws -> String {
            var writer = JSONWriter(capacity: 512)
            try chat.commands.get(id, by: chat.people[person], in: chat.store).write(to: &writer)
            return writer.text
        }
        #expect(try document(0).contains("liveCall") && !document(1).contains("liveCall"))
        // What the other one begins meanwhile is on for both, whatever becomes of the first.
        let other = FollowedCall(
            record: CallRecord(
                id: CallID.make(at: chat.store.now), kind: "audio", state: .ringing, startedAt: chat.store.now),
            caller: chat.people[1], joined: [chat.people[1]], missed: [])
        let second = try #require(try chat.commands.follow(new: other, in: id, store: chat.store))
        try chat.commands.follow(began, replacing: began, number, in: id, store: chat.store)
        #expect(chat.store.conversation(id)?.liveCall?.number == second)
        try chat.commands.follow(
            followed(chat, .ended, ["left", "missed"]), replacing: began, number, in: id, store: chat.store)
        #expect(chat.store.conversation(id)?.liveCall?.number == second)
        #expect(try chat.page(of: id, by: 0).messages.map(\.call?.state) == [.ended, .ringing])
        #expect(try chat.page(of: id, by: 1).messages.map(\.number) == [second])
        #expect(try chat.commands.unread(of: chat.people[1], in: [id], store: chat.store)[id]?.messages == 0)
    }

    @Test("a request cannot be called; a call without a conversation accepts it when it is answered")
    func request() throws {
        let chat = Chat(people: 2, areFriends: false)
        let id = try direct(chat)
        for person in 0...1 {
            #expect(
                problem {
                    _ = try chat.commands.callees(in: id, by: chat.people[person], limit: 32, store: chat.store)
                } == .forbidden)
        }
        #expect(
            try chat.commands.conversationOfCall(
                from: chat.people[0], to: chat.people[1], id: chat.newID(), in: chat.store) == id)
        let began = followed(chat, .ringing, ["joined", "ringing"], joined: [0])
        let number = try #require(try chat.commands.follow(new: began, in: id, store: chat.store))
        #expect(chat.store.member(chat.people[1], of: id)?.state == .invited)
        // Calls are none of the three messages of a request.
        for text in ["a", "b", "c"] { try chat.send(text, to: id, by: 0) }
        try chat.commands.follow(
            followed(chat, .active, ["joined", "joined"], joined: [0, 1]), replacing: began, number, in: id,
            store: chat.store)
        #expect(chat.store.member(chat.people[1], of: id)?.state == .member)
        #expect(
            try chat.commands.callees(in: id, by: chat.people[1], limit: 32, store: chat.store).users
                == [chat.people[0]])
    }

    @Test("who refuses strangers, or has declined one, is not rung by them; friends and who was accepted ring")
    func rejections() throws {
        let chat = Chat(people: 3, areFriends: false)
        func refuses(_ caller: Int, _ user: Int) throws -> Bool {
            try chat.commands.refusesCalls(of: chat.people[caller], chat.people[user], in: chat.store)
        }
        #expect(try !refuses(0, 1) && !refuses(0, 0))
        let id = try direct(chat)
        #expect(try !refuses(0, 1), "while the request waits")
        try chat.commands.decline(id, by: chat.people[1], in: chat.store)
        #expect(try refuses(0, 1) && !refuses(1, 0))
        chat.store.requestPolicies[chat.people[2]] = .refuse
        #expect(try refuses(0, 2) && !refuses(2, 0))
        chat.store.friends.insert([chat.people[0], chat.people[2]])
        #expect(try !refuses(0, 2))
    }

    @Test("a call rings the members of a group that is not large, and nobody of others")
    func callees() throws {
        let chat = Chat(people: 5)
        let id = try chat.group([1, 2, 3])
        try chat.send("hello", to: id, by: 0)
        try chat.commands.leave(id, by: chat.people[3], in: chat.store)
        func callees(_ person: Int, limit: Int = 32) throws -> Set<UserID> {
            Set(try chat.commands.callees(in: id, by: chat.people[person], limit: limit, store: chat.store).users)
        }
        #expect(try callees(1) == [chat.people[0], chat.people[2]])
        #expect(try callees(1, limit: 3) == [chat.people[0], chat.people[2]])
        #expect(try callees(1, limit: 2) == [])
        #expect(problem { _ = try callees(3) } == .forbidden)
        #expect(problem { _ = try callees(4) } == .notFound)
        for (person, standing) in [CallStanding.administrator, .member, .member, .outside, .outside].enumerated() {
            #expect(
                try chat.commands.callStanding(of: chat.people[person], in: id, store: chat.store) == standing)
        }
    }
}

import Model
import Testing
import Transfer

@Suite struct TransferReaderTests {
    private func read(_ line: String) throws -> TransferReader.Line { try TransferReader.read(Array(line.utf8)) }

    private func refusal(_ line: String) -> Problem? {
        do {
            _ = try read(line)
            return nil
        } catch {
            return error as? Problem
        }
    }

    static let lines = [
        #"{"type":"user","id":"u1","ext":"u1","email":"ann@example.org","name":"Ann","languages":["en","pt-BR"],"#
            + #""createdAt":"2020-01-02T03:04:05.006Z"}"#,
        #"{"type":"user","id":"ü","name":"Ben"}"#,
        #"{"type":"user","id":"u3","name":"Cem","notifications":"full","#
            + #""quietHours":{"from":"22:00","to":"07:05","zone":"Europe/Berlin"},"#
            + #""pushes":[{"device":"d1","kind":"apnsVoIP","createdAt":"2020-01-02T03:04:05.006Z","#
            + #""updatedAt":"2020-01-02T03:04:06.006Z","shared":true},{"device":"d1","kind":"web","#
            + #""createdAt":"2020-01-02T03:04:05.006Z","updatedAt":"2020-01-02T03:04:05.006Z"}]}"#,
        #"{"type":"conversation","id":"c1","kind":"group","name":"Team","createdAt":"2020-01-02T03:04:05.006Z","#
            + #""settings":{"write":"members","add":"admins","rename":"members"}}"#,
        #"{"type":"conversation","id":"c4","kind":"group","#
            + #""settings":{"write":"members","add":"members","rename":"members","keepDays":30,"intelligence":"off"}}"#,
        #"{"type":"conversation","id":"c2","kind":"direct","members":["u1","u2"]}"#,
        #"{"type":"conversation","id":"c3","kind":"self","members":["u1"]}"#,
        #"{"type":"message","id":"m1","conversation":"c1","author":"u1","sentAt":"2020-01-02T03:04:05.006Z","#
            + #""text":"a \"quoted\"\nline \\ 👍","language":"pt-BR","replyTo":"m0","editedAt":"2020-01-02T03:04:06.006Z","#
            + #""edits":[{"text":"a","writtenAt":"2020-01-02T03:04:05.006Z"}],"#
            + #""reactions":[{"user":"u2","emoji":"👍","at":"2020-01-02T03:04:07.000Z"}],"pinned":true}"#,
        #"{"type":"message","id":"m2","conversation":"c1","author":"u1","sentAt":"2020-01-02T03:04:05.006Z","#
            + #""deletedAt":"2020-01-02T03:04:06.000Z"}"#,
        #"{"type":"message","id":"m3","conversation":"c1","author":"u1","sentAt":"2020-01-02T03:04:05.006Z","#
            + #""kind":"call","call":{"kind":"audio","answeredAt":"2020-01-02T03:04:06.000Z","#
            + #""endedAt":"2020-01-02T03:05:06.000Z","reason":"hung_up","endedBy":"u1","#
            + #""participants":[{"user":"u1","state":"left"},{"user":"u2","state":"left"}]}}"#,
        #"{"type":"conversation","id":"c4","kind":"group","disappearAfter":60}"#,
        #"{"type":"message","id":"m3","conversation":"c4","author":"u1","sentAt":"2020-01-02T03:04:05.006Z","#
            + #""text":"a","expiresAt":"2020-01-02T03:05:05.006Z"}"#,
        #"{"type":"member","conversation":"c1","user":"u1","role":"owner","spans":[{"after":"m1","until":"m2"},{}],"#
            + #""read":"m1"}"#,
        #"{"type":"member","conversation":"c1","user":"u2","state":"left","unread":true}"#,
        #"{"type":"own","conversation":"c1","user":"u1","message":"m1","hidden":true}"#,
        #"{"type":"own","conversation":"c1","user":"u1","message":"m4","starredAt":"2020-01-02T03:04:06.000Z","#
            + #""listenedAt":"2020-01-02T03:04:07.000Z"}"#,
        #"{"type":"message","id":"m4","conversation":"c1","author":"u1","sentAt":"2020-01-02T03:04:05.006Z","#
            + #""kind":"voice","voice":{"durationMs":900,"file":"m4.ogg","waveform":[0,50,100],"level":-30,"#
            + #""transcript":"a b","language":"en","segments":[{"start":0,"end":400,"text":"a"}]}}"#,
    ]

    @Test(arguments: lines) func aLineIsWrittenAsItWasRead(line: String) throws {
        let read = try read(line)
        #expect(String(decoding: read.record.json(), as: UTF8.self) == line)
        #expect(try TransferReader.read(read.record.json()) == read)
    }

    @Test func theSourceOfALineIsRead() throws {
        let line = try read(#"{"type":"user","source":"old-app","id":"u1","name":"Ann"}"#)
        #expect(line.source == "old-app")
        #expect(refusal(#"{"type":"user","source":"old app","id":"u1","name":"Ann"}"#)?.field == "source")
    }

    @Test func escapesAreRead() throws {
        let line = try read(#"{"type":"user","id":"\u00e9\ud83d\udc4d\/","name":"A\u0042","createdAt":1577934245006}"#)
        guard case .user(let user) = line.record else {
            Issue.record("no user")
            return
        }
        #expect(user.id == "é👍/")
        #expect(user.name == "AB")
        #expect(user.createdAt?.text == "2020-01-02T03:04:05.006Z")
    }

    /// The member that is named, and a part of the explanation.
    @Test(arguments: [
        (#"{"type":"group","id":"c1"}"#, "type", "one of user, conversation"),
        (#"{"id":"c1"}"#, "type", "missing"),
        (#"{"type":"user","id":"u1","name":"Ann","nickname":"A"}"#, "nickname", "has no member nickname"),
        (#"{"type":"user","id":"u1"}"#, "name", "missing"),
        (#"{"type":"user","id":"u1","name":"A","notifications":"some"}"#, "notifications", "full, name, none"),
        (
            #"{"type":"user","id":"u1","name":"A","quietHours":{"from":"24:00","to":"07:00","zone":"UTC"}}"#,
            "quietHours.from", "00:00 to 23:59"
        ),
        (
            #"{"type":"user","id":"u1","name":"A","quietHours":{"from":"07:00","to":"07:00","zone":"UTC"}}"#,
            "quietHours.to", "another time"
        ),
        (
            #"{"type":"user","id":"u1","name":"A","quietHours":{"from":"22:00","to":"07:00","zone":"Mars/Base"}}"#,
            "quietHours.zone", "Europe/Berlin"
        ),
        (
            #"{"type":"user","id":"u1","name":"A","quietHours":{"from":"22:00","to":"07:00"}}"#, "quietHours.zone",
            "missing"
        ),
        (
            #"{"type":"user","id":"u1","name":"A","quietHours":{"from":"22:00","to":"07:00","zone":"UTC","x":1}}"#,
            "quietHours.x", "has no member"
        ),
        (
            #"{"type":"user","id":"u1","name":"A","pushes":[{"device":"d1","kind":"web","createdAt":0}]}"#,
            "pushes[0].updatedAt", "missing"
        ),
        (
            #"{"type":"user","id":"u1","name":"A","pushes":[{"device":"d1","kind":"web","token":"x"}]}"#,
            "pushes[0].createdAt", "missing"
        ),
        (#"{"type":"user","id":"u1","name":"A","pushes":[{"device":"d1","kind":"sms"}]}"#, "pushes[0].kind", "apns"),
        (#"{"type":"user","id":7,"name":"Ann"}"#, "id", "a string, not a number"),
        (#"{"type":"user","id":"","name":"Ann"}"#, "id", "1 to 256 bytes"),
        (#"{"type":"user","id":"u1","name":"Ann","email":"ann"}"#, "email", "e-mail"),
        (#"{"type":"user","id":"u1","name":"Ann","ext":"a/b"}"#, "ext", "visible ASCII"),
        (
            #"{"type":"user","id":"u1","name":"Ann","email":"a@b.org","passwordHash":"$2b$10$x"}"#, "passwordHash",
            "argon2id"
        ),
        (#"{"type":"user","id":"u1","name":"Ann","createdAt":"yesterday"}"#, "createdAt", "such as 2024"),
        (#"{"type":"user","id":"u1","name":"Ann","createdAt":-1}"#, "createdAt", "1970"),
        (#"{"type":"conversation","id":"c1","kind":"direct","members":["u1","u1"]}"#, "members", "the two"),
        (#"{"type":"conversation","id":"c1","kind":"channel"}"#, "kind", "direct, group, self"),
        (#"{"type":"message","id":"m","conversation":"c","author":"u","sentAt":1,"text":" "}"#, "text", "at least one"),
        (#"{"type":"message","id":"m","conversation":"c","author":"u","sentAt":1}"#, "text", "missing"),
        (
            #"{"type":"message","id":"m","conversation":"c","author":"u","sentAt":1,"text":"a","deletedAt":2}"#,
            "deletedAt", "neither text"
        ),
        (
            #"{"type":"message","id":"m","conversation":"c","author":"u","sentAt":1,"text":"a","#
                + #""reactions":[{"user":"u","emoji":"ab"}]}"#, "reactions[0].emoji", "one emoji"
        ),
        (
            #"{"type":"message","id":"m","conversation":"c","author":"u","sentAt":1,"text":"a","edits":[{"text":"b"}]}"#,
            "edits[0].writtenAt", "missing"
        ),
        (
            #"{"type":"message","id":"m","conversation":"c","author":"u","sentAt":1,"kind":"call","text":"a"}"#, "call",
            "has a call"
        ),
        (
            #"{"type":"message","id":"m","conversation":"c","author":"u","sentAt":1,"text":"a","#
                + #""call":{"kind":"audio"}}"#, "call", "Only a message of kind call"
        ),
        (
            #"{"type":"message","id":"m","conversation":"c","author":"u","sentAt":1,"kind":"call","#
                + #""call":{"kind":"audio","participants":[{"user":"u","state":"lost"}]}}"#,
            "call.participants[0].state", "one of invited"
        ),
        (#"{"type":"member","conversation":"c","user":"u","read":"m","unread":true}"#, "unread", "read names"),
        (#"{"type":"own","conversation":"c","user":"u","message":"m"}"#, "hidden", "starredAt"),
    ])
    func aWrongMemberIsNamed(line: String, field: String, detail: String) throws {
        let problem = try #require(refusal(line))
        #expect(problem.field == field)
        #expect(problem.detail.contains(detail), "\(problem.detail)")
    }

    @Test(arguments: [
        "", "{", "[]", "null", "{}x", #"{"a":1,"a":2}"#, #"{"type":"user",}"#, #"{"type":"us\xer"}"#,
        #"{"type":"\ud800"}"#,
        "{\"type\":\"\u{1}\"}", #"{"type":01}"#, #"{"type":1.}"#, #"{"type":-}"#, #"{"type":truth}"#,
        #"{"type" "user"}"#,
        String(repeating: "[", count: 100_000),
    ])
    func whatIsNoObjectIsRefused(line: String) { #expect(refusal(line)?.kind == .invalidRequest) }

    @Test func bytesThatAreNoTextAreRefused() {
        #expect(throws: Problem.self) {
            try TransferReader.read(Array(#"{"type":""#.utf8) + [0xFF] + Array(#""}"#.utf8))
        }
        #expect(throws: Problem.self) { try TransferReader.read(Array(repeating: 0x20, count: 1 + (1 << 20))) }
    }
}

import Foundation
import Testing

@testable import SwitchboardClient

/// What newer servers may say that this version does not know, and what people read about errors.
struct OpenValueTests {
    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSON.decode(type, from: Array(text.utf8))
    }

    @Test func understandsACallOfANewerServer() throws {
        let call = try decode(
            Call.self,
            """
            {"id":"c1","kind":"hologram","mode":"mesh","status":"parked","endReason":"bored","version":2,"caller":"u1",
            "createdAt":"2026-11-20T22:53:00.123Z","weather":"rain","participants":[{"user":"u1","displayName":"Ann",
            "state":"dreaming","reason":"asleep","connected":false,"mood":3,
            "media":{"audio":true,"video":false,"screen":false,"held":false}}]}
            """)
        #expect(call.kind == Call.Kind(rawValue: "hologram") && call.kind != .video)
        #expect(call.status == Call.Status(rawValue: "parked") && call.status != .ended)
        #expect(call.participants.first?.state == Participant.State(rawValue: "dreaming"))
    }

    @Test func understandsOtherValuesOfANewerServer() throws {
        #expect(try decode(SignalReceipt.self, #"{"status":"queued","generation":3}"#).status.rawValue == "queued")
        #expect(try decode(SignalReceipt.self, #"{"status":"pending","generation":3}"#).status == .pending)
        #expect(try decode(Slot.self, #"{"mid":"1","kind":"smell"}"#).kind.rawValue == "smell")
        let me = try decode(
            Me.self,
            """
            {"id":"u1","displayName":"Ann","languages":[],"callWaiting":false,"presence":"friends",
            "createdAt":"2026-11-20T22:53:00.123Z"}
            """)
        #expect(me.presence == Me.PresenceVisibility(rawValue: "friends"))
    }

    @Test func readsWhatAServerHasDisabled() throws {
        let text =
            #"{"name":"S","version":"1","signUp":"open","transcribes":false,"#
            + #""voice":{"maxSeconds":60,"maxBytes":1000,"recording":true}"#
        #expect(try decode(ServerDescription.self, text + "}").features == nil)
        let features = try decode(
            ServerDescription.self, text + #","features":{"friends":false,"groups":true,"smell":true}}"#
        ).features
        #expect(features?.friends == false && features?.groups == true && features?.inviteLinks == nil)
    }

    @Test func readsWhatWakesDevices() throws {
        func push(_ member: String) throws -> ServerDescription.Push? {
            try decode(
                ServerDescription.self,
                #"{"name":"S","version":"1","signUp":"open","transcribes":false,"#
                    + #""voice":{"maxSeconds":60,"maxBytes":1000,"recording":true}\#(member)}"#
            ).push
        }
        #expect(try push("") == nil)
        let none = try push(#","push":{}"#)
        #expect(none != nil && [PushKind.web, .fcm, .apns, .apnsVoIP].allSatisfy { none?.supports($0) == false })
        let some = try push(#","push":{"web":{"publicKey":"BK"},"apns":true,"fcm":false,"pigeon":{}}"#)
        #expect(some?.web?.publicKey == "BK")
        #expect([PushKind.web, .apns, .apnsVoIP].allSatisfy { some?.supports($0) == true })
        #expect([PushKind.fcm, PushKind(rawValue: "pigeon")].allSatisfy { some?.supports($0) == false })
        let registration = try decode(
            PushRegistration.self,
            """
            {"kind":"pigeon","device":"d1","createdAt":"2026-11-20T22:53:00.123Z","updatedAt":"2026-11-20T22:53:00Z"}
            """)
        #expect(registration.kind.rawValue == "pigeon" && registration.device == "d1")
    }

    @Test func readsTheCallOfAProblem() throws {
        func problem(_ call: String) throws -> Problem {
            try decode(Problem.self, #"{"type":"call_ended","title":"t","status":409,"detail":"d","call":\#(call)}"#)
        }
        let call = try problem(
            """
            {"id":"c1","kind":"audio","mode":"direct","status":"ended","endReason":"cancelled","version":2,"caller":"u1",
            "createdAt":"2026-11-20T22:53:00.123Z","participants":[]}
            """
        ).call
        #expect(call?.id == "c1" && call?.endReason == .cancelled)
        // What this version cannot read is no reason to lose the problem.
        #expect(try problem(#"{"id":7}"#).call == nil && problem("null").call == nil)
    }

    @Test func writesThemAsTheyStandInJSON() throws {
        #expect(String(decoding: try JSON.encode([OtherCall.hold, .end]), as: UTF8.self) == #"["hold","end"]"#)
        #expect(String(decoding: try JSON.encode([Call.Kind.video]), as: UTF8.self) == #"["video"]"#)
        #expect(ICEServers.Purpose.voiceMessage.rawValue == "gateway")
    }

    @Test func explainsProblemsInTheServersWords() throws {
        let problem = try decode(
            Problem.self,
            #"{"type":"of_tomorrow","title":"t","status":409,"detail":"The call has ended.","field":"call"}"#)
        #expect(problem.localizedDescription == "The call has ended.")
        let error: any Error = SwitchboardError.refused(problem)
        #expect(error.localizedDescription == "The call has ended.")
    }

    @Test(arguments: [
        SwitchboardError.signedOut, .unreachable("errno 111"), .timedOut, .disconnected(code: 4003, reason: "replaced"),
        .streamClosed, .overflow, .invalidResponse("keyNotFound"), .invalidArgument("x"), .closed,
    ])
    func explainsItselfInASentence(error: SwitchboardError) {
        let sentence = (error as any Error).localizedDescription
        #expect(sentence == error.errorDescription)
        #expect(sentence.first?.isUppercase == true && sentence.last == "." && sentence.count < 100)
        #expect(!sentence.contains("errno") && !sentence.contains("4003") && !sentence.contains("keyNotFound"))
    }
}

import HTTPTestSupport
import NIOHTTP1
import Notifications
import Push
import Testing

@Suite("Sending by FCM", .timeLimit(.minutes(3)))
struct FCMSenderTests {
    private static let refused =
        #"{"error":{"code":401,"message":"Request had invalid credentials.","status":"UNAUTHENTICATED"}}"#

    @Test("an access token is fetched once for all, and used for all") func delivered() async throws {
        try await FCMHarness.run { request in
            request.path == "/token"
                ? FCMHarness.token("ya29.a") : .response(200, #"{"name":"projects/an-app/messages/1"}"#)
        } _: { harness in
            await withTaskGroup(of: PushOutcome.self) { group in
                for _ in 0..<20 { group.addTask { await harness.sender.send(FCMHarness.message) } }
                for await outcome in group { #expect(outcome == .delivered) }
            }
            #expect(harness.tokenRequests.count == 1)
            #expect(harness.messages.count == 20)
            let request = try #require(harness.messages.first)
            #expect(request.path == "/v1/projects/an-app/messages:send")
            #expect(request.headers.first(name: "Authorization") == "Bearer ya29.a")
            #expect(request.headers.first(name: "Content-Type") == "application/json")
            let form = String(decoding: try #require(harness.tokenRequests.first).body, as: UTF8.self)
            #expect(form.hasPrefix("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=eyJ"))
            // One connection to each service, even of HTTP/1.
            #expect(Set(harness.messages.map(\.port)).count == 1)
        }
    }

    @Test("it is renewed before its end") func renewed() async throws {
        try await FCMHarness.run { request in
            request.path == "/token" ? FCMHarness.token("ya29.a") : FCMHarness.taken
        } _: { harness in
            #expect(await harness.sender.send(FCMHarness.message) == .delivered)
            harness.clock.advance(seconds: 3_590)
            #expect(await harness.sender.send(FCMHarness.message) == .delivered)
            #expect(harness.tokenRequests.count == 2)
        }
    }

    @Test("a refused access token is replaced once") func refused() async throws {
        try await FCMHarness.run { request in
            if request.path == "/token" { return FCMHarness.token("ya29.a") }
            return .response(401, Self.refused)
        } _: { harness in
            // A new one is not fetched again for each push.
            guard case .retry = await harness.sender.send(FCMHarness.message) else {
                Issue.record("It is not tried again.")
                return
            }
            #expect((harness.tokenRequests.count, harness.messages.count) == (1, 1))
            harness.clock.advance(seconds: 120)
            guard case .retry = await harness.sender.send(FCMHarness.message) else {
                Issue.record("It is not tried again.")
                return
            }
            #expect((harness.tokenRequests.count, harness.messages.count) == (2, 3))
        }
    }

    @Test("where no access token is given, pushes wait, and Google is left alone") func noToken() async throws {
        try await FCMHarness.run { _ in
            .response(400, #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#)
        } _: { harness in
            for _ in 0..<10 {
                guard case .retry(let time, let reason) = await harness.sender.send(FCMHarness.message) else {
                    Issue.record("It is not tried again.")
                    return
                }
                #expect(time == nil || time == .seconds(1))
                let words = "Its response was 400. invalid_grant: Invalid JWT Signature."
                #expect(reason == "Google gives no access token. \(words)")
            }
            #expect(harness.tokenRequests.count == 1 && harness.messages.isEmpty)
            guard case .some(let problem) = await harness.sender.check().problem else {
                Issue.record("The check passes.")
                return
            }
            #expect(problem.contains("400"))
        }
    }

    @Test(
        "what is no token is not used",
        arguments: [
            "", "{}", #"{"access_token":"","expires_in":1}"#, #"{"access_token":"a b","expires_in":3600}"#,
            #"{"access_token":"a\r\nb","expires_in":3600}"#, #"{"access_token":"a"}"#,
        ]) func invalidToken(body: String) async throws
    {
        try await FCMHarness.run { _ in
            .response(200, body)
        } _: { harness in
            let outcome = await harness.sender.send(FCMHarness.message)
            #expect(outcome == .retry(after: nil, "What Google returned is no access token."))
            #expect(harness.messages.isEmpty)
        }
    }

    @Test("no response is tried again, on another connection") func silent() async throws {
        try await FCMHarness.run(timeout: .seconds(1)) { request in
            request.path == "/token" ? FCMHarness.token("ya29.a") : .hang
        } _: { harness in
            // On a busy machine the access token may come too late, too.
            var outcomes: [PushOutcome] = []
            while harness.messages.count < 2 {
                outcomes.append(await harness.sender.send(FCMHarness.message))
                harness.clock.advance(seconds: 300)
            }
            #expect(outcomes.last == .unreachable("It did not respond in time."))
            #expect(Set(harness.messages.map(\.port)).count == 2)
        }
    }

    @Test("a lost connection is tried again, and a cancelled attempt says so") func lost() async throws {
        try await FCMHarness.run { request in
            request.path == "/token" ? FCMHarness.token("ya29.a") : .hangUp
        } _: { harness in
            guard case .unreachable = await harness.sender.send(FCMHarness.message) else {
                Issue.record("It is not tried again.")
                return
            }
        }
        try await FCMHarness.run { request in
            request.path == "/token" ? FCMHarness.token("ya29.a") : .hang
        } _: { harness in
            let task = Task { await harness.sender.send(FCMHarness.message) }
            while harness.messages.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            task.cancel()
            #expect(await task.value == .cancelled)
        }
    }

    @Test("a check passes if only the token is wrong") func check() async throws {
        let noToken = """
            {"error":{"code":400,"message":"The registration token is not a valid FCM registration token",\
            "status":"INVALID_ARGUMENT"}}
            """
        try await FCMHarness.run { request in
            request.path == "/token" ? FCMHarness.token("ya29.a") : .response(400, noToken)
        } _: { harness in
            #expect(await harness.sender.check() == PushServiceCheck(kind: .fcm))
            let body = String(decoding: try #require(harness.messages.first).body, as: UTF8.self)
            #expect(body.contains(#""validate_only":true"#))
        }
        let denied = #"{"error":{"code":403,"message":"Permission denied","status":"PERMISSION_DENIED"}}"#
        try await FCMHarness.run { request in
            request.path == "/token" ? FCMHarness.token("ya29.a") : .response(403, denied)
        } _: { harness in
            let problem = await harness.sender.check().problem
            #expect(problem == "Its response was 403. Permission denied (PERMISSION_DENIED)")
        }
    }

    @Test(
        "a page is no delivery, and nothing that a check takes for FCM",
        arguments: [(200, "<html>Welcome</html>"), (204, ""), (302, ""), (407, "<html>Sign in</html>")])
    func page(status: Int, body: String) async throws {
        try await FCMHarness.run { request in
            request.path == "/token" ? FCMHarness.token("ya29.a") : .response(status, body)
        } _: { harness in
            guard case .retry = await harness.sender.send(FCMHarness.message) else {
                Issue.record("It is not tried again.")
                return
            }
            #expect(await harness.sender.check().problem?.hasPrefix("Its response was \(status).") == true)
        }
    }

    @Test("a token endpoint that does not respond is named") func noTokenEndpoint() async throws {
        try await FCMHarness.run(timeout: .seconds(1)) { _ in
            .hang
        } _: { harness in
            let outcome = await harness.sender.send(FCMHarness.message)
            #expect(outcome == .retry(after: nil, "No access token from Google. It did not respond in time."))
        }
    }

    @Test("what is for a browser is not sent") func others() async throws {
        try await FCMHarness.run { _ in
            FCMHarness.taken
        } _: { harness in
            var message = FCMHarness.message
            message.payload = Array("[]".utf8)
            #expect(await harness.sender.send(message) == .rejected("It is no flat JSON object."))
            #expect(harness.server.requests.isEmpty)
        }
    }
}

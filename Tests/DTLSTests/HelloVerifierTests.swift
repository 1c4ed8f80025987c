import DTLS
import TestSupport
import Testing
import Wire

@Suite("The hello verifier of DTLS")
struct HelloVerifierTests {
    @Test("responds to a real client's hello with the cookie that another implementation computes")
    func vector() throws {
        let harness = try HelloVerifierHarness()
        // HMAC-SHA256 by Python over the time 1000, port 4000, family 1, 192.0.2.7 and the hello up to its cookie.
        let cookie = "000003e8397fa477d58544158bdcf7ead31d7f96"
        #expect(
            harness.receive(Hello.captured)
                == .responded(
                    hex("16feff00000000000000000023" + "030000170000000000000017" + "feff14" + cookie)))
        #expect(harness.verifier.counters.challenges == 1)
        #expect(harness.verifier.assemblyCount == 0)
    }

    @Test("a response has the record sequence of its hello and is smaller than any hello")
    func sequence() throws {
        let harness = try HelloVerifierHarness()
        let shortest = Hello.fragment(of: Hello.message(), sequence: 0x1234_5678_9ABC)
        guard case .responded(let response) = harness.receive(shortest) else {
            Issue.record("no answer")
            return
        }
        #expect(Array(response[3..<11]) == [0, 0, 0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC])
        #expect(response.count < shortest.count)
    }

    @Test("a hello that brings its cookie back comes out as it was, from one record")
    func verified() throws {
        let harness = try HelloVerifierHarness()
        let rest = [UInt8](1...100)
        let cookie = try harness.cookie(for: Hello.message(session: [9, 9], rest: rest))
        let message = Hello.message(session: [9, 9], cookie: cookie, rest: rest)
        guard case .verified(let hello) = harness.receive(Hello.fragment(of: message, messageSequence: 1, sequence: 5))
        else {
            Issue.record("not let in")
            return
        }
        var expected = Hello.fragment(of: message, messageSequence: 1, sequence: 5)
        expected[2] = 0xFF
        #expect(hello.record == expected)
        #expect(hello.random == Digest([UInt8](repeating: 7, count: 32).span.bytes))
        #expect(harness.verifier.assemblyCount == 0)
    }

    @Test("a cookie is good for one address, port, hello and minute")
    func wrongCookies() throws {
        let harness = try HelloVerifierHarness()
        let cookie = try harness.cookie(for: Hello.message(session: [1]))
        let right = Hello.fragment(of: Hello.message(session: [1], cookie: cookie), messageSequence: 1)
        func isRefused(_ datagram: [UInt8], on flow: Flow = HelloVerifierHarness.flow()) -> Bool {
            let before = harness.verifier.counters.cookiesRejected
            return harness.receive(datagram, on: flow) == .nothing
                && harness.verifier.counters.cookiesRejected == before + 1
        }
        #expect(isRefused(right, on: HelloVerifierHarness.flow(4001)))
        #expect(isRefused(right, on: HelloVerifierHarness.flow(4000, address: 0xC000_0208)))
        #expect(
            isRefused(Hello.fragment(of: Hello.message(random: 8, session: [1], cookie: cookie), messageSequence: 1)))
        #expect(isRefused(Hello.fragment(of: Hello.message(session: [2], cookie: cookie), messageSequence: 1)))
        #expect(isRefused(Hello.fragment(of: Hello.message(cookie: cookie), messageSequence: 1)))
        #expect(isRefused(Hello.fragment(of: Hello.message(session: [1]), messageSequence: 1)))
        for index in cookie.indices {
            var wrong = cookie
            wrong[index] ^= 1
            #expect(isRefused(Hello.fragment(of: Hello.message(session: [1], cookie: wrong), messageSequence: 1)))
        }
        for count in 0..<cookie.count {
            let truncated = Array(cookie.prefix(count))
            #expect(isRefused(Hello.fragment(of: Hello.message(session: [1], cookie: truncated), messageSequence: 1)))
        }
        #expect(harness.receive(right) != .nothing)
        harness.advance(seconds: 59)
        #expect(harness.receive(right) != .nothing)
        harness.advance(seconds: 1)
        #expect(isRefused(right))
        #expect(harness.verifier.assemblyCount == 0)
    }

    @Test("a cookie outlives one change of keys and not two")
    func rotation() throws {
        let harness = try HelloVerifierHarness()
        let cookie = try harness.cookie(for: Hello.message())
        let right = Hello.fragment(of: Hello.message(cookie: cookie), messageSequence: 1)
        harness.rotate(to: "second")
        #expect(harness.receive(right) != .nothing)
        harness.rotate(to: "third")
        #expect(harness.receive(right) == .nothing)
    }

    @Test("a first hello with an old cookie gets the same response as one without")
    func oldCookie() throws {
        let harness = try HelloVerifierHarness()
        let first = Hello.fragment(of: Hello.message(cookie: [1, 2, 3]))
        guard case .responded = harness.receive(first) else {
            Issue.record("no answer")
            return
        }
        #expect(harness.verifier.counters.cookiesRejected == 1)
    }

    @Test("a hello shorter than its headers, truncated before its cookie or of another type gets no response")
    func brokenVariants() throws {
        let harness = try HelloVerifierHarness()
        let whole = Hello.fragment(of: Hello.message())
        for count in 0..<whole.count {
            #expect(harness.receive(Array(whole.prefix(count))) == .nothing, "\(count) bytes")
        }
        func isIgnored(_ change: (inout [UInt8]) -> Void) -> Bool {
            var datagram = whole
            change(&datagram)
            return harness.receive(datagram) == .nothing
        }
        #expect(isIgnored { $0[0] = 23 })
        #expect(isIgnored { $0[0] = 24 })
        #expect(isIgnored { $0[1] = 3 })
        #expect(isIgnored { $0[4] = 1 })
        #expect(isIgnored { $0[11] = 1 })
        #expect(isIgnored { $0[12] -= 1 })
        #expect(isIgnored { $0[13] = 2 })
        #expect(isIgnored { $0[16] -= 1 })
        #expect(isIgnored { $0[18] = 2 })
        #expect(isIgnored { $0[21] = 1 })
        #expect(isIgnored { $0[24] += 1 })
        #expect(isIgnored { $0[25] = 3 })
        #expect(isIgnored { $0[25 + 34] = 33 })
        #expect(isIgnored { $0[25 + 34] = 1 })
        #expect(isIgnored { $0[25 + 35] = 1 })
        // Whole in itself, but of a message far too large.
        #expect(isIgnored { $0[14] = 1 })
        #expect(harness.receive(whole) != .nothing)
        #expect(harness.verifier.assemblyCount == 0)
    }

    @Test("no fragment is kept without a cookie")
    func nothingKept() throws {
        let harness = try HelloVerifierHarness()
        let message = Hello.message(rest: [UInt8](repeating: 1, count: 900))
        for client in 1...1000 as ClosedRange<UInt16> {
            let flow = HelloVerifierHarness.flow(client)
            _ = harness.receive(Hello.fragment(of: message, 0..<200), on: flow)
            _ = harness.receive(Hello.fragment(of: message, 200..<message.count), on: flow)
            _ = harness.receive(Hello.fragment(of: message, 200..<message.count, messageSequence: 1), on: flow)
        }
        #expect(harness.verifier.assemblyCount == 0)
        #expect(harness.verifier.counters.challenges == 1000)
        #expect(harness.verifier.counters.strayFragments == 2000)
        #expect(harness.verifier.counters.verified == 0)
    }

    @Test("a datagram gets one response")
    func once() throws {
        let harness = try HelloVerifierHarness()
        let hello = Hello.fragment(of: Hello.message())
        guard case .responded = harness.receive(hello + hello + hello) else {
            Issue.record("no answer")
            return
        }
        #expect(harness.verifier.counters.challenges == 1)
    }

    @Test("assemblies are bounded in time, in all and for each address")
    func bounds() throws {
        let harness = try HelloVerifierHarness()
        let rest = [UInt8](repeating: 1, count: 300)
        func begin(_ flow: Flow) throws {
            let cookie = try harness.cookie(for: Hello.message(rest: rest), on: flow)
            let message = Hello.message(cookie: cookie, rest: rest)
            #expect(harness.receive(Hello.fragment(of: message, 0..<100, messageSequence: 1), on: flow) == .nothing)
        }
        for port in 1...20 as ClosedRange<UInt16> { try begin(HelloVerifierHarness.flow(port)) }
        #expect(harness.verifier.assemblyCount == 8)
        for address in 1...200 as ClosedRange<UInt32> { try begin(HelloVerifierHarness.flow(1, address: address)) }
        #expect(harness.verifier.assemblyCount == HelloVerifier.maximumAssemblies)
        #expect(harness.verifier.counters.abandoned > 0)
        harness.advance(seconds: 9)
        #expect(harness.verifier.assemblyCount == HelloVerifier.maximumAssemblies)
        harness.advance(seconds: 1)
        #expect(harness.verifier.assemblyCount == 0)
    }

    @Test("a hello in a hundred crumbs is given up")
    func crumbs() throws {
        let harness = try HelloVerifierHarness()
        let rest = [UInt8](repeating: 1, count: 4000)
        let cookie = try harness.cookie(for: Hello.message(rest: rest))
        let message = Hello.message(cookie: cookie, rest: rest)
        _ = harness.receive(Hello.fragment(of: message, 0..<100, messageSequence: 1))
        #expect(harness.verifier.assemblyCount == 1)
        for crumb in 0..<100 {
            let start = 110 + crumb * 20
            _ = harness.receive(Hello.fragment(of: message, start..<start + 1, messageSequence: 1))
        }
        #expect(harness.verifier.assemblyCount == 0)
    }
}

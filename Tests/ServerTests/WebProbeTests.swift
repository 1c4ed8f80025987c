import DatagramIO
import Testing

@testable import Server

@Suite("HTTP and WebSockets of switchboard check")
struct WebProbeTests {
    @Test(
        "URLs",
        arguments: [
            ("http://h.example", "http://h.example", 80),
            ("HTTPS://h.example:8443/a/", "https://h.example:8443/a", 8443),
            ("https://[2001:db8::1]/", "https://[2001:db8::1]", 443),
            ("http://127.0.0.1:443", "http://127.0.0.1:443", 443),
        ])
    func urls(text: String, shown: String, port: UInt16) throws {
        let address = try #require(WebAddress(text))
        #expect("\(address)" == shown && address.port == port)
    }

    @Test("names are for SNI, addresses are not") func serverNames() {
        #expect(WebAddress("https://h.example")?.serverName == "h.example")
        #expect(WebAddress("https://[::1]")?.serverName == nil && WebAddress("https://127.0.0.1")?.serverName == nil)
    }

    @Test("the head of a response") func heads() throws {
        let response = try #require(
            WebResponse(head: "HTTP/1.1 301 Moved Permanently\r\nLocation:  https://h/x:y \r\nX-A:\r\n\r\n"))
        #expect(response.status == 301 && response.headers == ["location": "https://h/x:y", "x-a": ""])
        #expect(WebResponse(head: "HTTP/1.1 204\r\n\r\n")?.status == 204)
        for bad in [
            "", "\r\n\r\n", "SSH-2.0-x\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nnothing\r\n\r\n",
        ] {
            #expect(WebResponse(head: bad) == nil, "\(bad)")
        }
    }

    @Test("the end of a pattern") func patterns() {
        let bytes = Array("a\r\n\r\nb".utf8)
        #expect(bytes.firstEnd(of: [13, 10, 13, 10]) == 5 && bytes.firstEnd(of: [13, 10]) == 3)
        #expect(bytes.firstEnd(of: [0]) == nil && bytes.firstEnd(of: []) == nil && [UInt8]().firstEnd(of: [1]) == nil)
    }

    /// The example of RFC 6455 section 1.3.
    @Test("the proof that a WebSocket was accepted") func accept() {
        #expect(WebConnection.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test("frames of a client are masked", arguments: [0, 1, 125, 126, 1000]) func frames(count: Int) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let frame = WebConnection.frame(payload)
        #expect(frame[0] == 0x81 && frame[1] & 0x80 != 0)
        let head = count < 126 ? 2 : 4
        #expect(count < 126 ? Int(frame[1] & 0x7F) == count : Int(frame[2]) << 8 | Int(frame[3]) == count)
        let mask = Array(frame[head..<head + 4])
        #expect(frame.dropFirst(head + 4).enumerated().map { $1 ^ mask[$0 % 4] } == payload)
    }

    @Test("messages name the port, the setting and the remedy") func messages() throws {
        let own = WebMessages(address: try #require(WebAddress("http://127.0.0.1:8080")), isPublic: false)
        let refused = own.problem(.socket(.refused))
        #expect(refused.detail == "nothing listens on TCP port 8080 of 127.0.0.1")
        #expect(refused.remedy?.contains("http.host and http.port") == true)
        #expect(own.problem(.socket(.timedOut)).remedy?.hasPrefix("Open TCP port 8080 in the firewall") == true)
        let proxy = WebMessages(address: try #require(WebAddress("https://h.example")), isPublic: true)
        #expect(proxy.problem(.unknownHost).remedy?.contains("DNS") == true)
        let gateway = try #require(WebResponse(head: "HTTP/1.1 502 Bad Gateway\r\n\r\n"))
        #expect(proxy.problem(gateway, of: "/livez").detail.contains("does not reach the server"))
        let moved = try #require(WebResponse(head: "HTTP/1.1 308 Moved\r\nLocation: https://h/\r\n\r\n"))
        #expect(proxy.problem(moved, of: "/livez").detail == "/livez is redirected to https://h/")
    }
}

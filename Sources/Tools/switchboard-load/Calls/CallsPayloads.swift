import NIOCore

/// The payloads of virtual users: an offer of 4 KB, an answer of 2 KB, and batches of five candidates.
enum CallsPayloads {
    static let offer = description(bytes: 4_096)
    static let answer = description(bytes: 2_048)
    static let candidates: String = {
        let lines = (1...5).map { number in
            #"{"candidate":"candidate:\#(number) 1 udp \#(2_113_937_151 - number) 192.0.2.\#(number) \#(50_000 + number) typ host generation 0 ufrag LoAd network-id 1","sdpMid":"0","sdpMLineIndex":0,"usernameFragment":"LoAd"}"#
        }
        return "[" + lines.joined(separator: ",") + "]"
    }()

    /// A session description like a browser's, padded to a size, with its line ends escaped for JSON.
    private static func description(bytes: Int) -> String {
        var lines = [
            "v=0", "o=- 4611731400430051336 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
            "m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126", "c=IN IP4 0.0.0.0", "a=rtcp:9 IN IP4 0.0.0.0",
            "a=ice-ufrag:LoAd", "a=ice-pwd:asd88fgpdd777uzjYhagZg", "a=ice-options:trickle",
            "a=fingerprint:sha-256 " + repeatElement("AB", count: 32).joined(separator: ":"),
            "a=setup:actpass", "a=mid:0", "a=sendrecv", "a=rtcp-mux", "a=rtpmap:111 opus/48000/2",
            "a=fmtp:111 minptime=10;useinbandfec=1",
        ]
        var size = lines.reduce(0) { $0 + $1.utf8.count + 2 }
        var number = 0
        while size < bytes {
            number += 1
            let line = "a=ssrc:\(3_570_614_608 + number) cname:4TOk42mSjXCkVIa6"
            lines.append(line)
            size += line.utf8.count + 2
        }
        return lines.joined(separator: #"\r\n"#) + #"\r\n"#
    }
}

/// The monotonic clock of life cycles, in nanoseconds.
enum CallsClock {
    static var now: UInt64 { NIODeadline.now().uptimeNanoseconds }
}

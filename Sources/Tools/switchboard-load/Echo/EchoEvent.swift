import Foundation
import SDP

/// Something that happened, as a line of the output.
enum EchoEvent: Hashable, Sendable {
    case ready(name: String, user: String, server: String)
    case disconnected
    case connected
    case signedOut(String)
    /// `kind` is audio or video; `from` is the caller's name.
    case rings(call: String, kind: String, from: String)
    case declined(call: String, limit: Int)
    case answered(call: String)
    case mediaConnected(call: String, address: String)
    case echoes(call: String, MediaKind)
    case mediaEnded(call: String, String)
    case failed(call: String, String)
    case ended(call: String, reason: String, seconds: Int, audio: Int, video: Int)
    case stopping(calls: Int)

    /// One line, whatever others are called.
    var line: String {
        switch self {
        case .ready(let name, let user, let server):
            "ready: \(Self.printable(name)) is user \(user); call it by that name in the web client at \(server)/, "
                + #"or with POST \#(server)/v1/calls and "callees": ["\#(user)"]"#
        case .disconnected: "disconnected from the server, trying again"
        case .connected: "connected to the server again"
        case .signedOut(let why): "signed out: \(Self.printable(why)); signing in again"
        case .rings(let call, let kind, let from): "call \(call): rings, \(kind), from \(Self.printable(from))"
        case .declined(let call, let limit): "call \(call): declined, since \(limit) are open (--limit)"
        case .answered(let call): "call \(call): answered"
        case .mediaConnected(let call, let address): "call \(call): media connected with \(address)"
        case .echoes(let call, let kind): "call \(call): sends \(kind.rawValue) back"
        case .mediaEnded(let call, let why): "call \(call): media ended, \(Self.printable(why))"
        case .failed(let call, let why): "call \(call): failed, \(Self.printable(why))"
        case .ended(let call, let reason, let seconds, let audio, let video):
            "call \(call): ended, \(reason), after \(seconds) s; sent back \(audio) packets of audio, \(video) of video"
        case .stopping(let calls): "stopping: hanging up \(calls) \(calls == 1 ? "call" : "calls")"
        }
    }

    private static let textLimit = 200

    /// The text without characters that would begin another line or change a terminal.
    private static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(textLimit).map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: " "
                    default: scalar
                    }
                }))
    }

    /// Prints the line at once.
    func print() {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}

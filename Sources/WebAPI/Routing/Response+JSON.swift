import HTTPTypes
import Hummingbird
package import HummingbirdCore
import MediaFiles
package import Model
package import NIOCore

extension Response {
    /// A response with a JSON body, or without a body.
    package init(json body: [UInt8], status: Int) {
        self.init(json: ByteBuffer(bytes: body), status: status)
    }

    /// The same from bytes that many responses may share.
    package init(json body: ByteBuffer, status: Int) {
        guard body.readableBytes > 0 else {
            self.init(status: .init(code: status), headers: [.cacheControl: "no-store"])
            return
        }
        self.init(
            status: .init(code: status), headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: body))
    }

    /// An event stream (WHATWG HTML section 9.2), which ends with what it tells of.
    init(events: AsyncStream<ServerSentEvent>) {
        self.init(
            status: .ok, headers: .ofEvents,
            body: .init { writer in
                for await event in events { try await writer.write(ByteBuffer(string: event.text)) }
                try await writer.finish(nil)
            })
    }

    /// A problem document (RFC 9457).
    package init(problem: Problem) {
        var headers: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        if let retryAfter = problem.retryAfter { headers[.retryAfter] = String(max(1, (retryAfter + 999) / 1000)) }
        if problem.kind == .unauthenticated { headers[.wwwAuthenticate] = "Bearer" }
        self.init(
            status: .init(code: problem.kind.status), headers: headers,
            body: .init(byteBuffer: ByteBuffer(string: problem.document.encoded)))
    }

    /// The response of a document operation.
    init(_ output: DocumentOperation.Output) {
        var headers = output.headers
        if headers[.cacheControl] == nil { headers[.cacheControl] = "no-store" }
        if let type = output.contentType { headers[.contentType] = type }
        let body: ResponseBody
        switch output.body {
        case .none: body = .init()
        case .bytes(let bytes): body = .init(byteBuffer: ByteBuffer(bytes: bytes))
        case .file(let file):
            body = .init(contentLength: file.range.count) { writer in
                try await file.send { try await writer.write(ByteBuffer(bytes: $0)) }
                try await writer.finish(nil)
            }
        case .parts(let send):
            body = .init { writer in
                try await send { try await writer.write(ByteBuffer(bytes: $0)) }
                try await writer.finish(nil)
            }
        }
        self.init(status: .init(code: output.status), headers: headers, body: body)
    }

    static func methodNotAllowed(allowed: [HTTPRequest.Method]) -> Response {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        var response = Response(problem: Problem(.methodNotAllowed, "This path accepts \(names)."))
        response.headers[.allow] = names
        return response
    }
}

extension HTTPFields {
    /// Of an event stream. Reverse proxies hold a response back until a buffer is full, and compress it, unless the first
    /// (of nginx) and the second (RFC 9111 section 5.2.2.6) tell them not to.
    static let ofEvents: HTTPFields = [
        .contentType: "text/event-stream", .xAccelBuffering: "no", .cacheControl: "no-store, no-transform",
    ]
}

extension Request {
    /// The host that the client addressed, without its port and without brackets of IPv6.
    package var hostName: String? {
        head.authority.flatMap { HostName.withoutPort($0) }
    }
}

package enum HostName {
    /// The host of an authority (RFC 3986 section 3.2) such as `example.org:8080` or `[::1]:8080`.
    package static func withoutPort(_ authority: String) -> String? {
        if authority.first == "[" { return authority.dropFirst().split(separator: "]").first.map(String.init) }
        return authority.split(separator: ":").first.map(String.init)
    }
}

import DatagramIO
import Foundation
import Wire

/// A response of HTTP/1.1 (RFC 9112), as far as a check reads it.
struct WebResponse: Hashable, Sendable {
    let status: Int
    /// By names in lower case; of several of a name, the last.
    let headers: [String: String]
    var body: [UInt8] = []

    /// The text of a head, up to the empty line. Nil if it is not one.
    init?(head: String) {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: true)
        let parts = lines.first?.split(separator: " ", maxSplits: 2) ?? []
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), parts[1].utf8.count == 3, let status = Int(parts[1])
        else { return nil }
        self.status = status
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { return nil }
            headers[pair[0].lowercased()] = pair[1].trimmingCharacters(in: .whitespaces)
        }
        self.headers = headers
    }

    /// The members of a body that is a JSON object.
    var object: [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
    }
}

extension WebConnection {
    private static let responseNanoseconds: UInt64 = 5_000_000_000

    /// When a response to a request of now is too late.
    static var deadline: Instant { SystemClock.now().adding(nanoseconds: responseNanoseconds) }

    /// Sends a request.
    ///
    /// - Parameter headers: besides Host and Content-Length.
    func request(
        _ method: String, _ path: String, at address: WebAddress, headers: [(String, String)] = [], body: String = ""
    ) throws(Failure) {
        var lines = ["\(method) \(address.path)\(path) HTTP/1.1", "Host: \(address.authority)"]
        lines += headers.map { "\($0): \($1)" }
        if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
        try send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8))
    }

    /// Waits for the head of a response, which has no body yet.
    mutating func receiveHead() throws(Failure) -> WebResponse {
        let deadline = Self.deadline
        while true {
            if let end = received.firstEnd(of: [13, 10, 13, 10]) {
                guard let response = WebResponse(head: String(decoding: take(end), as: UTF8.self)) else {
                    throw .malformed
                }
                return response
            }
            // What is not HTTP should not have to time out.
            if received.count >= 5, !received.starts(with: Array("HTTP/".utf8)) { throw .malformed }
            if isClosed { throw received.isEmpty ? .socket(.closed) : .malformed }
            try receive(until: deadline)
        }
    }

    /// The response to a GET, with its body.
    mutating func get(_ path: String, at address: WebAddress) throws(Failure) -> WebResponse {
        try request("GET", path, at: address, headers: [("Connection", "close")])
        var response = try receiveHead()
        let deadline = Self.deadline
        if response.headers["transfer-encoding"]?.lowercased() == "chunked" {
            response.body = try receiveChunks(until: deadline)
        } else if let length = response.headers["content-length"].flatMap({ Int($0) }) {
            guard length >= 0, length <= Self.byteLimit else { throw .malformed }
            while received.count < length {
                if isClosed { throw .malformed }
                try receive(until: deadline)
            }
            response.body = take(length)
        } else {
            while !isClosed { try receive(until: deadline) }
            response.body = take(received.count)
        }
        return response
    }

    /// A body in chunks (RFC 9112 section 7.1).
    private mutating func receiveChunks(until deadline: Instant) throws(Failure) -> [UInt8] {
        var body: [UInt8] = []
        while true {
            guard let end = received.firstEnd(of: [13, 10]) else {
                if isClosed { throw .malformed }
                try receive(until: deadline)
                continue
            }
            let line = String(decoding: received.prefix(end - 2), as: UTF8.self)
            guard let size = Int(line.prefix { $0 != ";" }, radix: 16), size >= 0, size <= Self.byteLimit,
                body.count + size <= Self.byteLimit
            else { throw .malformed }
            while received.count < end + size + 2 {
                if isClosed { throw .malformed }
                try receive(until: deadline)
            }
            _ = take(end)
            body += take(size)
            _ = take(2)
            if size == 0 { return body }
        }
    }
}

extension [UInt8] {
    /// The index after the first occurrence of `pattern`.
    func firstEnd(of pattern: [UInt8]) -> Int? {
        guard !pattern.isEmpty, count >= pattern.count else { return nil }
        for start in 0...(count - pattern.count) where self[start..<start + pattern.count].elementsEqual(pattern) {
            return start + pattern.count
        }
        return nil
    }
}

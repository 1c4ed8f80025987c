import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// JSON requests over HTTP. Errors name the request and the server's problem.
struct MediaHTTP: Sendable {
    private static let timeout = TimeAmount.seconds(30)
    private static let maxResponseByteCount = 1 << 20
    private static let maxFileByteCount = 1 << 28

    let server: String

    private struct Problem: Decodable {
        var type: String?
        var title: String?
        var detail: String?
    }

    func post<Body: Decodable>(
        _ path: String, _ body: some Encodable, _ headers: [(String, String)] = []
    ) async throws -> Body {
        var request = request(.POST, path, headers)
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(data: try JSONEncoder().encode(body)))
        return try await execute(request, "POST \(path.generalized)")
    }

    func get<Body: Decodable>(_ path: String, _ headers: [(String, String)] = []) async throws -> Body {
        try await execute(request(.GET, path, headers), "GET \(path.generalized)")
    }

    func remove<Body: Decodable>(_ path: String, _ headers: [(String, String)]) async throws -> Body {
        try await execute(request(.DELETE, path, headers), "DELETE \(path.generalized)")
    }

    /// Sends a request and ignores the body of the response.
    func send(_ path: String, _ body: some Encodable, _ headers: [(String, String)]) async throws {
        var request = request(.POST, path, headers)
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(data: try JSONEncoder().encode(body)))
        _ = try await execute(request, "POST \(path.generalized)", upTo: Self.maxResponseByteCount)
    }

    /// A client for streams, each of which occupies a connection; the shared client has only eight. It lives as long as
    /// the program.
    private static let streams: HTTPClient = {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 10_000
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Returns the body of a response as a stream.
    func stream(_ path: String, _ body: some Encodable) async throws -> HTTPClientResponse.Body {
        var request = request(.POST, path)
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(data: try JSONEncoder().encode(body)))
        let response = try await Self.streams.execute(request, deadline: .distantFuture)
        guard response.status == .ok else {
            throw MediaFailure("POST \(path.generalized): \(response.status.code)")
        }
        return response.body
    }

    /// Fetches a file.
    func fetch(_ path: String) async throws -> [UInt8] {
        let file = try await execute(request(.GET, path), "GET \(path.generalized)", upTo: Self.maxFileByteCount)
        return Array(buffer: file)
    }

    private func request(
        _ method: HTTPMethod, _ path: String, _ headers: [(String, String)] = []
    ) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: server + path)
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        return request
    }

    private func execute<Body: Decodable>(_ request: HTTPClientRequest, _ what: String) async throws -> Body {
        let body = try await execute(request, what, upTo: Self.maxResponseByteCount)
        do {
            return try JSONDecoder().decode(Body.self, from: Data(buffer: body))
        } catch {
            throw MediaFailure("\(what): unexpected response: \(error)")
        }
    }

    private func execute(_ request: HTTPClientRequest, _ what: String, upTo limit: Int) async throws -> ByteBuffer {
        let response: HTTPClientResponse
        let body: ByteBuffer
        do {
            response = try await HTTPClient.shared.execute(request, timeout: Self.timeout)
            body = try await response.body.collect(upTo: limit)
        } catch {
            throw MediaFailure("\(what): \(error)")
        }
        guard (200..<300).contains(response.status.code) else {
            let problem = try? JSONDecoder().decode(Problem.self, from: Data(buffer: body))
            throw MediaFailure(
                "\(what): \(response.status.code)"
                    + (problem.map { " \($0.type ?? ""): \($0.detail ?? $0.title ?? "")" } ?? ""),
                isRejection: (400..<500).contains(response.status.code))
        }
        return body
    }
}

extension String {
    /// A path without its ids and query, so that errors of many calls are counted as one.
    fileprivate var generalized: String {
        prefix { $0 != "?" }.split(separator: "/")
            .map { $0.count > 12 || $0.first?.isNumber ?? false ? "{id}" : String($0) }
            .reduce("") { $0 + "/" + $1 }
    }
}

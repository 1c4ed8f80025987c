import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// Requests with JSON in and JSON out, and errors that name the request and what the server said.
struct MediaHTTP: Sendable {
    private static let patience = TimeAmount.seconds(30)
    private static let largestAnswer = 1 << 20
    private static let largestFile = 1 << 28

    let server: String

    private struct Problem: Decodable {
        var type: String?
        var title: String?
        var detail: String?
    }

    func post<Answer: Decodable>(
        _ path: String, _ body: some Encodable, _ headers: [(String, String)] = []
    ) async throws -> Answer {
        var request = request(.POST, path, headers)
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(data: try JSONEncoder().encode(body)))
        return try await perform(request, "POST \(path.generalized)")
    }

    func get<Answer: Decodable>(_ path: String, _ headers: [(String, String)] = []) async throws -> Answer {
        try await perform(request(.GET, path, headers), "GET \(path.generalized)")
    }

    func remove<Answer: Decodable>(_ path: String, _ headers: [(String, String)]) async throws -> Answer {
        try await perform(request(.DELETE, path, headers), "DELETE \(path.generalized)")
    }

    /// What is answered does not matter.
    func send(_ path: String, _ body: some Encodable, _ headers: [(String, String)]) async throws {
        var request = request(.POST, path, headers)
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(data: try JSONEncoder().encode(body)))
        _ = try await perform(request, "POST \(path.generalized)", upTo: Self.largestAnswer)
    }

    /// Each stream has a connection for as long as it lasts; the shared client has eight, for everything. It lives as long
    /// as the program.
    private static let streams: HTTPClient = {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 10_000
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// An answer that goes on.
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

    /// A file.
    func fetch(_ path: String) async throws -> [UInt8] {
        let file = try await perform(request(.GET, path), "GET \(path.generalized)", upTo: Self.largestFile)
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

    private func perform<Answer: Decodable>(_ request: HTTPClientRequest, _ what: String) async throws -> Answer {
        let answer = try await perform(request, what, upTo: Self.largestAnswer)
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(buffer: answer))
        } catch {
            throw MediaFailure("\(what): the answer is not what was expected: \(error)")
        }
    }

    private func perform(_ request: HTTPClientRequest, _ what: String, upTo limit: Int) async throws -> ByteBuffer {
        let response: HTTPClientResponse
        let answer: ByteBuffer
        do {
            response = try await HTTPClient.shared.execute(request, timeout: Self.patience)
            answer = try await response.body.collect(upTo: limit)
        } catch {
            throw MediaFailure("\(what): \(error)")
        }
        guard (200..<300).contains(response.status.code) else {
            let problem = try? JSONDecoder().decode(Problem.self, from: Data(buffer: answer))
            throw MediaFailure(
                "\(what): \(response.status.code)"
                    + (problem.map { " \($0.type ?? ""): \($0.detail ?? $0.title ?? "")" } ?? ""),
                isRefusal: (400..<500).contains(response.status.code))
        }
        return answer
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

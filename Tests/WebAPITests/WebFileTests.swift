import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Testing

@testable import WebAPI

/// The files of pages: caching, compression, and that the pages name what is there.
@Suite struct WebFileTests {
    private let plain = ByteBuffer(string: "text")
    private let compressed = ByteBuffer(string: "compressed")

    private func request(_ headers: HTTPFields = [:]) -> Request {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "a.example", path: "/", headerFields: headers)
        return Request(head: head, body: .init(buffer: ByteBuffer()))
    }

    @Test func aHashedFileIsKeptForAYear() {
        let file = WebFile("/assets/a.js", at: "/assets/a-0123.js", contentType: "text/javascript", bytes: plain)
        #expect(file.response(to: request()).headers[.cacheControl] == "public, max-age=31536000, immutable")
        let page = WebFile("/index.html", contentType: "text/html", bytes: plain)
        #expect(page.response(to: request()).headers[.cacheControl] == "no-cache")
    }

    @Test func whoAcceptsItGetsTheCompressedBytes() throws {
        let file = WebFile("/a.js", contentType: "text/javascript", bytes: plain, compressed: compressed)
        let response = file.response(to: request([.acceptEncoding: "gzip, deflate, br, zstd"]))
        #expect(response.headers[.contentEncoding] == "gzip" && response.headers[.vary] == "Accept-Encoding")
        #expect(response.headers[.contentType] == "text/javascript")
        #expect(response.body.contentLength == compressed.readableBytes)
        let other = file.response(to: request())
        #expect(other.headers[.contentEncoding] == nil && other.headers[.vary] == "Accept-Encoding")
        #expect(other.body.contentLength == plain.readableBytes)
        let tag = try #require(response.headers[.eTag])
        #expect(tag != other.headers[.eTag])

        let again = file.response(to: request([.acceptEncoding: "gzip", .ifNoneMatch: "W/\(tag), \"x\""]))
        #expect(again.status == .notModified && again.body.contentLength == 0)
        #expect(again.headers[.eTag] == tag && again.headers[.contentEncoding] == nil)
        #expect(file.response(to: request([.ifNoneMatch: tag])).status == .ok, "The tag of other bytes.")
    }

    @Test func whatIsNotCompressedDoesNotVary() {
        let file = WebFile("/a.png", contentType: "image/png", bytes: plain)
        let response = file.response(to: request([.acceptEncoding: "gzip"]))
        #expect(response.headers[.contentEncoding] == nil && response.headers[.vary] == nil)
    }

    @Test(
        arguments: [
            (nil, false), ("", false), ("gzip", true), ("GZIP", true), ("x-gzip", true), ("br, gzip;q=0.5", true),
            ("br,gzip ; q=0", false), ("gzip;q=0.000", false), ("identity", false), ("*", true), ("*;q=0", false),
            ("gzip;q=0, *", false), ("br;q=1.0, gzip;q=0.8, *;q=0.1", true), ("gzipped", false), (";,;q=0,=", false),
        ] as [(String?, Bool)])
    func acceptedEncodings(text: String?, allowsGzip: Bool) {
        #expect(AcceptEncoding(text).allowsGzip == allowsGzip)
    }

    @Test func pagesNameTheirFiles() throws {
        for (files, index) in [(WebFiles.client, "/index.html"), (.admin, "/admin/index.html")] {
            let page = String(buffer: try #require(files.files.first { $0.name == index }).bytes)
            // The script names the catalogues and the emoji, of which a page needs one or none.
            let hashed = files.files.filter { file in
                file.path != file.name && !["/catalogues/", "/emoji/"].contains { file.name.hasPrefix($0) }
            }
            #expect(hashed.count == 2)
            for file in hashed { #expect(page.contains("\"\(file.path)\"")) }
            #expect(
                page.matches(of: /(?:src|href)="(\/[^"]*)"/).allSatisfy { named in
                    files.files.contains { $0.path == named.1 }
                })
        }
    }

    @Test func textIsCompressedInTheBinary() {
        for file in WebFiles.client.files + WebFiles.admin.files where !file.contentType.hasPrefix("image/png") {
            #expect((file.compressed?.readableBytes ?? .max) < file.bytes.readableBytes, "\(file.name)")
        }
    }
}

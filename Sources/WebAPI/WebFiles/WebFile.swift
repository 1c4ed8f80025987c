import Crypto
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

/// A file of a page, in memory.
///
/// One whose path holds a hash of its content is kept by browsers for a year without a question; the others are
/// revalidated by their entity tag. Who accepts gzip gets the compressed bytes, if there are any.
struct WebFile: Sendable {
    /// What the file is, without a hash: `/assets/app.js`.
    let name: String
    /// Where it is served: `/assets/app-0123456789ab.js`.
    let path: String
    let contentType: String
    let bytes: ByteBuffer
    /// The same bytes, compressed with gzip.
    let compressed: ByteBuffer?
    /// Without quotes.
    private let tag: String

    /// - Parameter path: nil if it is the name.
    init(
        _ name: String, at path: String? = nil, contentType: String, bytes: ByteBuffer, compressed: ByteBuffer? = nil
    ) {
        self.name = name
        self.path = path ?? name
        self.contentType = contentType
        self.bytes = bytes
        self.compressed = compressed
        let digest = SHA256.hash(data: bytes.readableBytesView).prefix(12)
        tag = digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    func response(to request: Request) -> Response {
        let body: ByteBuffer
        // The two representations are different bytes, so their tags differ (RFC 9110 section 8.8.3).
        let entityTag: String
        var headers: HTTPFields = [
            .cacheControl: path == name ? "no-cache" : "public, max-age=31536000, immutable",
            .contentSecurityPolicy: ContentSecurityPolicy.text,
        ]
        if compressed != nil { headers[.vary] = "Accept-Encoding" }
        if let compressed, AcceptEncoding(request.headers[.acceptEncoding]).allowsGzip {
            (body, entityTag) = (compressed, "\"\(tag)-gzip\"")
            headers[.contentEncoding] = "gzip"
        } else {
            (body, entityTag) = (bytes, "\"\(tag)\"")
        }
        headers[.eTag] = entityTag
        if request.headers[.ifNoneMatch]?.contains(entityTag) == true {
            headers[.contentEncoding] = nil
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = contentType
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: body))
    }

    /// The file where nothing was found. It has no entity tag: conditions are about what is there (RFC 9110 section 13.2.1).
    func missingResponse(to request: Request) -> Response {
        var headers: HTTPFields = [
            .cacheControl: "no-store", .contentSecurityPolicy: ContentSecurityPolicy.text, .contentType: contentType,
        ]
        var body = bytes
        if let compressed {
            headers[.vary] = "Accept-Encoding"
            if AcceptEncoding(request.headers[.acceptEncoding]).allowsGzip {
                body = compressed
                headers[.contentEncoding] = "gzip"
            }
        }
        return Response(status: .notFound, headers: headers, body: .init(byteBuffer: body))
    }
}

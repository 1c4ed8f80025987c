import Accounts
import Containers
import HTTPTypes
import MediaFiles
import Model
package import Services

/// Setting one's own photo, and serving the photos of all users. Images are only transferred over HTTP.
package enum PhotoOperations {
    private static let types = ImageFile.Format.allCases.map(\.contentType)

    package static func all(_ service: PhotoService) -> [Operation] { [remove(service)] }

    package static func documents(_ service: PhotoService) -> [DocumentOperation] {
        [set(service), get(service, "photos.get", .get), get(service, "photos.head", .head)]
    }

    private static func set(_ service: PhotoService) -> DocumentOperation {
        DocumentOperation(
            name: "me.setPhoto", method: .put, path: "/v1/me/photo",
            summary:
                "Set one's photo: a still JPEG, PNG or WebP of at most \(PhotoService.sideLimit) x "
                + "\(PhotoService.sideLimit) pixels and \(PhotoService.byteLimit) bytes. It is not decoded; "
                + "location, camera and text metadata are removed, colours and orientation are kept.",
            tag: "me", bodyTypes: types, bodySchema: .bytes, bodyLimit: PhotoService.byteLimit,
            outcomes: [
                .init(
                    status: 200, description: "The profile with the photo's URL.", contentType: "application/json",
                    schema: .named("Me"))
            ], problems: [.quotaExceeded], limit: .photos
        ) { request in
            let outcome = try await service.set(by: request.requirePrincipal(), receiving: request.receive)
            let response = try OperationResponse.json(outcome.value, positions: outcome.positions)
            return .init(
                status: response.status, body: .bytes(response.bodyWithPositions), contentType: "application/json")
        }
    }

    private static func remove(_ service: PhotoService) -> Operation {
        Operation(
            name: "me.removePhoto", method: .delete, path: "/v1/me/photo", summary: "Remove one's photo.",
            responses: [.ok(.named("Me"))]
        ) { request in
            let outcome = try await service.remove(by: request.requirePrincipal())
            return try .json(outcome.value, positions: outcome.positions)
        }
    }

    private static func get(
        _ service: PhotoService, _ name: String, _ method: HTTPRequest.Method
    ) -> DocumentOperation {
        DocumentOperation(
            name: name, method: method, path: PhotoAddress.prefix + "{photo}",
            summary: method == .get
                ? "A photo, at the URL that a profile has for it. It needs no token."
                : "The same, without the content.",
            tag: "media", isPublic: true, parameters: [.path("photo", .identifier, "The photo.")],
            headers: [("If-None-Match", false, "An ETag; the response is 304 if it is this photo's.")],
            outcomes: [
                .init(
                    status: 200, description: "The photo, which never changes.", contentType: types.first,
                    otherContentTypes: Array(types.dropFirst()), schema: .bytes,
                    headers: [("ETag", "The photo's."), ("Cache-Control", "Unlimited.")]),
                .init(status: 304, description: "The client's copy is current."),
            ],
            problems: [.notFound]
        ) { request in
            let (about, file) = try await service.photo(request.identifier("photo"))
            let tag = "\"\(about.id)\""
            var headers: HTTPFields = [
                .eTag: tag, .cacheControl: "public, max-age=31536000, immutable",
                // Opened directly, it is only an image, whatever a browser detects in it.
                .contentSecurityPolicy: "default-src 'none'; sandbox",
            ]
            if let tags = request.headers[.ifNoneMatch], tags == "*" || tags.contains(tag) {
                return .init(status: 304, headers: headers)
            }
            guard method == .get else {
                headers[.contentLength] = String(file.byteCount)
                return .init(status: 200, contentType: about.contentType, headers: headers)
            }
            // Anyone who knows the URL has access, now and later.
            let body = FileBody(file: file, range: 0..<file.byteCount, interval: .seconds(60)) {}
            return .init(status: 200, body: .file(body), contentType: about.contentType, headers: headers)
        }
    }
}

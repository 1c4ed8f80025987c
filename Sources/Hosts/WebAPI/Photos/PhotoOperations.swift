import Accounts
import Containers
import HTTPTypes
import MediaFiles
import Model

/// One's own photo, and everybody's as pages show them. The picture itself comes and goes only over HTTP.
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
                "Set one's photo: a still JPEG, PNG or WebP of at most \(PhotoService.sideLimit) x \(PhotoService.sideLimit) pixels and \(PhotoService.byteLimit) bytes. It is not decoded; places, cameras and texts in it are removed, colours and orientation kept.",
            tag: "me", bodyTypes: types, bodySchema: .anything, bodyLimit: PhotoService.byteLimit,
            outcomes: [
                .init(
                    status: 200, meaning: "The profile with the photo's address.", contentType: "application/json",
                    schema: .named("Me"))
            ], problems: [.quotaExceeded], limit: .photos
        ) { request in
            let outcome = try await service.set(by: request.requirePrincipal(), receiving: request.receive)
            let answer = try OperationAnswer.json(outcome.value, positions: outcome.positions)
            return .init(
                status: answer.status, body: .bytes(answer.bodyWithPositions), contentType: "application/json")
        }
    }

    private static func remove(_ service: PhotoService) -> Operation {
        Operation(
            name: "me.removePhoto", method: .delete, path: "/v1/me/photo", summary: "Remove one's photo.",
            answers: [.ok(.named("Me"))]
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
                ? "A photo, at the address that a profile has for it; it needs no token."
                : "The same without the bytes.",
            tag: "media", isPublic: true, parameters: [.path("photo", .identifier, "The photo.")],
            headers: [("If-None-Match", false, "An ETag: 304 when it is this photo's.")],
            outcomes: [
                .init(
                    status: 200, meaning: "The photo, which never changes.", contentType: types.first,
                    otherContentTypes: Array(types.dropFirst()), schema: .anything,
                    headers: [("ETag", "Of the photo."), ("Cache-Control", "For ever.")]),
                .init(status: 304, meaning: "The client has it."),
            ],
            problems: [.notFound]
        ) { request in
            let (about, file) = try await service.photo(request.identifier("photo"))
            let tag = "\"\(about.id)\""
            var headers: HTTPFields = [
                .eTag: tag, .cacheControl: "public, max-age=31536000, immutable",
                // Opened by itself it is a picture and nothing else, whatever a browser finds in it.
                .contentSecurityPolicy: "default-src 'none'; sandbox",
            ]
            if let tags = request.headers[.ifNoneMatch], tags == "*" || tags.contains(tag) {
                return .init(status: 304, headers: headers)
            }
            guard method == .get else {
                headers[.contentLength] = String(file.byteCount)
                return .init(status: 200, contentType: about.contentType, headers: headers)
            }
            // Whoever was shown the address may have it, now and later.
            let body = FileBody(file: file, range: 0..<file.byteCount, interval: .seconds(60)) {}
            return .init(status: 200, body: .file(body), contentType: about.contentType, headers: headers)
        }
    }
}

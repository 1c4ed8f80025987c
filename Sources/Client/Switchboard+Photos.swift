public import Foundation
import NIOCore
import NIOHTTP1

extension Switchboard {
    /// Transferring a photo takes longer than other requests.
    private static let photoSeconds: Int64 = 60

    /// Sets the user's photo: a still JPEG, PNG or WebP of at most 2,048 pixels per side and 512 KiB. The server keeps
    /// its encoding and removes the metadata.
    @discardableResult
    public func setPhoto(_ file: Data) async throws -> Me {
        let token = try await credentials.accessToken()
        let response = try await rest.exchange(
            .PUT, "/v1/me/photo", token: token.text, body: (Self.type(of: file), Array(file)),
            timeout: .seconds(Self.photoSeconds))
        return try JSON.decode(Me.self, from: response)
    }

    /// Removes the user's photo.
    @discardableResult
    public func removePhoto() async throws -> Me {
        try await realtime.request("me.removePhoto", Nothing())
    }

    /// Loads a photo.
    ///
    /// - Parameter path: The `photoURL` of a user. A path is permanent: another photo has another path.
    public func photo(at path: String) async throws -> Data {
        Data(try await rest.exchange(.GET, path, token: nil, body: nil, timeout: .seconds(Self.photoSeconds)))
    }

    /// The media type by the file's first bytes; the server validates the whole file.
    private static func type(of file: Data) -> String {
        if file.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "image/png" }
        return file.starts(with: Array("RIFF".utf8)) ? "image/webp" : "image/jpeg"
    }
}

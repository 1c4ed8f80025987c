public import Foundation
import NIOCore
import NIOHTTP1

extension Switchboard {
    /// A picture takes longer than a request.
    private static let photoSeconds: Int64 = 60

    /// Sets one's photo: a still JPEG, PNG or WebP of at most 2,048 pixels a side and 512 KiB. The server keeps it as it
    /// is encoded, without what cameras and programs wrote beside the picture.
    @discardableResult
    public func setPhoto(_ file: Data) async throws -> Me {
        let token = try await credentials.accessToken()
        let answer = try await door.exchange(
            .PUT, "/v1/me/photo", token: token.text, body: (Self.type(of: file), Array(file)),
            timeout: .seconds(Self.photoSeconds))
        return try JSON.decode(Me.self, from: answer)
    }

    /// Removes one's photo.
    @discardableResult
    public func removePhoto() async throws -> Me {
        try await realtime.ask("me.removePhoto", Nothing())
    }

    /// Loads a photo.
    ///
    /// - Parameter path: The `photoURL` of a person. It names this photo for ever: another one has another path.
    public func photo(at path: String) async throws -> Data {
        Data(try await door.exchange(.GET, path, token: nil, body: nil, timeout: .seconds(Self.photoSeconds)))
    }

    /// What the file says that it is; the server reads it to its end.
    private static func type(of file: Data) -> String {
        if file.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "image/png" }
        return file.starts(with: Array("RIFF".utf8)) ? "image/webp" : "image/jpeg"
    }
}

import Wire

/// An uploaded voice file: Ogg (RFC 7845) or WebM (RFC 9559) with Opus.
package enum OpusFile {
    package enum Format: String, Hashable, Sendable {
        case ogg
        case webm

        /// Detects the format by the file's first bytes, whatever its name.
        package init?(_ file: RawSpan) {
            if OggOpusReader.begins(file) {
                self = .ogg
            } else if WebMOpusReader.begins(file) {
                self = .webm
            } else {
                return nil
            }
        }

        /// For `Content-Type`.
        package var mediaType: String {
            switch self {
            case .ogg: "audio/ogg; codecs=opus"
            case .webm: "audio/webm; codecs=opus"
            }
        }
    }

    /// Reads the whole file.
    ///
    /// - Throws: `ContainerError`, whose description says what is wrong and where.
    package static func read(_ file: RawSpan, limit: OpusLimit) throws(ContainerError) -> OpusTrack {
        switch Format(file) {
        case .ogg: try OggOpusReader.read(file, limit: limit)
        case .webm: try WebMOpusReader.read(file, limit: limit)
        case nil: throw .unknownFormat
        }
    }
}

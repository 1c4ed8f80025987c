package import Model

/// A section of a leg in which the gateway sends one track at a time.
package struct LegSlot: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case audio, video
    }

    package var mid: String
    package var kind: Kind
    /// Absent while no track is assigned.
    package var track: LegTrack?

    package init(mid: String, kind: Kind, track: LegTrack? = nil) {
        self.mid = mid
        self.kind = kind
        self.track = track
    }
}

/// A track that an endpoint publishes, as the others see it.
package struct LegTrack: Hashable, Sendable {
    package enum Source: String, Hashable, Sendable, CaseIterable, Codable {
        case microphone, camera, screen
    }

    package var endpoint: EndpointID
    /// The mid of the section in which its endpoint sends it.
    package var mid: String
    package var source: Source

    package init(endpoint: EndpointID, mid: String, source: Source) {
        self.endpoint = endpoint
        self.mid = mid
        self.source = source
    }
}

/// Why a leg failed.
package enum LegEndReason: String, Hashable, Sendable, CaseIterable {
    /// No connectivity check of the endpoint ever came.
    case neverConnected = "never_connected"
    /// The DTLS handshake failed or timed out.
    case handshakeFailed = "handshake_failed"
    /// The certificate does not match the offer's fingerprint.
    case wrongCertificate = "wrong_certificate"
    /// The endpoint closed its side.
    case closed
    /// No packets have arrived from the endpoint for too long.
    case connectionLost = "connection_lost"
    /// The gateway is stopping.
    case stopped
}

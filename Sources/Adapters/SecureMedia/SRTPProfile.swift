/// The SRTP protection profiles, with their numbers in DTLS (RFC 5764 section 4.1.2, RFC 7714 section 14.2).
package enum SRTPProfile: UInt16, CaseIterable, Hashable, Sendable {
    case aes128CounterSHA1 = 0x0001
    case aeadAES128 = 0x0007
    case aeadAES256 = 0x0008

    /// All of them, the cheapest first. AES-GCM takes half the time of AES-CM with HMAC-SHA1, and AES-128 is what
    /// browsers prefer.
    package static let preferred: [SRTPProfile] = [.aeadAES128, .aeadAES256, .aes128CounterSHA1]

    /// The name in configurations.
    package var name: String {
        switch self {
        case .aes128CounterSHA1: "AES128-CM-SHA1-80"
        case .aeadAES128: "AEAD-AES-128-GCM"
        case .aeadAES256: "AEAD-AES-256-GCM"
        }
    }

    /// The name in the RFCs.
    package var registeredName: String {
        switch self {
        case .aes128CounterSHA1: "SRTP_AES128_CM_HMAC_SHA1_80"
        case .aeadAES128: "SRTP_AEAD_AES_128_GCM"
        case .aeadAES256: "SRTP_AEAD_AES_256_GCM"
        }
    }

    /// The profile with either name.
    package init(named text: String) throws(SRTPProfileError) {
        guard let profile = Self.allCases.first(where: { $0.name == text || $0.registeredName == text }) else {
            throw .unknown(text)
        }
        self = profile
    }

    /// The profiles of a configuration, in its order of preference.
    package static func list(_ names: [String]) throws(SRTPProfileError) -> [SRTPProfile] {
        guard !names.isEmpty else { throw .none }
        var profiles: [SRTPProfile] = []
        for name in names {
            let profile = try SRTPProfile(named: name)
            guard !profiles.contains(profile) else { throw .twice(name) }
            profiles.append(profile)
        }
        return profiles
    }

    package var keyByteCount: Int {
        self == .aeadAES256 ? 32 : 16
    }

    package var saltByteCount: Int {
        isAuthenticatedEncryption ? 12 : 14
    }

    /// Bytes that protecting adds to an RTP packet. RTCP gets four more, its index.
    package var tagByteCount: Int {
        isAuthenticatedEncryption ? 16 : 10
    }

    /// The size of the HMAC-SHA1 key; 0 with AES-GCM.
    var authenticationKeyByteCount: Int {
        isAuthenticatedEncryption ? 0 : 20
    }

    var isAuthenticatedEncryption: Bool {
        self != .aes128CounterSHA1
    }
}

/// Why a list of profiles cannot be used.
package enum SRTPProfileError: Error, Hashable, CustomStringConvertible {
    case none
    case unknown(String)
    case twice(String)

    package var description: String {
        switch self {
        case .none: "the list of SRTP profiles is empty"
        case .unknown(let name):
            "unknown SRTP profile '\(name)': choose from "
                + SRTPProfile.preferred.map(\.name).joined(separator: ", ")
        case .twice(let name): "the SRTP profile '\(name)' is listed twice"
        }
    }
}

// swift-tools-version:6.2
import PackageDescription

// Every module lives in the folder that says what it may depend on: `ls Sources` is the dependency graph.
// Scripts/check-imports keeps the rules that the manifest cannot express.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
]

func module(
    _ folder: String, _ name: String, _ uses: [Target.Dependency] = [], linking: [LinkerSetting] = [],
    excluding: [String] = []
) -> Target {
    .target(
        name: name, dependencies: uses, path: "Sources/\(folder)/\(name)", exclude: excluding,
        swiftSettings: strict, linkerSettings: linking)
}

func shim(_ name: String, package pkgConfig: String, debian: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/CShims/\(name)", pkgConfig: pkgConfig, providers: [.apt([debian])])
}

func tests(_ name: String, _ uses: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(name: name, dependencies: uses, resources: resources, swiftSettings: strict)
}

func tool(_ name: String, _ uses: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: uses, path: "Sources/Tools/\(name)", swiftSettings: strict)
}

// What the SDK uses. Apps choose among versions, so these have ranges up to the next major.
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioWebSocket: Target.Dependency = .product(name: "NIOWebSocket", package: "swift-nio")
let nioFoundation: Target.Dependency = .product(name: "NIOFoundationCompat", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let asyncHTTPClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
// Of the SDK and of the server.
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")

/// A product that only the server, the tools and the tests use. An app that depends on the SDK with `traits: []` neither
/// resolves nor downloads its package.
func serverOnly(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Server"]))
}

let nioEmbedded = serverOnly("NIOEmbedded", "swift-nio")
let nioHTTPTypes = serverOnly("NIOHTTPTypes", "swift-nio-extras")
let nioHTTPTypesHTTP1 = serverOnly("NIOHTTPTypesHTTP1", "swift-nio-extras")
let httpTypes = serverOnly("HTTPTypes", "swift-http-types")
let hummingbird = serverOnly("Hummingbird", "hummingbird")
let hummingbirdServer = serverOnly("HummingbirdCore", "hummingbird")
let metrics = serverOnly("Metrics", "swift-metrics")
let coreMetrics = serverOnly("CoreMetrics", "swift-metrics")
let lifecycle = serverOnly("ServiceLifecycle", "swift-service-lifecycle")
let unixSignals = serverOnly("UnixSignals", "swift-service-lifecycle")
let argumentParser = serverOnly("ArgumentParser", "swift-argument-parser")
let configuration = serverOnly("Configuration", "swift-configuration")
let yams = serverOnly("Yams", "Yams")
let sqlite = serverOnly("GRDBSQLite", "GRDB.swift")
let jwtKit = serverOnly("JWTKit", "jwt-kit")
let crypto = serverOnly("Crypto", "swift-crypto")
let cryptoExtras = serverOnly("CryptoExtras", "swift-crypto")
let histogram = serverOnly("Histogram", "hdrhistogram-swift")
let basicContainers = serverOnly("BasicContainers", "swift-collections")
let deque = serverOnly("DequeModule", "swift-collections")
let heap = serverOnly("HeapModule", "swift-collections")

let package = Package(
    name: "switchboard",
    platforms: [.iOS(.v18), .macOS(.v15)],
    products: [
        .executable(name: "switchboard", targets: ["switchboard"]),
        .executable(name: "switchboard-load", targets: ["switchboard-load"]),
        .library(name: "SwitchboardClient", targets: ["SwitchboardClient"]),
    ],
    traits: [
        .trait(name: "Server", description: "The server, its tools and its tests. Apps need none of them."),
        .default(enabledTraits: ["Server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", .upToNextMinor(from: "1.35.2")),
        .package(url: "https://github.com/apple/swift-http-types", .upToNextMinor(from: "1.8.0")),
        .package(url: "https://github.com/hummingbird-project/hummingbird", .upToNextMinor(from: "2.28.1")),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", .upToNextMinor(from: "2.13.0")),
        .package(url: "https://github.com/apple/swift-metrics", .upToNextMinor(from: "2.13.0")),
        .package(url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
        // Unconditional traits would request Yams where no target uses it, and the resolution would fail.
        .package(
            url: "https://github.com/apple/swift-configuration", .upToNextMinor(from: "1.4.0"),
            traits: [
                .trait(name: "YAML", condition: .when(traits: ["Server"])),
                .trait(name: "CommandLineArguments", condition: .when(traits: ["Server"])),
            ]),
        .package(url: "https://github.com/jpsim/Yams", .upToNextMinor(from: "6.2.2")),
        .package(url: "https://github.com/vapor/jwt-kit", .upToNextMinor(from: "5.7.1")),
        .package(url: "https://github.com/apple/swift-crypto", .upToNextMinor(from: "4.5.2")),
        .package(url: "https://github.com/apple/swift-collections", .upToNextMinor(from: "1.6.0")),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", .upToNextMinor(from: "0.2.0")),
    ],
    targets: [
        // Protocols: pure, bytes and instants in, bytes and decisions out.
        module("Protocols", "Wire"),
        module("Protocols", "DTLS", ["Wire"]),
        module("Protocols", "RTP", ["Wire"]),
        module("Protocols", "Containers", ["Wire", "RTP"]),
        module("Protocols", "STUN", ["Wire"]),
        module("Protocols", "TURN", ["Wire", "STUN", basicContainers]),
        module("Protocols", "Gateway", ["Wire", "RTP", "SDP", basicContainers]),
        module("Protocols", "SDP"),
        module("Protocols", "ICE", ["Wire", "STUN"]),

        // Domain: pure, what the product means.
        module("Domain", "Model"),
        module("Domain", "Languages", ["Model"]),
        module("Domain", "Webhooks", ["Wire", "Model"]),
        module("Domain", "Notifications", ["Model", "Languages", "Webhooks"]),
        module("Domain", "Accounts", ["Model", "Languages", "Webhooks", "Notifications"]),
        module("Domain", "Calls", ["Model", "Webhooks"]),
        module("Domain", "Friends", ["Model", "Accounts", "Webhooks"]),
        module("Domain", "Voice", ["Model"]),
        module("Domain", "Messaging", ["Model", "Languages", "Voice"]),
        module("Domain", "Assistant", ["Model", "Languages", "Messaging"]),
        module("Domain", "Transfer", ["Model", "Languages", "Notifications", "Accounts", "Messaging", "Voice"]),

        // Adapters: each wraps exactly one outside thing.
        module("Adapters", "DatagramIO", ["Wire", "CLinux"]),
        module("Adapters", "OpenSSLCrypto", ["Wire", "DTLS", "COpenSSL"]),
        module("Adapters", "SecureMedia", ["Wire", "RTP", "DTLS", "OpenSSLCrypto"]),
        module("Adapters", "Audio", ["RTP", "Containers", "COpus"]),
        module("Adapters", "PasswordHashing", ["Model", "Accounts", "OpenSSLCrypto", "CArgon2"]),
        module(
            "Adapters", "Tokens",
            [
                "Model", "Accounts", "Webhooks", "Notifications", "Providers", jwtKit, crypto, cryptoExtras,
                asyncHTTPClient, nioCore, nioHTTP1,
            ]),
        module(
            "Adapters", "Storage",
            [
                "Model", "Languages", "Accounts", "Friends", "Calls", "Voice", "Messaging", "Assistant", "Transfer",
                "Webhooks", "Notifications",
                grdb, sqlite,
            ]),
        module("Adapters", "MediaFiles", ["Model", nioPosix]),
        module("Adapters", "LanguageEngines", ["Languages", "CCLD2", "CEldc"]),
        module("Adapters", "Bus", ["Model"]),
        module(
            "Adapters", "Providers",
            ["Webhooks", "CSpawn", asyncHTTPClient, nioCore, nioPosix, nioHTTP1, nioSSL, crypto]),

        module("Adapters", "Push", ["Model", "Webhooks", "Notifications", "Providers", "Tokens", crypto]),
        module("Adapters", "ProviderCodecs", ["Model", "Languages"]),
        module("Adapters", "Translators", ["Model", "Languages", "Webhooks", "Providers", "ProviderCodecs"]),
        module("Adapters", "Embedders", ["Languages", "Providers", "ProviderCodecs"]),

        // Hosts: pump the pure modules with real I/O.
        module("Hosts", "Relay", ["Wire", "DTLS", "STUN", "TURN", "DatagramIO", "OpenSSLCrypto", basicContainers]),
        module(
            "Hosts", "MediaGateway",
            [
                "Wire", "STUN", "ICE", "RTP", "SDP", "Gateway", "Containers", "DatagramIO", "OpenSSLCrypto",
                "SecureMedia",
            ]),
        module(
            "Hosts", "Realtime",
            [
                "Wire", "Model", "Bus", nioCore, nioHTTP1, nioWebSocket, nioHTTPTypes, nioHTTPTypesHTTP1,
                hummingbirdServer,
                logging,
                deque,
            ]),
        module(
            "Hosts", "Transcription",
            [
                "Wire", "RTP", "Audio", "Model", "Webhooks", "Providers", crypto, metrics, deque,
            ]),

        // Services: what the product does over time, on the hosts and below the API.
        module(
            "", "Services",
            [
                "Wire", "SDP", "RTP", "Gateway", "Containers", "Model", "Languages", "Accounts", "Assistant", "Friends",
                "Calls",
                "Voice",
                "Messaging", "Transfer",
                "Webhooks", "Notifications",
                "DatagramIO", "Audio", "Tokens", "Storage", "MediaFiles", "Bus", "Providers", "Relay", "MediaGateway",
                "Transcription", "Realtime", lifecycle, logging, metrics, crypto, heap, deque,
            ]),

        // WebAPI: routes, transports, and the web client.
        module(
            "", "WebAPI",
            [
                "SDP", "Model", "Languages", "Accounts", "Assistant", "Friends", "Calls", "Voice", "Messaging",
                "Webhooks", "Notifications",
                "Storage", "MediaFiles", "Tokens", "Realtime", "Services", "CWebFiles", hummingbird, hummingbirdServer,
                httpTypes,
                nioCore, crypto, logging,
            ], excluding: ["Web"]),

        // Server: the composition root.
        module(
            "", "Server",
            [
                "Wire", "STUN", "TURN", "ICE", "SDP", "Model", "Accounts", "Friends", "Calls", "Voice",
                "Messaging", "Languages", "LanguageEngines", "Transfer", "Webhooks", "Notifications", "MediaFiles",
                "DatagramIO",
                "Providers", "Push", "ProviderCodecs", "Translators", "Embedders", "OpenSSLCrypto", "SecureMedia",
                "PasswordHashing", "Tokens", "Storage", "Bus", "Gateway", "MediaGateway", "Relay", "Transcription",
                "Realtime", "Services", "WebAPI", hummingbird,
                hummingbirdServer, httpTypes, nioCore, nioPosix, nioHTTP1, nioSSL, lifecycle,
                unixSignals, logging, metrics, coreMetrics, configuration, yams, crypto, asyncHTTPClient,
            ]),

        // Client: the Swift SDK, the only public API.
        .target(
            name: "SwitchboardClient",
            dependencies: [
                nioCore, nioPosix, nioHTTP1, nioWebSocket, nioFoundation, nioSSL, asyncHTTPClient, logging, grdb,
            ], path: "Sources/Client", swiftSettings: strict),

        tool("switchboard", ["Server", "Embedders", argumentParser]),
        tool(
            "switchboard-load",
            [
                "Wire", "STUN", "ICE", "SDP", "RTP", "Containers", "TURN", "DTLS", "DatagramIO",
                "OpenSSLCrypto", "SecureMedia", "SwitchboardClient", argumentParser, histogram, nioCore, nioPosix,
                nioHTTP1,
                nioFoundation, asyncHTTPClient, heap, deque,
                basicContainers,
            ]),

        // What the tests of several modules share: clocks, seeds, links, files.
        .target(
            name: "TestSupport", dependencies: ["Model", "Wire"], path: "Tests/Support", swiftSettings: strict),
        // An HTTP server with a script, for tests of clients.
        .target(
            name: "HTTPTestSupport", dependencies: [nioCore, nioPosix, nioHTTP1, nioSSL], path: "Tests/HTTPSupport",
            swiftSettings: strict),

        tests("WireTests", ["Wire"]),
        tests("DatagramIOTests", ["DatagramIO", "CLinux", "Wire"]),
        tests("OpenSSLCryptoTests", ["TestSupport", "OpenSSLCrypto", "DTLS", "Wire"]),
        tests("SecureMediaTests", ["TestSupport", "SecureMedia", "RTP", "Wire", "OpenSSLCrypto", "CSRTP"]),
        tests("DTLSTests", ["TestSupport", "DTLS", "Wire", "OpenSSLCrypto"]),
        tests("GatewayTests", ["TestSupport", "Gateway", "RTP", "SDP", "Wire"]),
        tests(
            "MediaGatewayTests",
            [
                "TestSupport", "MediaGateway", "Containers", "Gateway", "ICE", "SDP", "STUN", "SecureMedia",
                "OpenSSLCrypto", "DatagramIO", "RTP", "Wire",
            ]),
        tests("RTPTests", ["TestSupport", "RTP", "Wire"]),
        tests("AudioTests", ["TestSupport", "Audio", "Containers", "RTP", "Wire"]),
        tests("ContainersTests", ["TestSupport", "Containers", "RTP", "Wire"], resources: [.copy("Fixtures")]),
        tests("ICETests", ["TestSupport", "ICE", "STUN", "Wire", "OpenSSLCrypto"]),
        tests("SDPTests", ["TestSupport", "SDP", "Wire"], resources: [.copy("Fixtures")]),
        tests("STUNTests", ["TestSupport", "STUN", "Wire", "OpenSSLCrypto"]),
        tests("TURNTests", ["TestSupport", "TURN", "STUN", "Wire", "OpenSSLCrypto"]),
        tests(
            "RelayTests",
            ["TestSupport", "Relay", "TURN", "DTLS", "STUN", "Wire", "OpenSSLCrypto", "DatagramIO", basicContainers]),
        tests(
            "StorageTests",
            [
                "TestSupport", "Storage", "Model", "Accounts", "Calls", "Languages", "Messaging", "Notifications",
                "Voice", "Wire", grdb, sqlite,
            ]),
        tests("NotificationsTests", ["TestSupport", "Notifications", "Languages", "Model", "Webhooks", "Wire"]),
        tests("WebhooksTests", ["TestSupport", "Webhooks", "Accounts", "Calls", "Storage", "Model", "Wire"]),
        tests("MediaFilesTests", ["TestSupport", "MediaFiles", "Model"]),
        tests(
            "ServerTests",
            [
                "TestSupport", "Server", "Services", "WebAPI", "MediaGateway", "DatagramIO", "Model", "Languages",
                "Wire", "Transcription", "Translators",
                logging,
            ]),
        tests(
            "ServicesTests",
            [
                "TestSupport", "Services", "MediaGateway", "Wire", logging, "Accounts", "Calls", "Voice", "Messaging",
                "Model", "Languages", "Notifications", "Bus",
                "Storage", "MediaFiles", "Audio", "Containers", "Tokens", "Webhooks", "Providers", lifecycle,
            ]),
        tests(
            "WebAPITests",
            [
                "TestSupport", "WebAPI", "MediaFiles", "Model", "Realtime", "Wire", hummingbird, hummingbirdServer,
                httpTypes, nioCore,
            ]),
        tests(
            "LoadTests",
            [
                "switchboard-load", "Audio", "Containers", "DatagramIO", "ICE", "MediaGateway", "OpenSSLCrypto", "RTP",
                "SDP", "SecureMedia", "Wire",
            ]),
        tests(
            "SwitchboardClientTests",
            [
                "SwitchboardClient", "Assistant", "Calls", "Friends", "Messaging", "Model", "Notifications", "Push",
                "SDP", nioPosix, grdb,
            ]),
        tests(
            "ScenarioTests",
            [
                "TestSupport", "SwitchboardClient", "HTTPTestSupport", "switchboard-load", "SecureMedia", "Wire",
                crypto, cryptoExtras, nioCore, nioPosix,
            ]),
        tests("PasswordHashingTests", ["PasswordHashing", "Accounts", "Model"]),
        tests("VoiceTests", ["Voice", "Model"]),
        tests("LanguagesTests", ["Languages", "Model"]),
        tests("AssistantTests", ["Assistant", "Languages", "Messaging", "Model"]),
        tests("LanguageEnginesTests", ["LanguageEngines", "Languages"]),
        tests(
            "MessagingTests",
            [
                "TestSupport", "Messaging", "Languages", "LanguageEngines", "Accounts", "Friends", "Model", "Storage",
                "Voice", "Wire",
            ]),
        tests(
            "TransferTests",
            [
                "TestSupport", "Transfer", "Accounts", "Messaging", "Model", "Notifications", "Storage", "Tokens",
            ]),
        tests(
            "StreamTests",
            [
                "TestSupport", "Accounts", "Assistant", "Bus", "Calls", "Friends", "Languages", "Messaging", "Model",
                "Realtime", "Services", "Storage", "Tokens", "Wire", nioCore, nioPosix, logging,
            ]),
        tests(
            "FriendsTests",
            [
                "TestSupport", "Friends", "Accounts", "Messaging", "Model", "Services", "Storage", "Tokens", "WebAPI",
                "Webhooks", "Wire",
            ]),
        tests("CallsTests", ["TestSupport", "Model", "Calls", "Accounts", "Messaging", "Storage", "Webhooks", "Wire"]),
        tests(
            "TokensTests",
            [
                "TestSupport", "Tokens", "Accounts", "Model", "Webhooks", crypto, cryptoExtras, asyncHTTPClient,
                nioCore,
                nioPosix, nioHTTP1,
            ]),
        tests(
            "AccountsTests",
            ["TestSupport", "Accounts", "Model", "Storage", "PasswordHashing", "Tokens", "Wire", asyncHTTPClient]),
        tests(
            "TranscriptionTests",
            [
                "TestSupport", "HTTPTestSupport", "Transcription", "Model", "Providers", "Audio", "RTP", "Wire", crypto,
                nioHTTP1,
            ]),
        tests(
            "ProvidersTests",
            ["TestSupport", "HTTPTestSupport", "Providers", "Webhooks", "Wire", nioHTTP1, nioSSL]),
        tests(
            "PushTests",
            [
                "TestSupport", "HTTPTestSupport", "Push", "Notifications", "Model", "Providers", "Tokens", "Webhooks",
                "Wire", crypto, cryptoExtras, nioHTTP1, nioSSL,
            ]),
        tests(
            "TranslatorsTests",
            [
                "TestSupport", "HTTPTestSupport", "Translators", "ProviderCodecs", "Providers", "Languages", "Wire",
                nioHTTP1,
            ]),
        tests(
            "RealtimeTests",
            [
                "TestSupport", "Realtime", "Bus", "Model", "Wire", nioCore, nioPosix, nioEmbedded, nioHTTP1,
                hummingbirdServer, httpTypes, nioHTTPTypes, nioHTTPTypesHTTP1, logging,
            ]),

        // C shims: a module map and a header, nothing else.
        .target(name: "CLinux", path: "Sources/CShims/CLinux", publicHeadersPath: "."),
        .target(name: "CSpawn", path: "Sources/CShims/CSpawn", publicHeadersPath: "."),
        .target(
            name: "CCLD2", path: "Sources/CShims/CCLD2", publicHeadersPath: "include",
            linkerSettings: [.linkedLibrary("cld2")]),
        .target(name: "CEldc", path: "Sources/CShims/CEldc", publicHeadersPath: "include"),
        shim("COpenSSL", package: "openssl", debian: "libssl-dev"),
        shim("CArgon2", package: "libargon2", debian: "libargon2-dev"),
        shim("COpus", package: "opus", debian: "libopus-dev"),
        // For tests alone: what the SRTP of SecureMedia is compared with.
        shim("CSRTP", package: "libsrtp2", debian: "libsrtp2-dev"),
        .target(name: "CWebFiles", path: "Sources/CShims/CWebFiles", publicHeadersPath: "include"),
    ],
    cLanguageStandard: .gnu2x
)

// Benchmarks are built only when asked for.
if Context.environment["DEV_SWITCHBOARD_BENCH"] != nil {
    package.targets.append(
        .executableTarget(
            name: "relay-alone", dependencies: ["Relay", "TURN", "Wire", "OpenSSLCrypto"],
            path: "Tests/Benchmarks/relay-alone",
            swiftSettings: strict))
    package.targets.append(
        .executableTarget(name: "bare-forwarder", path: "Tests/Benchmarks/bare-forwarder"))
    package.targets.append(
        .executableTarget(name: "residence", path: "Tests/Benchmarks/residence"))
    package.targets.append(
        .executableTarget(
            name: "queue-benchmark", dependencies: ["SwitchboardClient", nioCore, nioPosix],
            path: "Tests/Benchmarks/queue-benchmark", swiftSettings: strict))
    package.targets.append(
        .executableTarget(
            name: "search-benchmark", dependencies: ["Messaging", "Storage", "Model"],
            path: "Tests/Benchmarks/search-benchmark", swiftSettings: strict))
    package.targets.append(
        .executableTarget(
            name: "srtp-benchmark", dependencies: ["SecureMedia", "Wire", "CSRTP"],
            path: "Tests/Benchmarks/srtp-benchmark", swiftSettings: strict))
    package.targets.append(
        .executableTarget(
            name: "storage-benchmark", dependencies: ["Accounts", "Calls", "Messaging", "Storage", "Model"],
            path: "Tests/Benchmarks/storage-benchmark", swiftSettings: strict))
    package.targets.append(
        .executableTarget(
            name: "voice-benchmark", dependencies: ["Audio", "Containers", "RTP", "Transcription", "Wire"],
            path: "Tests/Benchmarks/voice-benchmark", swiftSettings: strict))
}

// Fuzz targets: an executable for each parser and engine, with libFuzzer's main. Scripts/fuzz builds them.
if Context.environment["DEV_SWITCHBOARD_FUZZ"] != nil {
    func fuzz(_ name: String, _ uses: [Target.Dependency]) -> Target {
        .executableTarget(
            name: name, dependencies: uses, path: "Tests/Fuzz/\(name)", exclude: ["corpus"],
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
    }
    let fuzzTargets: [Target] = [
        .target(name: "FuzzInput", path: "Tests/Fuzz/FuzzInput", swiftSettings: strict),
        fuzz("FuzzAssistant", ["Assistant", "Languages", "Messaging", "Model", "ProviderCodecs"]),
        fuzz("FuzzContainers", ["Containers", "Wire"]),
        fuzz("FuzzDeletionRecord", ["Accounts", "Model"]),
        fuzz("FuzzDTLS", ["FuzzInput", "DTLS", "Wire", "OpenSSLCrypto"]),
        fuzz("FuzzEvents", ["Webhooks", "Model"]),
        fuzz("FuzzForwarded", ["FuzzInput", "Realtime", "Wire"]),
        fuzz("FuzzFraming", ["TURN", "Wire"]),
        fuzz("FuzzGateway", ["FuzzInput", "Gateway", "RTP", "SDP", "Wire"]),
        fuzz("FuzzImages", ["Containers", "Wire"]),
        fuzz("FuzzHints", ["Languages"]),
        fuzz("FuzzICE", ["FuzzInput", "ICE", "STUN", "Wire", "OpenSSLCrypto"]),
        fuzz(
            "FuzzLeg",
            [
                "FuzzInput", "MediaGateway", "Gateway", "ICE", "STUN", "SDP", "SecureMedia", "OpenSSLCrypto",
                "DatagramIO", "Wire",
            ]),
        fuzz("FuzzMessageText", ["LanguageEngines", "Languages", "Messaging"]),
        fuzz("FuzzTranslation", ["Languages", "Model", "ProviderCodecs"]),
        fuzz("FuzzPlayout", ["FuzzInput", "RTP", "Wire"]),
        fuzz("FuzzRealtime", ["FuzzInput", "Realtime", "Model", nioCore]),
        fuzz("FuzzRecording", ["FuzzInput", "Audio", "Containers", "RTP", "Wire"]),
        fuzz("FuzzRTCP", ["RTP", "Wire"]),
        fuzz("FuzzRTP", ["FuzzInput", "RTP", "Wire"]),
        fuzz("FuzzSDP", ["SDP"]),
        fuzz("FuzzServerKey", ["Accounts", "Model"]),
        fuzz("FuzzSRTP", ["FuzzInput", "SecureMedia", "Wire"]),
        fuzz("FuzzSTUN", ["STUN", "Wire"]),
        fuzz("FuzzTransfer", ["Transfer", "Model"]),
        fuzz("FuzzTURN", ["FuzzInput", "TURN", "STUN", "Wire", "OpenSSLCrypto"]),
        fuzz("FuzzTURNClient", ["FuzzInput", "TURN", "STUN", "Wire", "OpenSSLCrypto"]),
        fuzz("FuzzWebhook", ["Webhooks", "Notifications", "Wire"]),
    ]
    // And what they use, so that one build makes them all and nothing else.
    let known = Dictionary(uniqueKeysWithValues: (package.targets + fuzzTargets).map { ($0.name, $0) })
    var used: Set<String> = []
    var left = fuzzTargets.map(\.name)
    while let name = left.popLast() {
        guard let target = known[name], used.insert(name).inserted else { continue }
        for case .byNameItem(let name, _) in target.dependencies { left.append(name) }
    }
    package.targets = known.values.filter { used.contains($0.name) }.sorted { $0.name < $1.name }
    package.products = []
}

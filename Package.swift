// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target takes these: the compiler then keeps the borders that the architecture draws.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], readsAsFiles files: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: files, swiftSettings: strict)
}

func systemLibrary(_ name: String, pkgConfig: String, apt: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt])])
}

let package = Package(
    name: "aegis",
    products: [.executable(name: "aegis", targets: ["aegis"])],
    targets: [
        // C libraries, as Debian packages them.
        systemLibrary("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        systemLibrary("CRDKafka", pkgConfig: "rdkafka", apt: "librdkafka-dev"),
        systemLibrary("CNGHTTP2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev"),
        systemLibrary("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
        systemLibrary("CYAML", pkgConfig: "yaml-0.1", apt: "libyaml-dev"),
        systemLibrary("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),

        // Parts of the C library that Swift's Glibc module leaves out.
        .systemLibrary(name: "CLinux"),

        // Inner ring: values, decisions, bytes. Told the time, never asking for it.
        library("AegisCore"),
        library("AegisContent", ["AegisCore"]),
        library("AegisEvents", ["AegisCore"]),

        // Ports, and the pipeline that drives the inner ring through them.
        library("AegisPorts", ["AegisCore"]),
        library("AegisPipeline", ["AegisCore", "AegisContent", "AegisEvents", "AegisPorts"]),

        // Adapters: each over one C library.
        library("Runtime", ["AegisCore", "AegisPorts", "CLinux"]),
        library("Observability", ["AegisCore", "AegisPorts", "Runtime"]),
        library("Configuration", ["AegisCore", "AegisContent", "AegisEvents", "CYAML"]),
        library("KafkaEventLog", ["AegisCore", "AegisPorts", "Runtime", "CRDKafka"]),
        library("SQLiteStore", ["AegisCore", "AegisEvents", "AegisPorts", "Runtime", "CSQLite"]),
        library("ProviderToken", ["AegisCore", "AegisPorts", "Runtime", "COpenSSL"]),
        library("IdentityDigests", ["AegisCore", "AegisPorts", "COpenSSL"]),
        library("APNsSender", ["AegisCore", "AegisPorts", "Runtime", "CLinux", "CNGHTTP2", "COpenSSL"]),
        library("HTTPAPI", ["AegisCore", "AegisEvents", "AegisPorts", "Runtime", "CMicroHTTPD"]),
        library(
            "APNsSimulator",
            ["AegisCore", "AegisEvents", "Runtime", "CLinux", "CNGHTTP2", "COpenSSL", "CMicroHTTPD"]),
        library("AegisTestKit", ["AegisCore", "AegisContent", "AegisEvents", "AegisPorts", "Runtime"]),

        // The only place that names concrete adapters together.
        .executableTarget(
            name: "aegis",
            dependencies: [
                "AegisCore", "AegisContent", "AegisEvents", "AegisPorts", "AegisPipeline", "Runtime",
                "Observability", "Configuration", "KafkaEventLog", "SQLiteStore", "ProviderToken",
                "IdentityDigests", "APNsSender", "HTTPAPI", "APNsSimulator",
            ],
            swiftSettings: strict),

        tests("AegisCoreTests", ["AegisCore", "AegisTestKit"]),
        tests(
            "AegisContentTests", ["AegisContent", "AegisCore", "AegisEvents", "AegisTestKit"],
            readsAsFiles: ["Privacy/corpus.tsv"]),
        tests("AegisEventsTests", ["AegisEvents", "AegisCore", "AegisTestKit"]),
        tests(
            "AegisPipelineTests",
            ["AegisPipeline", "AegisCore", "AegisContent", "AegisEvents", "AegisPorts", "AegisTestKit"]),
        tests("RuntimeTests", ["Runtime", "AegisPorts"]),
        tests("ObservabilityTests", ["Observability", "AegisCore", "AegisPorts", "Runtime"]),
        tests("ConfigurationTests", ["Configuration", "AegisCore", "AegisContent", "AegisEvents"]),
        tests("HTTPAPITests", ["HTTPAPI", "AegisCore", "AegisPorts", "AegisTestKit"]),
        tests("CredentialTests", ["ProviderToken", "IdentityDigests", "AegisCore", "AegisPorts", "COpenSSL"]),
        tests("APNsSimulatorTests", ["APNsSimulator", "AegisCore", "CNGHTTP2", "COpenSSL"]),
        tests("StoreContractTests", ["SQLiteStore", "AegisCore", "AegisPorts", "AegisTestKit"]),
        tests("EventLogContractTests", ["KafkaEventLog", "AegisCore", "AegisPorts", "AegisTestKit"]),
        tests(
            "PushGatewayContractTests",
            [
                "APNsSender", "APNsSimulator", "ProviderToken", "IdentityDigests", "AegisCore", "AegisPorts",
                "AegisTestKit",
            ]),
        tests(
            "IntegrationTests", ["aegis", "KafkaEventLog", "SQLiteStore", "AegisCore", "AegisPorts", "AegisTestKit"]),
        tests(
            "FaultTests",
            ["aegis", "KafkaEventLog", "SQLiteStore", "IdentityDigests", "AegisCore", "AegisPorts", "AegisTestKit"]),
    ]
)

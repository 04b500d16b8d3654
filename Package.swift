// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "SealedSync",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "SealedSync", targets: ["SealedSync"]),
        .library(name: "SyncContract", targets: ["SyncContract"]),
        .library(name: "RemoteContract", targets: ["RemoteContract"]),
        .library(name: "QueryEvaluation", targets: ["QueryEvaluation"]),
        .library(name: "ItemCoding", targets: ["ItemCoding"]),
        .library(name: "RecordJSON", targets: ["RecordJSON"]),
        .library(name: "OfflineSync", targets: ["OfflineSync"]),
        .library(name: "SyncSessions", targets: ["SyncSessions"]),
        .library(name: "Attachments", targets: ["Attachments"]),
        .library(name: "DatasyncHTTP", targets: ["DatasyncHTTP"]),
        .library(name: "HTTPTransport", targets: ["HTTPTransport"]),
        .library(name: "SQLCipherStore", targets: ["SQLCipherStore"]),
        .library(name: "SQLCipherMaintenance", targets: ["SQLCipherMaintenance"]),
        .library(name: "ReferenceStore", targets: ["ReferenceStore"]),
        .library(name: "StoreConformance", targets: ["StoreConformance"]),
        .library(name: "ServerConformance", targets: ["ServerConformance"]),
        .library(name: "RemoteConformance", targets: ["RemoteConformance"]),
        .library(name: "StoreKeys", targets: ["StoreKeys"]),
        .library(name: "SecretServiceKeys", targets: ["SecretServiceKeys"]),
        .library(name: "KernelKeyringKeys", targets: ["KernelKeyringKeys"]),
        .library(name: "TPMKeys", targets: ["TPMKeys"]),
        .library(name: "KeychainKeys", targets: ["KeychainKeys"]),
        .library(name: "DatasyncEmulator", targets: ["DatasyncEmulator"]),
        .executable(name: "sealedsync", targets: ["SealedSyncTool"]),
        .executable(name: "sealedsync-bench", targets: ["SealedSyncBenchmarks"]),
    ],
    // What keeps keys outside the store. None by default: each needs something of the system that a plain build does not.
    traits: [
        .trait(name: "SecretService", description: "SecretServiceUnlocker, with libsecret."),
        .trait(name: "KernelKeyring", description: "KernelKeyringUnlocker, on Linux."),
        .trait(name: "TPM", description: "TPMUnlocker, with tpm2-tss."),
        .trait(
            name: "Keychain",
            description: "KeychainUnlocker, on Apple's systems; neither compiled nor tested so far."
        ),
    ],
    targets: [
        // Contracts: values and protocols, no I/O.
        .target(name: "SyncContract"),
        .target(name: "RemoteContract", dependencies: ["SyncContract"]),

        // Meanings: what the contracts say, implemented once for the stores and remotes that want it.
        .target(name: "QueryEvaluation", dependencies: ["SyncContract"]),
        .target(name: "RecordJSON", dependencies: ["SyncContract"]),
        .target(name: "ItemCoding", dependencies: ["SyncContract", "RecordJSON"]),

        // Changes of files that outlast a kill and a loss of power, for keys and stores.
        .target(name: "DurableFiles"),

        // Keys.
        .systemLibrary(
            name: "CLibCrypto",
            path: "Sources/CLibCrypto",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl"])]
        ),
        .systemLibrary(name: "CProcessControl", path: "Sources/CProcessControl"),
        .target(
            name: "SecretMemory",
            dependencies: [
                "CLibCrypto", .target(name: "CProcessControl", condition: .when(platforms: [.linux, .android])),
            ],
            path: "Keys/SecretMemory"
        ),
        .target(
            name: "StoreKeys",
            dependencies: ["SecretMemory", "DurableFiles", "CLibCrypto"],
            path: "Keys/StoreKeys"
        ),

        // Key stores of the platform. Without its trait a module has nothing but a declaration that names the trait.
        .systemLibrary(
            name: "CLibSecret",
            path: "Sources/CLibSecret",
            pkgConfig: "libsecret-1",
            providers: [.apt(["libsecret-1-dev"])]
        ),
        .target(
            name: "SecretServiceKeys",
            dependencies: [
                "StoreKeys", "SecretMemory",
                .target(name: "CLibSecret", condition: .when(platforms: [.linux], traits: ["SecretService"])),
            ],
            path: "Keys/SecretServiceKeys"
        ),
        .systemLibrary(name: "CKernelKeyring", path: "Sources/CKernelKeyring"),
        .target(
            name: "KernelKeyringKeys",
            dependencies: [
                "StoreKeys", "SecretMemory",
                .target(name: "CKernelKeyring", condition: .when(platforms: [.linux], traits: ["KernelKeyring"])),
            ],
            path: "Keys/KernelKeyringKeys"
        ),
        .systemLibrary(
            name: "CTSS2",
            path: "Sources/CTSS2",
            pkgConfig: "tss2-esys",
            providers: [.apt(["libtss2-dev"])]
        ),
        .target(
            name: "TPMKeys",
            dependencies: [
                "StoreKeys", "SecretMemory",
                .target(name: "CTSS2", condition: .when(platforms: [.linux], traits: ["TPM"])),
            ],
            path: "Keys/TPMKeys"
        ),
        .target(name: "KeychainKeys", dependencies: ["StoreKeys", "SecretMemory"], path: "Keys/KeychainKeys"),
        // Those that a build has, for the tool.
        .target(
            name: "PlatformKeyStores",
            dependencies: [
                "StoreKeys",
                .target(name: "SecretServiceKeys", condition: .when(traits: ["SecretService"])),
                .target(name: "KernelKeyringKeys", condition: .when(traits: ["KernelKeyring"])),
                .target(name: "TPMKeys", condition: .when(traits: ["TPM"])),
            ],
            path: "Keys/PlatformKeyStores"
        ),

        // Requests and answers as values, and what carries them: libcurl on Linux, URLSession on Apple platforms.
        .systemLibrary(
            name: "CCurl",
            path: "Sources/CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]
        ),
        .target(
            name: "HTTPTransport",
            dependencies: [.target(name: "CCurl", condition: .when(platforms: [.linux]))]
        ),

        // Stores.
        .systemLibrary(
            name: "CSQLCipher",
            path: "Sources/CSQLCipher",
            pkgConfig: "sqlcipher",
            providers: [.apt(["libsqlcipher-dev"]), .brew(["sqlcipher"])]
        ),
        .target(
            name: "SQLCipherStore",
            dependencies: [
                "SyncContract", "QueryEvaluation", "ItemCoding", "RecordJSON", "SecretMemory", "DurableFiles",
                "CSQLCipher", "CLibCrypto",
            ],
            exclude: ["README.md"]
        ),
        // Work on whole databases: encrypting, copying, rewriting, verifying, wiping.
        .target(
            name: "SQLCipherMaintenance",
            dependencies: [
                "SQLCipherStore", "SyncContract", "QueryEvaluation", "SecretMemory", "DurableFiles", "CSQLCipher",
                "CLibCrypto",
            ]
        ),
        .target(name: "ReferenceStore", dependencies: ["SyncContract", "QueryEvaluation"]),

        // The conformance kit. The runner knows neither stores nor servers, neither Testing nor XCTest.
        .target(name: "ConformanceRunner", dependencies: ["SeededNumbers"]),
        // Random numbers that a seed repeats, for rules, benchmarks and tests.
        .target(name: "SeededNumbers"),
        // Random rows and queries, for rules and tests that hold two meanings of a query against each other.
        .target(name: "QueryGenerator", dependencies: ["SyncContract", "QueryEvaluation", "SeededNumbers"]),
        .target(
            name: "StoreConformance",
            dependencies: ["ConformanceRunner", "QueryGenerator", "QueryEvaluation", "SyncContract"]
        ),

        // How the kit gets at the stores of this package.
        .target(
            name: "StoreHarnesses",
            dependencies: [
                "StoreConformance", "SyncContract", "SQLCipherStore", "SQLCipherMaintenance", "SecretMemory",
                "ReferenceStore",
            ]
        ),

        // Black-box rules for servers. It shares what carries bytes with the adapter, nothing that knows a protocol.
        .target(name: "ServerConformance", dependencies: ["ConformanceRunner", "HTTPTransport"]),

        // The rules for remotes: what the engine relies on, against a back end that a test writes to as well.
        .target(
            name: "RemoteConformance",
            dependencies: ["ConformanceRunner", "RemoteContract", "SyncContract"]
        ),

        // The engine and its adapter.
        .target(name: "SyncMachines"),
        .target(
            name: "OfflineSync",
            dependencies: ["SyncMachines", "SyncContract", "RemoteContract", "ItemCoding", "RecordJSON"]
        ),
        // When a context is synced.
        .target(name: "SyncSessions", dependencies: ["OfflineSync", "SyncContract", "RemoteContract"]),
        // Encrypted files beside rows, and their transfer.
        .target(
            name: "Attachments",
            dependencies: [
                "OfflineSync", "SyncSessions", "RemoteContract", "SyncContract", "SecretMemory", "DurableFiles",
                "CLibCrypto",
            ]
        ),
        .target(
            name: "DatasyncHTTP",
            dependencies: ["RemoteContract", "SyncContract", "RecordJSON", "HTTPTransport"]
        ),

        // What an app imports.
        .target(
            name: "SealedSync",
            dependencies: [
                "SyncContract", "RemoteContract", "QueryEvaluation", "ItemCoding", "OfflineSync", "SyncSessions",
                "Attachments", "DatasyncHTTP", "SQLCipherStore", "SQLCipherMaintenance", "StoreKeys", "SecretMemory",
                "HTTPTransport", "DurableFiles",
            ]
        ),

        // A server for tests and demonstrations. It shares no code with the client it judges.
        .systemLibrary(
            name: "CLibSSL",
            path: "Sources/CLibSSL",
            pkgConfig: "libssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl"])]
        ),
        .target(name: "DatasyncEmulator", dependencies: ["CLibSSL", "SeededNumbers"]),

        // Options, flags, arguments and subcommands of the two programs.
        .target(name: "CommandArguments"),

        // The command-line tool, product `sealedsync`: its commands, and the program that runs them.
        .target(
            name: "SealedSyncCommands",
            dependencies: [
                "SealedSync", "DatasyncEmulator", "ConformanceRunner", "StoreConformance", "StoreHarnesses",
                "ServerConformance", "CommandArguments", "PlatformKeyStores",
            ]
        ),
        .executableTarget(name: "SealedSyncTool", dependencies: ["SealedSyncCommands", "CommandArguments"]),

        // The benchmarks, product `sealedsync-bench`, and the same work in C that they are measured against.
        .target(name: "CBenchmarkTwin", dependencies: ["CSQLCipher"]),
        .target(
            name: "BenchmarkCommands",
            dependencies: [
                "SyncContract", "ItemCoding", "SQLCipherStore", "SecretMemory", "OfflineSync", "RemoteContract",
                "CBenchmarkTwin", "SeededNumbers", "CommandArguments", "DatasyncEmulator", "DatasyncHTTP",
                "HTTPTransport", "Attachments", "SyncSessions",
            ]
        ),
        .executableTarget(
            name: "SealedSyncBenchmarks",
            dependencies: ["BenchmarkCommands", "CommandArguments"],
            exclude: ["README.md"]
        ),

        // The program of README.md.
        .executableTarget(name: "quickstart", dependencies: ["SealedSync"], path: "Examples/Quickstart"),
        // The list of the original tutorials: an app in SwiftUI, and a program for a terminal where there is none.
        .executableTarget(name: "todo", dependencies: ["SealedSync"], path: "Examples/Todo"),
        // Discount cards that colleagues share: everything that happens to an app without a network.
        .executableTarget(name: "coupon-book", dependencies: ["SealedSync"], path: "Examples/CouponBook"),
    ] + testTargets,
    swiftLanguageModes: [.v6]
)

/// One test target per module, and the built tool against the emulator.
var testTargets: [Target] {
    [
        .testTarget(name: "SecretMemoryTests", dependencies: ["SecretMemory"]),
        // Writes down what is changed in a folder, or ends the process in the middle of it.
        .target(name: "FileSystemRecording", dependencies: ["DurableFiles"], path: "Tests/FileSystemRecording"),
        .testTarget(name: "DurableFilesTests", dependencies: ["DurableFiles", "FileSystemRecording"]),
        .testTarget(
            name: "StoreKeysTests",
            dependencies: [
                "StoreKeys", "SecretMemory", "DurableFiles", "FileSystemRecording", "SeededNumbers", "ChildProcesses",
            ],
            exclude: ["Defects"]
        ),
        // Real services, a TPM in software and the kernel; nothing without the traits: `make test-key-stores`.
        .testTarget(
            name: "PlatformKeyStoreTests",
            dependencies: [
                "PlatformKeyStores", "SecretServiceKeys", "KernelKeyringKeys", "TPMKeys", "StoreKeys", "SecretMemory",
                "ChildProcesses", "MemorySearch",
                .target(name: "CKernelKeyring", condition: .when(platforms: [.linux], traits: ["KernelKeyring"])),
            ]
        ),
        // Looks for secrets in the memory of the process.
        .target(name: "MemorySearch", dependencies: ["SecretMemory"], path: "Tests/MemorySearch"),
        .testTarget(
            name: "CommandArgumentsTests",
            dependencies: ["CommandArguments", "SealedSyncCommands", "BenchmarkCommands"]
        ),
        // Programs that tests start, without a thread of the pool that waits for them.
        .systemLibrary(name: "CSpawn", path: "Tests/CSpawn"),
        .target(name: "ChildProcesses", dependencies: ["CSpawn"], path: "Tests/ChildProcesses"),
        .testTarget(name: "ChildProcessesTests", dependencies: ["ChildProcesses"]),
        // A server of sockets that does exactly what a test says.
        .target(name: "ScriptedServer", path: "Tests/ScriptedServer"),
        // Certificates for tests over TLS.
        .target(
            name: "TestCertificates",
            dependencies: ["DatasyncEmulator", "ChildProcesses"],
            path: "Tests/TestCertificates"
        ),
        // Servers whose port nobody takes while they are stopped.
        .target(name: "FixedPorts", dependencies: ["DatasyncEmulator"], path: "Tests/FixedPorts"),
        .testTarget(
            name: "HTTPTransportTests",
            dependencies: [
                "HTTPTransport", "ScriptedServer", "TestCertificates", "DatasyncEmulator", "FixedPorts",
                "SeededNumbers",
            ]
        ),
        // Carries requests to an emulator in the same process: for tests that are not about sockets.
        .target(
            name: "EmulatorTransport",
            dependencies: ["HTTPTransport", "DatasyncEmulator"],
            path: "Tests/EmulatorTransport"
        ),
        .testTarget(
            name: "DatasyncEmulatorTests",
            dependencies: ["DatasyncEmulator", "TestCertificates", "FixedPorts", "SeededNumbers"],
            resources: [.copy("Fixtures")]
        ),
        .testTarget(name: "SyncContractTests", dependencies: ["SyncContract", "SeededNumbers"]),
        .testTarget(name: "QueryEvaluationTests", dependencies: ["QueryEvaluation", "SyncContract", "SeededNumbers"]),
        .testTarget(
            name: "ItemCodingTests",
            dependencies: ["ItemCoding", "RemoteContract", "SyncContract", "ReferenceStore"]
        ),
        .testTarget(name: "RecordJSONTests", dependencies: ["RecordJSON", "SyncContract", "SeededNumbers"]),
        .testTarget(
            name: "ReferenceStoreTests",
            dependencies: ["ReferenceStore", "QueryEvaluation", "SyncContract", "SeededNumbers"]
        ),
        // Folders, stores as a kill leaves them, small disks, and texts to search, for both test targets.
        .target(
            name: "SQLCipherStoreTestSupport",
            dependencies: [
                "SQLCipherStore", "SyncContract", "QueryEvaluation", "SecretMemory", "DurableFiles", "CSQLCipher",
                "SeededNumbers",
            ],
            path: "Tests/SQLCipherStoreTestSupport"
        ),
        .testTarget(
            name: "SQLCipherStoreTests",
            dependencies: [
                "SQLCipherStore", "SQLCipherStoreTestSupport", "ReferenceStore", "SyncContract", "QueryEvaluation",
                "ItemCoding", "SecretMemory", "DurableFiles", "FileSystemRecording", "QueryGenerator",
                "SeededNumbers", "ChildProcesses",
            ]
        ),
        .testTarget(
            name: "SQLCipherMaintenanceTests",
            dependencies: [
                "SQLCipherMaintenance", "SQLCipherStore", "SQLCipherStoreTestSupport", "SyncContract", "SecretMemory",
                "DurableFiles", "FileSystemRecording", "SeededNumbers", "ChildProcesses", "QueryGenerator",
            ]
        ),
        .testTarget(
            name: "DatasyncHTTPTests",
            dependencies: [
                "DatasyncHTTP", "HTTPTransport", "RemoteContract", "SyncContract", "QueryEvaluation",
                "DatasyncEmulator", "EmulatorTransport", "ScriptedServer", "QueryGenerator", "SeededNumbers",
                "ChildProcesses", "FixedPorts",
            ],
            resources: [.copy("Fixtures")]
        ),
        .testTarget(name: "SyncMachinesTests", dependencies: ["SyncMachines"]),
        .testTarget(
            name: "OfflineSyncTests",
            dependencies: [
                "OfflineSync", "SyncMachines", "RemoteContract", "SyncContract", "QueryEvaluation", "ReferenceStore",
                "DatasyncHTTP", "DatasyncEmulator", "EmulatorTransport", "StoreConformance", "SeededNumbers",
                "SQLCipherStore", "SQLCipherStoreTestSupport", "ItemCoding", "ChildProcesses", "QueryGenerator",
            ]
        ),
        .testTarget(
            name: "SyncSessionsTests",
            dependencies: [
                "SyncSessions", "OfflineSync", "RemoteContract", "SyncContract", "ReferenceStore", "SQLCipherStore",
                "SQLCipherStoreTestSupport", "DatasyncHTTP", "HTTPTransport", "DatasyncEmulator", "EmulatorTransport",
                "ScriptedServer", "FixedPorts", "SeededNumbers", "VirtualTime",
            ]
        ),
        // A clock that stands still until a test moves it, and requests that a test holds and lets go.
        .target(name: "VirtualTime", path: "Tests/VirtualTime"),
        .testTarget(
            name: "AttachmentsTests",
            dependencies: [
                "Attachments", "StoreConformance", "OfflineSync", "SyncSessions", "RemoteContract", "SyncContract",
                "ReferenceStore", "ItemCoding", "SQLCipherStore", "SQLCipherMaintenance", "SQLCipherStoreTestSupport",
                "SecretMemory", "DurableFiles", "DatasyncHTTP", "HTTPTransport", "DatasyncEmulator",
                "EmulatorTransport",
                "FileSystemRecording", "SeededNumbers", "VirtualTime",
            ]
        ),
        // Several devices with the real engine and a server in memory, under a seeded scheduler and a virtual clock.
        .target(
            name: "Simulation",
            dependencies: ["OfflineSync", "RemoteContract", "SyncContract", "SeededNumbers"],
            path: "Tests/Simulation"
        ),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "Simulation", "OfflineSync", "SyncContract", "ReferenceStore", "SQLCipherStore",
                "SQLCipherStoreTestSupport", "SeededNumbers",
            ],
            exclude: ["Defects"]
        ),
        // Explores the machines of an item exhaustively: a program, because that wants an optimized build.
        .executableTarget(
            name: "machine-exploration",
            dependencies: ["SyncMachines"],
            path: "Tests/MachineExploration",
            exclude: ["WithoutRules"]
        ),
        // Correct stores of other make, and stores with one fault each: what the kit is judged by.
        .target(
            name: "ConformanceFixtures",
            dependencies: ["StoreConformance", "ReferenceStore", "SyncContract", "QueryEvaluation", "StoreHarnesses"],
            path: "Tests/ConformanceFixtures"
        ),
        .executableTarget(
            name: "conformance-fixture",
            dependencies: [
                "ConformanceFixtures", "StoreConformance", "StoreHarnesses", "ReferenceStore", "SyncContract",
            ],
            path: "Tests/ConformanceFixtureProgram"
        ),
        .testTarget(
            name: "StoreConformanceTests",
            dependencies: [
                "StoreConformance", "ConformanceRunner", "ConformanceFixtures", "conformance-fixture", "SyncContract",
                "ReferenceStore", "StoreHarnesses", "SeededNumbers", "ChildProcesses",
            ]
        ),
        .testTarget(
            name: "SealedSyncTests",
            dependencies: [
                "SealedSync", "Attachments", "SQLCipherStore", "SQLCipherMaintenance", "StoreKeys", "SecretMemory",
                "SyncContract", "RecordJSON", "DatasyncEmulator", "DurableFiles", "FileSystemRecording",
                "SeededNumbers", "MemorySearch",
            ],
            exclude: ["Defects"]
        ),
        // An SQLite VFS that tells each change of a file, and what becomes of stores when the power fails after it.
        .target(name: "CChangeRecording", dependencies: ["CSQLCipher"], path: "Tests/CChangeRecording"),
        .testTarget(
            name: "PowerCutTests",
            dependencies: [
                "SealedSync", "SQLCipherStore", "SQLCipherMaintenance", "StoreKeys", "SecretMemory", "SyncContract",
                "DurableFiles", "CChangeRecording", "SQLCipherStoreTestSupport", "SeededNumbers",
            ]
        ),
        // The code that README.md and the articles print.
        .testTarget(
            name: "DocumentationTests",
            dependencies: ["SealedSync", "ReferenceStore", "StoreConformance", "DatasyncEmulator"]
        ),
        // Stores that earlier versions have made.
        .testTarget(
            name: "StoredFixtureTests",
            dependencies: ["SealedSync", "DatasyncEmulator", "EmulatorTransport"],
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "ServerConformanceTests",
            dependencies: [
                "ServerConformance", "ConformanceRunner", "DatasyncEmulator", "HTTPTransport", "SeededNumbers",
                "EmulatorTransport", "ChildProcesses",
            ]
        ),
        // Remotes with one fault each, and one for a service of another kind, which is served over sockets.
        .testTarget(
            name: "RemoteConformanceTests",
            dependencies: [
                "RemoteConformance", "ConformanceRunner", "RemoteContract", "SyncContract", "QueryEvaluation",
                "RecordJSON", "HTTPTransport", "DatasyncHTTP", "DatasyncEmulator", "EmulatorTransport", "OfflineSync",
                "ReferenceStore", "SeededNumbers",
            ]
        ),
        .testTarget(
            name: "SealedSyncBenchmarksTests",
            dependencies: ["SealedSyncBenchmarks", "CommandArguments", "ChildProcesses"]
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "SealedSyncTool", "SealedSyncCommands", "SealedSync", "DatasyncEmulator", "HTTPTransport",
                "CommandArguments", "TestCertificates", "FixedPorts", "SeededNumbers", "ChildProcesses",
                "quickstart", "todo", "coupon-book",
            ]
        ),
    ]
}

for target in package.targets where target.type != .system {
    var settings = target.swiftSettings ?? []
    settings += [
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
        .enableUpcomingFeature("ExistentialAny"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
        .enableUpcomingFeature("MemberImportVisibility"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
        .enableUpcomingFeature("InternalImportsByDefault"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0470-isolated-conformances.md
        .enableUpcomingFeature("InferIsolatedConformances"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0481-weak-let.md
        .enableUpcomingFeature("ImmutableWeakCaptures"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0458-strict-memory-safety.md
        .strictMemorySafety(),
    ]
    if Context.environment["SEALEDSYNC_WARNINGS_AS_ERRORS"] != nil {
        settings.append(.treatAllWarnings(as: .error))
    }
    // For tests: optimized code that checks what a debug build checks, assertions and what the standard library demands of
    // its callers. Not for apps: packages they depend on may not have unsafe flags. Not what takes longer to optimize than its
    // tests take longer without.
    let seldomBusy = [
        "Attachments", "BenchmarkCommands", "CommandArguments", "ConformanceFixtures", "ConformanceRunner",
        "RemoteConformance", "SQLCipherMaintenance", "SealedSyncCommands", "ServerConformance", "StoreConformance",
    ]
    if Context.environment["SEALEDSYNC_OPTIMIZED"] != nil, target.type != .test, !seldomBusy.contains(target.name) {
        settings.append(.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug)))
    }
    target.swiftSettings = settings
}

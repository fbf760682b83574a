import AegisTestKit
import Foundation
import Testing

/// `aegis catalog`, through the executable.
@Suite struct CatalogTests {
    private static let shipped =
        ServiceHarness.repository.appending(path: "catalog.yaml").path(percentEncoded: false)

    private let folder: ScratchFiles

    init() throws { folder = try ScratchFiles() }

    /// Stands for Apple's framework, so that what is written for it is compiled here too.
    private static let userNotifications = """
        public class UNNotificationCategory: Hashable {
            public static func == (left: UNNotificationCategory, right: UNNotificationCategory) -> Bool { left === right }
            public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
            public let identifier: String
            public let actions: [UNNotificationAction]
            public let preview: String?
            public let options: UNNotificationCategoryOptions
            public init(
                identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
                hiddenPreviewsBodyPlaceholder: String, options: UNNotificationCategoryOptions = []
            ) {
                self.identifier = identifier
                self.actions = actions
                preview = hiddenPreviewsBodyPlaceholder
                self.options = options
            }
            public init(
                identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
                options: UNNotificationCategoryOptions = []
            ) {
                self.identifier = identifier
                self.actions = actions
                preview = nil
                self.options = options
            }
        }
        public struct UNNotificationCategoryOptions: OptionSet, Sendable {
            public let rawValue: UInt
            public init(rawValue: UInt) { self.rawValue = rawValue }
            public static let customDismissAction = Self(rawValue: 1)
            public static let allowInCarPlay = Self(rawValue: 2)
            public static let hiddenPreviewsShowTitle = Self(rawValue: 4)
            public static let hiddenPreviewsShowSubtitle = Self(rawValue: 8)
        }
        public struct UNNotificationActionOptions: OptionSet, Sendable {
            public let rawValue: UInt
            public init(rawValue: UInt) { self.rawValue = rawValue }
            public static let authenticationRequired = Self(rawValue: 1)
            public static let destructive = Self(rawValue: 2)
            public static let foreground = Self(rawValue: 4)
        }
        public class UNNotificationAction {
            public let identifier: String
            public let title: String
            public init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
                self.identifier = identifier
                self.title = title
            }
        }
        public class UNTextInputNotificationAction: UNNotificationAction {
            public init(
                identifier: String, title: String, options: UNNotificationActionOptions = [],
                textInputButtonTitle: String, textInputPlaceholder: String
            ) { super.init(identifier: identifier, title: title, options: options) }
        }
        """

    /// More mistakes than anybody makes at once.
    private static let mistaken = """
        version: 2
        default_locale: "e n"
        colour: blue
        categories:
          ORDER: {actions: [{id: VIEW, title: View}, {id: VIEW, title: Again}]}
          MESSAGE: {options: [customDismisAction]}
          none: {}
        types:
          one:
            match: [A, two]
            priority: hihg
            category: ODER
            deep_link: none
            content: {en: {titel: One, body: One}}
          two:
            match: [A]
            deep_link: javascript:alert(1)
            ttl: soon
            frequency: {max: 0, per: 1h, over: digest}
            sensitive: [a..b]
            custom: {aps: x}
            content: {en: {}}
          three:
            push_type: background
            priority: critical
            sound: default
            badge: increment
            frequency: {max: 1, per: 1h, over: drop}
            content: {en: {title: x}}
          four:
            category: none
            relevance_score: 1.5
            privacy: lax
            sensitive: [card]
            thread_id: "{{digest.count}}"
            deep_link: none
            trim: [boddy]
            content:
              en:
                title: "{{a | nosuchfilter}}"
                body: "Card {{card.number}}"
              "!": {title: x}
          five: {category: none, deep_link: none, content: {de: {title: Hallo}}}
          six: {category: none, deep_link: "https://{{host}}/x", content: {en: {title: "Mail me: me@example.com"}}}
        """

    @Test func `a catalog without a mistake is told in one line`() async throws {
        let result = try await ChildProgram.run(["catalog", "check", Self.shipped])
        #expect(result.code == 0)
        #expect(result.text == "ok    catalog  \(Self.shipped), 9 types, 3 categories\n")
    }

    @Test func `every mistake of a catalog is told in one run, each with its line`() async throws {
        let file = try folder.write(Self.mistaken, to: "catalog.yaml")
        for verb in [["check"], ["export"], ["export", "--format", "swift"]] {
            let result = try await ChildProgram.run(["catalog"] + verb + [file])
            #expect(result.code == 2)
            let lines = result.text.split(separator: "\n").filter { !$0.contains("warning: ") }
            let places = lines.compactMap { $0.dropFirst(file.count).firstMatch(of: #/^:([0-9]+): [^ ]+/#) }
            #expect(places.count == lines.count, "\(result.text)")
            #expect(lines.count >= 30, "\(result.text)")
            #expect(
                Set(places.compactMap { Int($0.output.1) })
                    == [
                        1, 2, 3, 5, 6, 7, 10, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 25, 26, 27, 28, 29, 32, 33,
                        35, 37,
                        40, 41, 42, 44,
                    ], "\(result.text)")
        }
    }

    @Test func `the verb explains itself`() async throws {
        let result = try await ChildProgram.run(["catalog", "--help"])
        #expect(result.code == 0)
        #expect(result.text.contains("Usage: aegis catalog check|export [--format json|swift] FILE"))
        #expect(try await ChildProgram.run(["--help"]).text.contains("  catalog "))
        #expect(try await ChildProgram.run(["catlog"]).text.contains(#"did you mean "catalog"?"#))
    }

    @Test func `warnings are told and cost nothing`() async throws {
        let file = try folder.write(
            """
            types:
              a: {category: none, deep_link: none, content: {en: {title: A}}, digest: {en: {title: B}}}
            """, to: "catalog.yaml")
        let result = try await ChildProgram.run(["catalog", "check", file])
        #expect(result.code == 0)
        #expect(result.text.contains("\(file):2: warning: types.a.digest: "))
        #expect(result.text.contains("ok    catalog"))
    }

    @Test(arguments: [
        ([], "check or export is needed"),
        (["chekc", "FILE"], #"did you mean "check"?"#),
        (["export", "--fromat", "json", "FILE"], "did you mean --format?"),
        (["export", "--format", "swfit", "FILE"], #"did you mean "swift"?"#),
        (["check", "--format", "json", "FILE"], "--format belongs to export"),
        (["check"], "check takes one FILE"),
        (["check", "a", "b"], "check takes one FILE"),
        (["check", "/no/such/file.yaml"], "/no/such/file.yaml: cannot be opened"),
    ])
    func `wrong words are answered with the right ones`(words: [String], message: String) async throws {
        let result = try await ChildProgram.run(["catalog"] + words.map { $0 == "FILE" ? Self.shipped : $0 })
        #expect(result.code == 2)
        #expect(result.text.contains(message), "\(result.text)")
    }

    @Test func `the JSON has all that an app registers and follows, the same bytes each time`() async throws {
        let result = try await ChildProgram.run(["catalog", "export", "--format", "json", Self.shipped])
        #expect(result.code == 0)
        #expect(try await ChildProgram.run(["catalog", "export", Self.shipped]).text == result.text)
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(result.text.utf8)) as? [String: Any])
        #expect(document["root_keys"] as? [String] == ["type", "event_id", "deep_link", "recipient", "reason"])
        #expect(document["locales"] as? [String] == ["de", "en"])
        #expect((document["reasons"] as? [String])?.contains("chat-message") == true)
        let categories = try #require(document["categories"] as? [[String: Any]])
        #expect(categories.map { $0["id"] as? String } == ["ACTION_APPROVAL", "DELIVERY_UPDATE", "MESSAGE"])
        let reply = try #require((categories.last?["actions"] as? [[String: Any]])?.first)
        #expect(reply["options"] as? [String] == ["textInput"])
        #expect(categories.last?["hidden_preview"] as? String == "New message")
        let types = try #require(document["types"] as? [[String: Any]])
        #expect(types.count == 9)
        let chat = try #require(types.first { $0["name"] as? String == "chat_message" })
        #expect(chat["category"] as? String == "MESSAGE")
        #expect(chat["reason"] as? String == "chat-message")
        #expect(chat["priority"] as? String == "high")
        #expect(chat["interruption_level"] as? String == "active")
        #expect(chat["push_type"] as? String == "alert")
        #expect(chat["deep_link"] as? String == "/messages/{{conversation_id}}")
        #expect(chat["thread_id"] as? String == "convo:{{conversation_id}}")
        #expect(chat["custom_keys"] as? [String] == ["convoId", "messageId"])
        #expect(chat["string_keys"] as? [String] == [])
    }

    @Test func `keys of the string table are exported with the number of their arguments`() async throws {
        let file = try folder.write(Self.unusual, to: "catalog.yaml")
        let result = try await ChildProgram.run(["catalog", "export", file])
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(result.text.utf8)) as? [String: Any])
        let keys = try #require(document["string_keys"] as? [[String: Any]])
        #expect(keys.map { $0["key"] as? String } == ["BODY", "chat.title"])
        #expect(keys.map { $0["arguments"] as? Int } == [0, 2])
    }

    @Test func `the Swift file of the shipped catalog compiles alone and does what it says`() async throws {
        try await export(Self.shipped)
        try folder.write(Self.questions, to: "main.swift")
        let built = try await swiftc([
            folder.file("AegisCatalog.swift"), folder.file("main.swift"), "-o", folder.file("asks"),
        ])
        #expect(built.code == 0, "\(built.text)")
        let asked = try await ChildProgram.run([], of: URL(filePath: folder.file("asks")))
        #expect(asked.code == 0)
        #expect(
            asked.text.split(separator: "\n") == [
                "actionApproval deliveryUpdate message",
                "reply: message",
                "orderConfirmed: deliveryUpdate orderConfirmed high active",
                "o/7 ä", "no link", "no link", "no link", "no link", "fixed",
                "priceAlert evt-1 user-42 price_alert /products/p-9 p-9",
                "unknown did:1", "not ours",
            ], "\(asked.text)")
    }

    @Test(arguments: ["5", "6"])
    func `for Apple's platforms it makes the categories`(version: String) async throws {
        try await export(Self.shipped)
        try folder.write(Self.userNotifications, to: "UserNotifications.swift")
        let module = try await swiftc([
            "-emit-module", "-parse-as-library", "-module-name", "UserNotifications", "-emit-module-path",
            folder.file("UserNotifications.swiftmodule"), folder.file("UserNotifications.swift"),
        ])
        #expect(module.code == 0, "\(module.text)")
        try folder.write(
            "import UserNotifications\n"
                + "let all: Set<UNNotificationCategory> = AegisCatalog.notificationCategories()\n"
                + "let said = AegisCatalog.notificationCategories { $0.uppercased() }\n", to: "main.swift")
        let checked = try await swiftc([
            "-typecheck", "-swift-version", version, "-I", folder.path, folder.file("AegisCatalog.swift"),
            folder.file("main.swift"),
        ])
        #expect(checked.code == 0, "\(checked.text)")
    }

    @Test func `names that are no names in Swift are written so that they are`() async throws {
        let file = try folder.write(Self.unusual, to: "catalog.yaml")
        try await export(file)
        let text = try String(contentsOfFile: folder.file("AegisCatalog.swift"), encoding: .utf8)
        for declared in [
            "case `default` = \"default\"", "case self_ = \"self\"", "case _3dTouch = \"3D_TOUCH\"",
            "case urlOpened = \"URLOpened\"", "case u21_3f = \"!?\"", "case bestätigt = \"bestätigt\"",
            #"case quotedUnit = "quoted\" \\\u{7}(unit)""#, "case chatTitle = \"chat.title\"",
        ] {
            #expect(text.contains(declared), "\(declared)")
        }
        let checked = try await swiftc(["-typecheck", folder.file("AegisCatalog.swift")])
        #expect(checked.code == 0, "\(checked.text)")
    }

    @Test func `a catalog with next to nothing compiles as well`() async throws {
        let file = try folder.write("types: {sync: {push_type: background}}", to: "catalog.yaml")
        try await export(file)
        let checked = try await swiftc(["-typecheck", folder.file("AegisCatalog.swift")])
        #expect(checked.code == 0, "\(checked.text)")
    }

    @Test func `names that Swift would write alike are refused at their line, and only there`() async throws {
        let file = try folder.write(
            """
            categories:
              A_B: {actions: [{id: GO_ON, title: x}, {id: goOn, title: y}]}
              a-b: {}
            types:
              some_type: {category: none, deep_link: none, content: {en: {title: A}}}
              someType: {category: none, deep_link: none, content: {en: {loc_key: K, loc_args: ["{{a}}"]}}}
            """, to: "catalog.yaml")
        let result = try await ChildProgram.run(["catalog", "export", "--format", "swift", file])
        #expect(result.code == 2)
        for line in [
            #"2: categories.A_B.actions[1].id: the actions "goOn" and "GO_ON" are both goOn in Swift"#,
            #"3: categories.a-b: the categories "a-b" and "A_B" are both aB in Swift"#,
            #"5: types.some_type: the types "some_type" and "someType" are both someType in Swift"#,
        ] {
            #expect(result.text.contains("\(file):\(line); rename one of them, or export as JSON"), "\(result.text)")
        }
        #expect(try await ChildProgram.run(["catalog", "export", file]).code == 0)
        #expect(try await ChildProgram.run(["catalog", "check", file]).code == 0)
    }

    @Test func `a key of the string table with two numbers of arguments is refused`() async throws {
        let file = try folder.write(
            """
            types:
              a: {category: none, deep_link: none, content: {en: {loc_key: K, loc_args: ["{{a}}"]}}}
              b: {category: none, deep_link: none, content: {en: {loc_key: K}}}
            """, to: "catalog.yaml")
        let result = try await ChildProgram.run(["catalog", "export", file])
        #expect(result.code == 2)
        #expect(
            result.text.contains("\(file):3: types.b: the string-table key \"K\" has 0 arguments here and 1 in a"),
            "\(result.text)")
    }
}

extension CatalogTests {
    private static let unusual = #"""
        categories:
          default: {actions: [{id: self, title: "A \"quoted\" \\(title)\n"}], options: [allowAnnouncement]}
          3D_TOUCH: {}
        types:
          URLOpened: {category: default, deep_link: none, content: {en: {title_loc_key: chat.title, title_loc_args: ["{{a}}", "{{b}}"], loc_key: BODY}}}
          "!?": {category: 3D_TOUCH, deep_link: "{{link}}", content: {en: {title: A}}}
          bestätigt: {category: none, deep_link: "app://x/{{a}}-{{b | default(\"c\")}}?q={{c}}", content: {en: {title: A}}}
          "quoted\" \\\a(unit)": {category: none, deep_link: none, content: {en: {title: A}}}
        """#

    /// What an app might ask the file of the shipped catalog.
    private static let questions = #"""
        print(AegisCatalog.Category.allCases.map { "\($0)" }.joined(separator: " "))
        print("reply: \(AegisCatalog.Action(rawValue: "REPLY")!.category)")
        let order = AegisCatalog.NotificationType(rawValue: "order_confirmed")!
        print("\(order): \(order.category!) \(order.reason) \(order.priority) \(order.interruptionLevel)")
        func ask(_ type: AegisCatalog.NotificationType, _ link: String) {
            guard let values = type.deepLink?.values(in: link) else { return print("no link") }
            print(values.isEmpty ? "fixed" : values.values.joined())
        }
        ask(.itemReceived, "/orders/o%2F7%20%C3%A4/delivery")
        ask(.itemReceived, "/orders//delivery")
        ask(.itemReceived, "/orders/o-7")
        ask(.orderConfirmed, "/orders/o-7/delivery")
        ask(.dataSync, "/")
        ask(.accountVerified, "/account")
        let known = AegisCatalog.Payload([
            "aps": ["alert": "x"], "type": "price_alert", "event_id": "evt-1", "recipient": "user-42",
            "reason": "price_alert", "deep_link": "/products/p-9", "product_id": "p-9",
        ])!
        print(known.type!, known.eventID, known.recipient, known.reason, known.deepLink!, known.custom["product_id"]!)
        let renamed = AegisCatalog.Payload(
            ["type": "new", "event_id": "e", "recipientDid": "did:1", "reason": "new"], renamed: ["recipient": "recipientDid"])!
        print(renamed.type == nil ? "unknown" : "known", renamed.recipient)
        print(AegisCatalog.Payload(["aps": 1]) == nil ? "not ours" : "ours")
        """#

    private func export(_ catalog: String) async throws {
        let result = try await ChildProgram.run(["catalog", "export", "--format", "swift", catalog])
        #expect(result.code == 0, "\(result.text)")
        try folder.write(result.text, to: "AegisCatalog.swift")
    }

    /// The compiler that built this test; warnings are errors.
    private func swiftc(_ arguments: [String]) async throws -> (code: Int32, text: String) {
        try await ChildProgram.run(
            ["swiftc", "-warnings-as-errors"] + arguments, of: URL(filePath: "/usr/bin/env"))
    }
}

/// A folder of files for one test, removed with it.
private final class ScratchFiles: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "aegis-catalog-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: file(name), atomically: false, encoding: .utf8)
        return file(name)
    }
}

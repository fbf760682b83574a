import AegisCore

/// Makes the apps of a configuration.
struct AppAssembly {
    let file: String
    var problems: [Problem]

    /// Those that can be made; for the others problems are reported.
    mutating func apps(_ list: [Setting]) -> [AppSettings] {
        var result: [AppSettings] = []
        var seen: Set<String> = []
        for section in list.compactMap(\.section) {
            if let id = section.textIfSet("id"), !seen.insert(id).inserted {
                problems.report("\"\(id)\" is listed twice", at: section.place(of: "id"))
            }
            if let app = app(section) { result.append(app) }
        }
        return result
    }

    private mutating func app(_ section: Section) -> AppSettings? {
        let id = section.text("id")
        if !id.isEmpty, !isBundleID(id) {
            problems.report(
                "is no bundle id", at: section.place(of: "id"), remedy: "letters, digits, \"-\" and \".\" alone")
        }
        let endpoints = endpoints(section)
        let key = tokenKey(section)
        let entitlements = section.list("entitlements").compactMap(\.text)
        var rootKeys: [String: String] = [:]
        var newNames: Set<String> = ["aps"]
        for (name, setting) in section.table("root_keys") {
            guard let newName = setting.text else { continue }
            rootKeys[name] = newName
            if name == "aps" || newName.isEmpty || !newNames.insert(newName).inserted {
                problems.report("cannot become \"\(newName)\": the name is taken, reserved or empty", at: setting.place)
            }
        }
        guard let key else { return nil }
        let rules = AppRules(
            id: AppID(id), badge: section.choice("badge", or: .server),
            hasTimeSensitive: entitlements.contains("time-sensitive"),
            hasCriticalAlerts: entitlements.contains("critical-alerts"), environments: Set(endpoints.keys),
            rootKeys: rootKeys)
        return AppSettings(rules: rules, endpoints: endpoints, tokenKey: key)
    }

    private mutating func endpoints(_ app: Section) -> [PushEnvironment: AppSettings.Endpoint] {
        guard let environments = app.sectionIfSet("environments") else { return [:] }
        var endpoints: [PushEnvironment: AppSettings.Endpoint] = [:]
        for environment in PushEnvironment.allCases {
            guard let section = environments.sectionIfSet(environment.rawValue) else { continue }
            let caFile = section.textIfSet("ca_file").map { TextFile.path($0, besideFile: file) }
            guard let text = section.textIfSet("endpoint") else { continue }
            guard let address = address(text) else {
                problems.report(
                    "is no endpoint", at: section.place(of: "endpoint"),
                    remedy: "write production, sandbox or https://host:port")
                continue
            }
            if text == "production" || text == "sandbox", text != environment.rawValue {
                problems.warn(
                    "tokens of the \(environment.rawValue) environment are unknown at the \(text) endpoint",
                    at: section.place(of: "endpoint"))
            }
            endpoints[environment] = AppSettings.Endpoint(address: address, caFile: caFile)
        }
        let hasNone = !PushEnvironment.allCases.contains { environments.has($0.rawValue) }
        if hasNone {
            problems.report(
                "wants production, sandbox or both", at: environments.place, remedy: "write production: {}")
        }
        return endpoints
    }

    /// - Source: Apple, "Sending notification requests to APNs".
    private func address(_ text: String) -> NetworkAddress? {
        switch text {
        case "production": return NetworkAddress(host: "api.push.apple.com", port: 443)
        case "sandbox": return NetworkAddress(host: "api.sandbox.push.apple.com", port: 443)
        default:
            guard text.hasPrefix("https://") else { return nil }
            var rest = text.dropFirst("https://".count)
            if rest.last == "/" { rest = rest.dropLast() }
            return NetworkAddress(rest, defaultPort: 443).flatMap { $0.port == 0 ? nil : $0 }
        }
    }

    private mutating func tokenKey(_ app: Section) -> AppSettings.TokenKey? {
        guard let auth = app.sectionIfSet("auth") else { return nil }
        guard let token = auth.sectionIfSet("token") else {
            if !auth.has("certificate"), !auth.has("token") {
                problems.report("wants a token", at: auth.place, remedy: "write token: {key_file, key_id, team_id}")
            }
            return nil
        }
        for name in ["key_id", "team_id"] {
            guard let text = token.textIfSet(name) else { continue }
            let isUsual = text.utf8.count == 10 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            if !isUsual {
                problems.warn("Apple's have 10 letters and digits, this one has not", at: token.place(of: name))
            }
        }
        return AppSettings.TokenKey(
            keyFile: TextFile.path(token.text("key_file"), besideFile: file), keyID: token.text("key_id"),
            teamID: token.text("team_id"))
    }

    private func isBundleID(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", ".": true
            default: false
            }
        }
    }
}

import AegisCore

extension AegisConfiguration {
    /// What in `newer` a running service cannot take up, as places of the file: `kafka`, `apps: com.example.app`.
    ///
    /// Empty where nothing but the catalog's place differs. What the files hold that the settings name is no part of it:
    /// a new key in the same `key_file` is taken up.
    package func needsRestart(for newer: AegisConfiguration) -> [String] {
        var places: [String] = []
        if kafka != newer.kafka { places.append("kafka") }
        if store != newer.store { places.append("store") }
        let known = Dictionary(apps.map { ($0.rules.id, $0) }, uniquingKeysWith: { first, _ in first })
        let wanted = Dictionary(newer.apps.map { ($0.rules.id, $0) }, uniquingKeysWith: { first, _ in first })
        let changed = Set(known.keys).union(wanted.keys).filter { known[$0] != wanted[$0] }
        if !changed.isEmpty { places.append("apps: " + changed.map(\.text).sorted().joined(separator: ", ")) }
        if delivery != newer.delivery { places.append("delivery") }
        if http != newer.http { places.append("http") }
        if log != newer.log { places.append("log") }
        return places
    }
}

import AegisPorts
import Glibc

/// What the kernel knows of this process, under the names that Prometheus' own clients use.
///
/// - Source: proc(5): `/proc/self/stat`, `/proc/self/statm`, `/proc/self/fd`, `/proc/stat`; getrlimit(2).
struct ProcessFigures {
    enum Name: String, CaseIterable {
        case cpu = "process_cpu_seconds_total"
        case residentMemory = "process_resident_memory_bytes"
        case virtualMemory = "process_virtual_memory_bytes"
        case openDescriptors = "process_open_fds"
        case maximumDescriptors = "process_max_fds"
        case startTime = "process_start_time_seconds"

        var kind: Metric.Kind {
            switch self {
            case .cpu: .counter
            case .residentMemory, .virtualMemory, .openDescriptors, .maximumDescriptors, .startTime: .gauge
            }
        }

        var help: String {
            switch self {
            case .cpu: "User and system CPU time, in seconds."
            case .residentMemory: "Resident memory, in bytes."
            case .virtualMemory: "Virtual memory, in bytes."
            case .openDescriptors: "Open file descriptors."
            case .maximumDescriptors: "The most file descriptors the process may have."
            case .startTime: "When the process started, in seconds since 1970-01-01T00:00:00Z."
            }
        }
    }

    /// What can be read; a figure the system does not give is left out.
    static func read() -> [(name: Name, value: Double)] {
        let status = statusFields()
        return Name.allCases.compactMap { name in
            let value: Double? =
                switch name {
                case .cpu: cpuSeconds(status)
                case .residentMemory: number(status, 21).map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) }
                case .virtualMemory: number(status, 20)
                case .openDescriptors: openDescriptors()
                case .maximumDescriptors: maximumDescriptors()
                case .startTime: startTime(status)
                }
            return value.map { (name, $0) }
        }
    }

    /// The fields of `/proc/self/stat` after the command's name, which may itself hold spaces and brackets: the first is
    /// the state, number 3 in proc(5).
    private static func statusFields() -> [Substring] {
        guard let text = contents(of: "/proc/self/stat"), let end = text.lastIndex(of: ")") else { return [] }
        return text[text.index(after: end)...].split(separator: " ")
    }

    private static func number(_ fields: [Substring], _ index: Int) -> Double? {
        fields.indices.contains(index) ? Double(fields[index]) : nil
    }

    private static var ticksPerSecond: Double { Double(max(sysconf(Int32(_SC_CLK_TCK)), 1)) }

    private static func cpuSeconds(_ fields: [Substring]) -> Double? {
        guard let user = number(fields, 11), let system = number(fields, 12) else { return nil }
        return (user + system) / ticksPerSecond
    }

    private static func startTime(_ fields: [Substring]) -> Double? {
        guard let ticks = number(fields, 19), let system = contents(of: "/proc/stat"),
            let line = system.split(separator: "\n").first(where: { $0.hasPrefix("btime ") }),
            let boot = Double(line.dropFirst(6))
        else { return nil }
        return boot + ticks / ticksPerSecond
    }

    private static func openDescriptors() -> Double? {
        guard let directory = unsafe opendir("/proc/self/fd") else { return nil }
        defer { unsafe closedir(directory) }
        // `.`, `..` and the descriptor of this listing are not the process's own.
        var count = -3
        while unsafe readdir(directory) != nil { count += 1 }
        return Double(max(count, 0))
    }

    private static func maximumDescriptors() -> Double? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Double(limit.rlim_cur)
    }

    private static func contents(of path: String) -> String? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe Glibc.read(file, &buffer, buffer.count)
            guard count > 0 else { return count == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
            bytes.append(contentsOf: buffer.prefix(count))
        }
    }
}

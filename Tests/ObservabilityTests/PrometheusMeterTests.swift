import AegisPorts
import Foundation
import Observability
import Testing

@Suite struct PrometheusMeterTests {
    private func samples(_ meter: PrometheusMeter, _ prefix: String) -> [String] {
        meter.exposition().split(separator: "\n").map(String.init).filter { $0.hasPrefix(prefix) }
    }

    @Test func `counters add up by their labels, in a fixed order`() {
        let meter = PrometheusMeter(version: "1.2.3")
        meter.add(2, to: .eventsIgnored, ["orders", "tombstone"])
        meter.add(1, to: .eventsIgnored, ["events", "filtered"])
        meter.add(3, to: .eventsIgnored, ["orders", "tombstone"])
        #expect(
            samples(meter, "aegis_events_ignored_total") == [
                #"aegis_events_ignored_total{topic="events",reason="filtered"} 1"#,
                #"aegis_events_ignored_total{topic="orders",reason="tombstone"} 5"#,
            ])
        #expect(samples(meter, "aegis_build_info") == [#"aegis_build_info{version="1.2.3"} 1"#])
    }

    @Test func `gauges are set and moved`() {
        let meter = PrometheusMeter(version: "1")
        meter.set(7.5, of: .consumerLag, ["orders", "0"])
        meter.add(-2, to: .consumerLag, ["orders", "0"])
        #expect(samples(meter, "aegis_consumer_lag") == [#"aegis_consumer_lag{topic="orders",partition="0"} 5.5"#])
    }

    @Test func `a gauge that is removed shows no value, and can be set again`() {
        let meter = PrometheusMeter(version: "1")
        meter.set(7, of: .consumerLag, ["orders", "0"])
        meter.set(3, of: .consumerLag, ["orders", "1"])
        meter.remove(.consumerLag, ["orders", "0"])
        #expect(samples(meter, "aegis_consumer_lag") == [#"aegis_consumer_lag{topic="orders",partition="1"} 3"#])
        meter.set(1, of: .consumerLag, ["orders", "0"])
        #expect(samples(meter, "aegis_consumer_lag").count == 2)
        meter.remove(.eventsIgnored, ["orders", "filtered"])
        #expect(
            samples(meter, "aegis_metric_misuse_total") == [
                #"aegis_metric_misuse_total{metric="aegis_events_ignored_total"} 1"#
            ])
    }

    @Test func `a histogram counts into every bucket from the bound on`() {
        let meter = PrometheusMeter(version: "1")
        meter.observe([0.001, 0.002, 3, 700, -1], in: .eventToAPNsDuration, ["urgent"])
        let lines = samples(meter, "aegis_event_to_apns_duration_seconds")
        #expect(lines.contains(#"aegis_event_to_apns_duration_seconds_bucket{lane="urgent",le="0.001"} 2"#))
        #expect(lines.contains(#"aegis_event_to_apns_duration_seconds_bucket{lane="urgent",le="0.0025"} 3"#))
        #expect(lines.contains(#"aegis_event_to_apns_duration_seconds_bucket{lane="urgent",le="600"} 4"#))
        #expect(lines.contains(#"aegis_event_to_apns_duration_seconds_bucket{lane="urgent",le="+Inf"} 5"#))
        #expect(lines.contains(#"aegis_event_to_apns_duration_seconds_sum{lane="urgent"} 703.003"#))
        #expect(lines.contains(#"aegis_event_to_apns_duration_seconds_count{lane="urgent"} 5"#))
    }

    @Test func `a counter of seconds takes observations`() {
        let meter = PrometheusMeter(version: "1")
        #expect(samples(meter, "aegis_rate_limit_wait_seconds") == ["aegis_rate_limit_wait_seconds 0"])
        meter.observe([0.25, 0.5], in: .rateLimitWait, [])
        #expect(samples(meter, "aegis_rate_limit_wait_seconds") == ["aegis_rate_limit_wait_seconds 0.75"])
    }

    @Test func `a call that does not fit its metric changes nothing and is counted`() {
        let meter = PrometheusMeter(version: "1")
        meter.add(1, to: .eventsConsumed, [])
        meter.add(1, to: .eventsConsumed, ["a", "b"])
        meter.add(-1, to: .eventsConsumed, ["a"])
        meter.set(1, of: .eventsConsumed, ["a"])
        meter.observe([.nan], in: .apnsRequestDuration, [])
        #expect(samples(meter, "aegis_events_consumed_total").isEmpty)
        #expect(
            samples(meter, "aegis_metric_misuse_total") == [
                #"aegis_metric_misuse_total{metric="aegis_apns_request_duration_seconds"} 1"#,
                #"aegis_metric_misuse_total{metric="aegis_events_consumed_total"} 4"#,
            ])
    }

    @Test func `series beyond the limit are counted together`() {
        let meter = PrometheusMeter(version: "1", seriesLimit: 3)
        for topic in 0..<10 { meter.add(1, to: .eventsConsumed, ["t\(topic)"]) }
        meter.add(1, to: .eventsConsumed, ["t0"])
        #expect(
            samples(meter, "aegis_events_consumed_total") == [
                #"aegis_events_consumed_total{topic="other"} 7"#, #"aegis_events_consumed_total{topic="t0"} 2"#,
                #"aegis_events_consumed_total{topic="t1"} 1"#, #"aegis_events_consumed_total{topic="t2"} 1"#,
            ])
    }

    @Test func `label values are escaped`() {
        let meter = PrometheusMeter(version: "a\"b\\c\nd é")
        #expect(samples(meter, "aegis_build_info") == [#"aegis_build_info{version="a\"b\\c\nd é"} 1"#])
    }

    @Test func `every line is a comment or a sample and every metric is described once, before its samples`() throws {
        let meter = PrometheusMeter(version: "1")
        for metric in Metric.allCases {
            let labels = metric.definition.labels.map { "\($0)-value" }
            switch metric.definition.kind {
            case .counter: meter.add(1, to: metric, labels)
            case .gauge: meter.set(0.001_25, of: metric, labels)
            case .histogram: meter.observe([0.3], in: metric, labels)
            }
        }
        let text = meter.exposition()
        #expect(text.hasSuffix("\n"))
        let sample = /([a-z_:]+)(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? (-?[0-9.e+-]+|\+Inf|-Inf|NaN)/
        var described: [Substring] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("# TYPE ") {
                described.append(words[2])
                #expect(["counter", "gauge", "histogram"].contains(words[3]))
            } else if !line.hasPrefix("# HELP ") {
                let match = try #require(line.wholeMatch(of: sample), "\(line)")
                let current = try #require(described.last)
                #expect(match.1.hasPrefix(current), "\(line) stands below \(current)")
            }
        }
        #expect(Set(described).count == described.count)
        #expect(Set(described.map(String.init)).isSuperset(of: Metric.allCases.map(\.rawValue)))
    }

    @Test func `the process tells its own figures`() throws {
        func value(_ name: String) throws -> Double {
            let line = try #require(samples(PrometheusMeter(version: "1"), "\(name) ").first, "\(name)")
            return try #require(Double(line.dropFirst(name.utf8.count + 1)))
        }
        #expect(try value("process_cpu_seconds_total") >= 0)
        #expect(try value("process_resident_memory_bytes") > 1_000_000)
        #expect(try value("process_virtual_memory_bytes") >= value("process_resident_memory_bytes"))
        #expect(try value("process_open_fds") >= 3)
        #expect(try value("process_max_fds") >= value("process_open_fds"))
        let started = Date(timeIntervalSince1970: try value("process_start_time_seconds"))
        #expect(started < Date() && started > Date(timeIntervalSinceNow: -86_400))
    }

    @Test func `increments of many tasks are all counted`() async {
        let meter = PrometheusMeter(version: "1")
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<500 { meter.add(1, to: .eventsConsumed, ["orders"]) } }
            }
        }
        #expect(samples(meter, "aegis_events_consumed_total") == [#"aegis_events_consumed_total{topic="orders"} 4000"#])
    }
}

@Suite struct MetricsReferenceTests {
    /// With `AEGIS_WRITE_DOCS=1` in the environment the page is written anew first.
    @Test func `the page in docs is what the declarations say`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appending(path: "docs/metrics.md")
        if ProcessInfo.processInfo.environment["AEGIS_WRITE_DOCS"] == "1" {
            try Data(MetricsReference.markdown().utf8).write(to: file)
        }
        let page = try String(contentsOf: file, encoding: .utf8)
        #expect(page == MetricsReference.markdown())
    }
}

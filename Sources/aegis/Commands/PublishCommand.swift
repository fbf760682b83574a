import AegisCore
import AegisPorts
import Configuration
import Glibc
import KafkaEventLog

/// `aegis publish`: events onto a topic, for trying things out and for scripts.
enum PublishCommand: Command {
    static let name = "publish"
    static let summary = "Publishes one event from a file, or JSON lines from standard input."
    static let usage = "--config F --topic T [--key K] [--header k=v]... FILE|-"
    static let options = [
        Option(name: "config", value: "F", help: "The configuration, aegis.yaml."),
        Option(name: "topic", value: "T", help: "The topic to publish to."),
        Option(name: "key", value: "K", help: "The record's key; records of one key keep their order."),
        Option(name: "header", value: "k=v", help: "A record header; may be repeated."),
    ]

    static func run(_ arguments: Arguments) async -> Int32 {
        guard let path = arguments.last("config"), let topic = arguments.last("topic"),
            let source = arguments.positional.first, arguments.positional.count == 1
        else {
            writeError("aegis publish: usage: aegis publish \(usage)\n")
            return ExitCode.usage
        }
        var headers: [RecordHeader] = []
        for text in arguments.all("header") {
            guard let separator = text.firstIndex(of: "="), separator != text.startIndex else {
                writeError("aegis publish: --header \(text): write it as name=value\n")
                return ExitCode.usage
            }
            headers.append(
                RecordHeader(
                    name: String(text[..<separator]), value: Array(text[text.index(after: separator)...].utf8)))
        }
        guard let service = LoadedService.load(path, printingWarnings: false) else { return ExitCode.usage }
        guard case .servers(let brokers) = service.loaded.configuration.kafka.brokers else {
            writeError("\(path): kafka.brokers: embedded cannot be reached from another process\n")
            return ExitCode.usage
        }
        guard let bytes = readFile(source == "-" ? "/dev/stdin" : source) else {
            writeError("aegis publish: \(source) cannot be read\n")
            return ExitCode.usage
        }
        let key = arguments.last("key").map { Array($0.utf8) }
        let values =
            source == "-"
            ? bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) } : [bytes]
        return await publish(
            values.map { OutgoingRecord(key: key, value: $0, headers: headers) }, to: topic, brokers: brokers,
            kafka: service.loaded.configuration.kafka)
    }

    private static func publish(
        _ records: [OutgoingRecord], to topic: String, brokers: String, kafka: Configuration.KafkaSettings
    ) async -> Int32 {
        let properties = kafka.properties.mapValues(\.revealed)
        do throws(EventLogError) {
            // Asked for by name, some brokers would make the topic: a spelling mistake would publish to nobody.
            let existing = try await KafkaTopics(brokers: brokers, properties: properties).existing()
            guard existing.contains(topic) else {
                let nearest = Spelling.nearest(to: topic, among: existing)
                writeError(
                    "aegis publish: topic \"\(topic)\" does not exist"
                        + (nearest.map { "; did you mean \"\($0)\"?" } ?? "") + "\n")
                return ExitCode.failure
            }
            let producer = try KafkaProducer(
                KafkaProducerSettings(
                    brokers: brokers, deadLetterTopic: kafka.deadLetterTopic, properties: properties))
            try await producer.publish(records, to: topic)
            await producer.close()
            print("\(records.count) published to \(topic)")
            return ExitCode.success
        } catch {
            writeError("aegis publish: \(error)\n")
            return ExitCode.failure
        }
    }
}

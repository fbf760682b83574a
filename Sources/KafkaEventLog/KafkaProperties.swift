import AegisCore
package import AegisPorts
import CRDKafka
import Glibc

/// Looks at librdkafka's properties before any client is made of them.
package enum KafkaProperties {
    /// What is wrong with one property.
    package enum Mistake: Hashable, Sendable {
        /// No property has this name; the nearest that there is.
        case unknown(nearest: String?)
        /// The library does not take the value, or cannot do what it asks for.
        case value
    }

    /// The properties that librdkafka does not take, by name.
    ///
    /// - Source: rdkafka.h, `rd_kafka_conf_set`.
    package static func mistakes(in properties: [String: String]) -> [String: Mistake] {
        guard let configuration = unsafe rd_kafka_conf_new() else { return [:] }
        defer { unsafe rd_kafka_conf_destroy(configuration) }
        return properties.reduce(into: [:]) { mistakes, property in
            var text = [CChar](repeating: 0, count: 512)
            switch unsafe rd_kafka_conf_set(configuration, property.key, property.value, &text, text.count) {
            case RD_KAFKA_CONF_OK: break
            case RD_KAFKA_CONF_UNKNOWN:
                mistakes[property.key] = .unknown(nearest: Spelling.nearest(to: property.key, among: knownNames()))
            default: mistakes[property.key] = .value
            }
        }
    }

    /// Makes and drops a client of each kind, without a broker: finds properties that do not go together and files that
    /// cannot be read.
    ///
    /// - Throws: ``EventLogError`` of kind `configuration`, with the library's own text.
    package static func tryClients(
        consumer: KafkaSettings, producer: KafkaProducerSettings
    ) throws(EventLogError) {
        var consumer = consumer
        var producer = producer
        consumer.brokers = ""
        producer.brokers = ""
        _ = try ClientHandle(.consumer, properties: consumer.clientProperties, context: ClientContext(log: nil))
        _ = try ClientHandle(.producer, properties: producer.clientProperties, context: ClientContext(log: nil))
    }

    /// Every name that the library knows, read from the table it prints.
    ///
    /// `rd_kafka_conf_dump` would leave out the properties that have no value.
    private static func knownNames() -> [String] {
        var buffer: UnsafeMutablePointer<CChar>?
        var size = 0
        guard let stream = unsafe open_memstream(&buffer, &size) else { return [] }
        unsafe rd_kafka_conf_properties_show(stream)
        unsafe fclose(stream)
        guard let text = unsafe buffer.map({ unsafe String(cString: $0) }) else { return [] }
        unsafe free(buffer)
        return text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|")
            guard cells.count > 2, let name = cells.first?.split(separator: " ").first, name.contains(".") else {
                return nil
            }
            return String(name)
        }
    }
}

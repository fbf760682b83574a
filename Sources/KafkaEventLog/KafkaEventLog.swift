// KafkaEventLog

#!/usr/bin/env python3
"""Creates topics on a broker that speaks plain Kafka; those that exist already are left as they are.

    scripts/create-topics.py localhost:9092 domain.events:4 aegis.dead-letter

A topic is written NAME or NAME:PARTITIONS. It needs Python's standard library alone: for brokers with TLS or passwords
use the tool that came with them. Ends with 1 when a topic could not be created.
"""

import socket
import struct
import sys
import time

# Apache Kafka's protocol guide: CreateTopics (key 19), version 2, which Kafka 0.11 up to 4 and its likes take.
CREATE_TOPICS, VERSION = 19, 2
TOPIC_ALREADY_EXISTS = 36


def text(value):
    return struct.pack(">h", len(value.encode())) + value.encode()


def connect(host, port, patience):
    """Connects, waiting for a broker that is starting."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return socket.create_connection((host, port), timeout=15)
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def create(address, topics):
    """Answers a list of (topic, error code, message)."""
    host, _, port = address.rpartition(":")
    body = struct.pack(">hhi", CREATE_TOPICS, VERSION, 1) + text("create-topics") + struct.pack(">i", len(topics))
    for name, partitions in topics:
        body += text(name) + struct.pack(">ihii", partitions, 1, 0, 0)
    body += struct.pack(">i?", 10_000, False)
    with connect(host, int(port), patience=15) as connection:
        connection.sendall(struct.pack(">i", len(body)) + body)
        stream = connection.makefile("rb")

        def read(form):
            size = struct.calcsize(form)
            data = stream.read(size)
            if len(data) != size:
                raise OSError("the broker closed the connection")
            return struct.unpack(form, data)[0]

        def read_text():
            length = read(">h")
            return None if length < 0 else stream.read(length).decode()

        read(">i"), read(">i"), read(">i")  # size, correlation, throttle time
        return [(read_text(), read(">h"), read_text()) for _ in range(read(">i"))]


def main(arguments):
    if len(arguments) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    topics = []
    for argument in arguments[1:]:
        name, _, partitions = argument.partition(":")
        topics.append((name, int(partitions or 1)))
    try:
        results = create(arguments[0], topics)
    except (OSError, ValueError) as error:
        print(f"create-topics: {arguments[0]}: {error}", file=sys.stderr)
        return 1
    failed = False
    for name, code, message in results:
        if code == 0:
            print(f"created {name}")
        elif code == TOPIC_ALREADY_EXISTS:
            print(f"exists  {name}")
        else:
            failed = True
            print(f"create-topics: {name}: error {code}{': ' + message if message else ''}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

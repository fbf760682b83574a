#!/bin/sh
# What a slim Debian 12 needs to run aegis, and the user it runs as. To be run as root, while an image is built.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -qy --no-install-recommends \
    ca-certificates curl tzdata librdkafka1 libnghttp2-14 libmicrohttpd12 libyaml-0-2 libsqlite3-0 libssl3 libstdc++6
rm -rf /var/lib/apt/lists/*
groupadd --system --gid 10001 aegis
useradd --system --uid 10001 --gid aegis --no-create-home --shell /usr/sbin/nologin aegis
install -d -o aegis -g aegis -m 0700 /var/lib/aegis
install -d -m 0755 /etc/aegis

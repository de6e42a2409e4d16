#!/bin/sh
# Fetches the newest packages that this Debian has, and unpacks them.
set -eu
mkdir packages debian
cd packages
apt-get download nginx haproxy h2o lighttpd
for package in *.deb; do
  dpkg -x "$package" ../debian
done

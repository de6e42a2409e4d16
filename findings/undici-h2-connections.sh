#!/usr/bin/env bash
# undici 7.30.2 with `allowH2`: fifty requests at once open fifty HTTP/2 connections of one stream each; undici 8.13.1 opens fewer than ten
#
# undici 7 counts streams by `pipelining`, which is 1 by default. "HTTP/2" in such a benchmark is fifty handshakes and no multiplexing.
source "$(dirname "$0")/common"
node_with node@26.10.0 seven@npm:undici@7.30.2 eight@npm:undici@8.13.1
ten_streams_server
cat > client.js <<'JS'
const { Agent, request } = require(process.argv[2]);
const dispatcher = new Agent({ allowH2: true, connect: { ca: require('fs').readFileSync('cert.pem') } });
const get = async () => (await request(process.argv[3], { dispatcher })).body.text();
Promise.all(Array.from({ length: 50 }, get)).then(() => process.exit());
JS
opened() { opened_by node_modules/.bin/node client.js "$1" "https://127.0.0.1:$port/"; }
seven=$(opened seven)
eight=$(opened eight)
[ "$eight" -ge 10 ] || eight="fewer than 10"
compare "undici 7: 50 connections, undici 8: fewer than 10" "undici 7: $seven connections, undici 8: $eight"

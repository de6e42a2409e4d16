#!/usr/bin/env bash
# Node 26.10.0 http2 client: of fifty requests made right after connect(), forty fail if the server takes ten streams at once
#
# Until the server's SETTINGS arrive, the client assumes that a hundred streams are allowed. The server refuses those above ten, and Node
# passes the refusal on as an error, though a refused stream may be sent again. Requests made after `remoteSettings` wait.
source "$(dirname "$0")/common"
node_with node@26.10.0
ten_streams_server
cat > client.js <<'JS'
const http2 = require('http2');
const burst = async (wait) => {
  const session = http2.connect(process.argv[2], { ca: require('fs').readFileSync('cert.pem') });
  if (wait) await new Promise((done) => session.once('remoteSettings', done));
  const request = () => new Promise((done) => {
    let end = 'no response';
    const stream = session.request({ ':path': '/' }).on('response', (head) => (end = head[':status']));
    stream.on('error', (error) => (end = error.message.split(' ').pop())).on('close', () => done(end)).resume();
  });
  const ends = await Promise.all(Array.from({ length: 50 }, request));
  session.close();
  return ['200', 'NGHTTP2_REFUSED_STREAM'].map((kind) => `${ends.filter((end) => `${end}` === kind).length} ${kind}`).join(' ');
};
(async () => console.log(`at once: ${await burst(false)}, after remoteSettings: ${await burst(true)}`))();
JS
compare "at once: 10 200 40 NGHTTP2_REFUSED_STREAM, after remoteSettings: 50 200 0 NGHTTP2_REFUSED_STREAM" \
  "$(node_modules/.bin/node client.js "https://127.0.0.1:$port")"

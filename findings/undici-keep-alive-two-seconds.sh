#!/usr/bin/env bash
# undici 8.13.1: if a server announces `Keep-Alive: timeout=2`, each request opens a connection, though node:http keeps the one it has
#
# undici subtracts two seconds from what the server announces, as a margin. Nothing is left of two seconds, so it closes the
# connection after each response. Node's own fetch does the same. A Node server with `keepAliveTimeout: 2000` announces just that.
source "$(dirname "$0")/common"
node_with node@26.10.0 undici@8.13.1
cat > server.js <<'JS'
let opened = 0;
const server = require('http').createServer({ keepAliveTimeout: 2000 }, (request, response) => response.end(`${opened}`));
server.on('connection', () => opened++).listen(Number(process.argv[2]), '127.0.0.1');
JS
cat > client.js <<'JS'
const http = require('http'), undici = require('undici'), url = process.argv[2];
const plain = () => new Promise((done) => http.get(url, (answer) => answer.setEncoding('utf8').on('data', done)));
const ways = { undici: async () => (await undici.request(url)).body.text(), fetch: async () => (await fetch(url)).text(), 'node:http': plain };
(async () => {
  const seen = [];
  for (const [name, get] of Object.entries(ways)) {
    const before = Number(await get());
    let last;
    for (let i = 0; i < 19; i++) last = Number(await get());
    seen.push(`${name} ${last - before + 1}`);
  }
  console.log(seen.join(', '));
  process.exit();
})();
JS
port=$(free_port)
start node_modules/.bin/node server.js "$port"
listening "$port"
compare "connections for 20 requests: undici 20, fetch 20, node:http 1" \
  "connections for 20 requests: $(node_modules/.bin/node client.js "http://127.0.0.1:$port/")"

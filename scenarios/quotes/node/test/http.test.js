import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect } from 'node:http2';
import { test } from 'node:test';

import { buildServer } from '../src/http.js';

async function listening() {
  const web = buildServer();
  await once(web.server.listen(0, '127.0.0.1'), 'listening');
  return { ...web, port: web.server.address().port };
}

async function answer(port, agent, path) {
  const [response] = await once(get({ host: '127.0.0.1', port, agent, path }), 'response');
  return Buffer.concat(await response.toArray()).toString();
}

test('a stop answers what is under way, and keeps neither a busy connection nor one at rest', async () => {
  const { close, port } = await listening();
  const agent = new Agent({ keepAlive: true });
  await answer(port, agent, '/quotes/REST');
  const resting = once(Object.values(agent.freeSockets)[0][0], 'close');
  const busy = new Agent({ keepAlive: true });
  const events = answer(port, busy, '/quotes/ACME/events?count=3&interval_ms=100');
  const session = connect(`http://127.0.0.1:${port}`);
  const stream = session.request({ ':path': '/quotes/ACME/events?count=3&interval_ms=100' });
  await once(stream, 'response');
  const begin = Date.now();
  const closed = close();
  await resting;
  assert.equal((await events).match(/^id: /gm).length, 3);
  assert.equal(Buffer.concat(await stream.toArray()).toString().match(/^id: /gm).length, 3);
  await closed;
  // Without a client's doing: the idle time of a connection is 60 s.
  assert.ok(Date.now() - begin < 30_000);
});

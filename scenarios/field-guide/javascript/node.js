// node:http with no setting but its handler.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  const answer = () => response.writeHead(200, { 'content-type': 'text/plain' }).end('Hello, world!');
  const path = request.url.split('?', 1)[0];
  if (path === '/hello') answer();
  else if (path === '/slow') setTimeout(answer, 1000);
  else response.writeHead(404).end();
});
server.listen(Number(process.env.PORT), process.env.HOST);
process.on('SIGTERM', () => server.close());

import { createServer } from 'node:http';

/** A service as the supervisor expects one: probes, log lines, and an end by SIGTERM or when its parent is gone. */
export function runFakeService(name: string): void {
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === '/readyz' || path === '/healthz') return void response.writeHead(200).end('{}');
    if (path.endsWith('/crash')) process.exit(9);
    if (path.endsWith('/pid')) return void response.end(String(process.pid));
    if (path.endsWith('/env')) return void response.end(JSON.stringify(process.env));
    response.end(name);
  });
  server.listen(Number(process.env.HEADWAY_PORT), process.env.HEADWAY_HOST);
  console.log(JSON.stringify({ level: 30, msg: `${name} listens` }));
  console.log(JSON.stringify({ level: 40, msg: `${name} warns` }));
  const end = (): never => process.exit(0);
  process.on('SIGTERM', end);
  process.on('disconnect', end);
}

import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from './replace-file.ts';

const remembered = z.record(z.string(), z.number().int().min(1).max(65_535));

function bind(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : undefined;
      server.close(() => resolve(bound));
    });
  });
}

/** A port that was free on loopback a moment ago. */
export async function freePort(): Promise<number> {
  const port = await bind(0);
  if (port === undefined) throw new Error('no free port on 127.0.0.1');
  return port;
}

/** Ports that stay the same between starts as long as nobody else takes them meanwhile. */
export function rememberedPorts(dataFolder: string) {
  const file = join(dataFolder, 'ports.json');
  const read = (): z.infer<typeof remembered> => {
    try {
      return remembered.parse(JSON.parse(readFileSync(file, 'utf8')));
    } catch {
      return {};
    }
  };
  return {
    async choose(name: string): Promise<number> {
      const known = read();
      const before = known[name];
      const port = (before === undefined ? undefined : await bind(before)) ?? (await freePort());
      replaceFile(file, `${JSON.stringify({ ...known, [name]: port }, null, 2)}\n`);
      return port;
    },
  };
}

export type RememberedPorts = ReturnType<typeof rememberedPorts>;

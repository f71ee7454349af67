import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { StartError } from './terminal.ts';

/**
 * Makes this process the only one on a data folder. The lock is a socket in the kernel's own namespace, so it is gone with the process,
 * however that ends. It does not reach into other containers.
 * @throws {StartError} where another process has it
 */
export async function lockFolder(folder: string, describeHolder: () => string): Promise<{ release(): Promise<void> }> {
  const { dev, ino } = statSync(realpathSync(folder));
  const name = createHash('sha256').update(`${dev} ${ino}`).digest('hex').slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      reject(
        new StartError(
          `another Headway already uses the data folder ${folder}${describeHolder()}.\n` +
            '  Stop that one first, or set HEADWAY_DATA_DIR to another folder to run a second one beside it.',
        ),
      );
    });
    server.listen({ path: `\0headway-${name}` }, resolve);
  });
  server.unref();
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

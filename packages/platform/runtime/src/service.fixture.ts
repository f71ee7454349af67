import { setInterval } from 'node:timers';
import { runService } from './index.ts';

/** A service as its own process, for the tests of start-up and shutdown. `FIXTURE` says how it behaves. */
const behaviour = process.env.FIXTURE ?? '';

runService({
  name: 'fixture',
  closeMs: 500,
  main: async (scope) => {
    scope.onClose('first', () => scope.logger.info('closed first'));
    scope.onClose('second', () => {
      scope.logger.info('closed second');
      if (behaviour === 'close-breaks') throw new Error('cannot close');
      return behaviour === 'close-hangs' ? new Promise(() => {}) : undefined;
    });
    if (behaviour === 'start-breaks') throw new Error('cannot start');
    const alive = setInterval(() => {}, 1_000);
    scope.onClose('third', () => {
      clearInterval(alive);
      scope.logger.info('closed third');
    });
    scope.announce({ url: 'http://127.0.0.1:1' });
    if (behaviour === 'throws')
      setTimeout(() => {
        throw new Error('thrown later');
      }, 1);
    if (behaviour === 'rejects') void Promise.reject(new Error('rejected later'));
    if (behaviour === 'fails') scope.fail('the stream is another one');
  },
});

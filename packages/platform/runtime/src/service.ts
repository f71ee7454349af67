import { ConfigError } from './config.ts';
import { createLogger, type Logger } from './logger.ts';
import { startTelemetry } from './telemetry.ts';

/** What a service's main function works with. */
export interface ServiceScope {
  readonly name: string;
  readonly logger: Logger;
  /** Aborts when the service is to end. */
  readonly signal: AbortSignal;
  /** Registers something that is closed at the end, the last registered first. */
  onClose(name: string, close: () => unknown): void;
  /** Ends the service in good order with exit code 1: it cannot go on, and a new process may. */
  fail(reason: string): void;
  /** Says that the service is up: one log line, and a message to the parent process where there is a channel. */
  announce(facts: Readonly<Record<string, string | number>>): void;
}

export interface ServiceOptions {
  readonly name: string;
  /** Starts the service and returns when it is up. */
  readonly main: (scope: ServiceScope) => Promise<void>;
  /** Everything has to be closed within this time; then the process ends regardless. */
  readonly closeMs?: number;
}

export const CLOSE_MS = 10_000;

/**
 * Runs a service as this process, from start to exit.
 *
 * Ends in good order on SIGTERM, on SIGINT, and when the channel to the parent process closes, so that a parent that
 * was killed leaves nothing running; a second signal ends it at once. An error nobody caught is logged and ends the
 * process with 1 at once: what it left half done is what a crash leaves, and every service starts from such a state.
 */
export function runService(options: ServiceOptions): void {
  const { name, closeMs = CLOSE_MS } = options;
  const logger = createLogger(name);
  const stopping = new AbortController();
  const closers: { name: string; close: () => unknown }[] = [];

  const end = async (reason: string, exitCode: number) => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    logger.info({ reason }, 'stopping');
    setTimeout(() => {
      logger.error({ closeMs, open: closers.map((closer) => closer.name) }, 'closing took too long');
      process.exit(exitCode === 0 ? 1 : exitCode);
    }, closeMs);
    await closeAll(closers, logger);
    logger.info('stopped');
    process.exit(exitCode);
  };

  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)
    process.on(signal, () => (stopping.signal.aborted ? process.exit(code) : void end(signal, 0)));
  if (process.channel !== undefined) process.on('disconnect', () => void end('the parent process is gone', 0));
  for (const kind of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(kind, (error: unknown) => {
      logger.fatal({ err: error instanceof Error ? error : new Error(String(error)), kind }, 'nobody caught an error');
      process.exit(1);
    });

  const scope: ServiceScope = {
    name,
    logger,
    signal: stopping.signal,
    onClose: (what, close) => void closers.push({ name: what, close }),
    fail: (reason) => {
      logger.fatal({ reason }, 'the service cannot go on');
      void end(reason, 1);
    },
    announce: (facts) => {
      logger.info(facts, 'up');
      // A parent that does not listen is no reason to fail.
      process.send?.({ service: name, up: true, ...facts }, () => {});
    },
  };
  void start(options, scope, end);
}

async function start(
  options: ServiceOptions,
  scope: ServiceScope,
  end: (reason: string, exitCode: number) => Promise<void>,
): Promise<void> {
  try {
    const telemetry = await startTelemetry(options.name);
    if (telemetry.enabled) scope.onClose('telemetry', telemetry.shutdown);
    await options.main(scope);
  } catch (error) {
    if (scope.signal.aborted) return;
    if (error instanceof ConfigError) scope.logger.fatal(error.message);
    else scope.logger.fatal({ err: error }, 'the service could not start');
    await end('the service could not start', 1);
  }
}

/** Takes each closer off the list when it is done, so that what is left is what hangs. */
async function closeAll(closers: { name: string; close: () => unknown }[], logger: Logger) {
  for (let closer = closers.at(-1); closer !== undefined; closer = closers.at(-1)) {
    try {
      await closer.close();
    } catch (error) {
      logger.error({ err: error, closing: closer.name }, 'closing failed');
    }
    closers.splice(closers.indexOf(closer), 1);
  }
}

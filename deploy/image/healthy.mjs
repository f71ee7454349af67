// The health check of a container: whether its own service is ready. `node deploy/image/healthy.mjs [PATH]`, by default /readyz.
const WITHIN_MS = 4_000;
const [path = '/readyz'] = process.argv.slice(2);
try {
  const url = `http://127.0.0.1:${process.env.HEADWAY_PORT}${path}`;
  const { status } = await fetch(url, { signal: AbortSignal.timeout(WITHIN_MS) });
  if (status !== 200) console.error(`${path} answered ${status}`);
  process.exitCode = status === 200 ? 0 : 1;
} catch (error) {
  console.error(`${path} did not answer: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

/** How one thing that a service needs is doing. `detail` is shown as it stands: no secrets. */
export type CheckResult =
  | { readonly ready: true; readonly detail?: Readonly<Record<string, unknown>> }
  | { readonly ready: false; readonly reason: string; readonly detail?: Readonly<Record<string, unknown>> };

export type Checks = Readonly<Record<string, () => CheckResult | Promise<CheckResult>>>;

/** A check that takes longer counts as not ready. */
export const CHECK_MS = 2_000;

export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, CheckResult>>;
}

/** Runs all checks at once, each within {@link CHECK_MS}; one that throws is not ready, with its message as reason. */
export async function runChecks(checks: Checks): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check)] as const),
  );
  return { ready: results.every(([, result]) => result.ready), checks: Object.fromEntries(results) };
}

async function runCheck(check: Checks[string]): Promise<CheckResult> {
  const late = Promise.withResolvers<CheckResult>();
  const timer = setTimeout(
    () => late.resolve({ ready: false, reason: `no answer within ${CHECK_MS / 1_000} s` }),
    CHECK_MS,
  );
  try {
    return await Promise.race([late.promise, (async () => check())()]);
  } catch (error) {
    return { ready: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}

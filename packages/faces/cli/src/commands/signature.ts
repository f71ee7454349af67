import { createOutputReader, SIGNATURE_VERSION, signatureOf } from '@headway/signatures';
import { type Context, printJson, say } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { rulesFrom } from '../signature-rules.ts';
import { createExplanation } from './explanation.ts';

export interface SignatureOptions {
  readonly gate: string;
  readonly exitCode: number;
  readonly rules?: string;
  readonly root?: string;
  readonly explain?: boolean;
  readonly json?: boolean;
}

/**
 * Reads a gate's output from standard input: its outcome, failing set and signature, as one line of JSON. `--explain`
 * says for each line that counted who took it and which key came of it: for a person, or with `--json` in the answer.
 */
export async function signature(
  context: Context,
  input: AsyncIterable<Uint8Array>,
  options: SignatureOptions,
): Promise<number> {
  const rules = await rulesFrom(options.rules, context.environment);
  if (!rules.ok) {
    say(context, rules.failure);
    return exitCodes.usage;
  }
  const explanation = options.explain === true ? createExplanation() : null;
  const roots = [options.root ?? context.cwd];
  const watch = explanation?.watch;
  const reader = createOutputReader({ roots, rules: rules.value, ...(watch === undefined ? {} : { watch }) });
  for await (const chunk of input) reader.push(chunk);
  const { outcome, tool, failures, why } = reader.end({ exitCode: options.exitCode });
  const keys = failures.map((failure) => failure.key);
  const answer = {
    outcome,
    tool,
    signature: outcome === 'failed' ? signatureOf(options.gate, keys) : null,
    failures: failures.map(({ key, message }) => ({ key, message: message ?? key })),
  };
  if (explanation === null) {
    printJson(context, answer);
    return exitCodes.ok;
  }
  const version = { version: SIGNATURE_VERSION, rules: rules.value?.id ?? null };
  if (options.json === true) printJson(context, { ...answer, ...version, why, ...explanation.json(keys) });
  else context.stdout.write(explanation.text({ ...options, ...answer, ...version, why }));
  return exitCodes.ok;
}

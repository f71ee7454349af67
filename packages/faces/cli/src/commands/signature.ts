import { createOutputReader, signatureOf } from '@headway/signatures';
import { type Context, printJson } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';

/** Reads a gate's output from standard input: its outcome, failing set and signature, as one line of JSON. */
export async function signature(
  context: Context,
  input: AsyncIterable<Uint8Array>,
  options: { readonly gate: string; readonly exitCode: number },
): Promise<number> {
  const reader = createOutputReader();
  for await (const chunk of input) reader.push(chunk);
  const { outcome, tool, failures } = reader.end({ exitCode: options.exitCode });
  const keys = failures.map((failure) => failure.key);
  printJson(context, {
    outcome,
    tool,
    signature: outcome === 'failed' ? signatureOf(options.gate, keys) : null,
    failures: failures.map(({ key, message }) => ({ key, message: message ?? key })),
  });
  return exitCodes.ok;
}

import { readFile } from 'node:fs/promises';
import { type Result, refused } from '@headway/kernel';
import { readRules, type SignatureRules } from '@headway/signatures';

/** The rules in the file that the command or `HEADWAY_SIGNATURE_RULES` names; `undefined` = none is named. */
export async function rulesFrom(
  file: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<Result<SignatureRules | undefined, string>> {
  const named = file || environment.HEADWAY_SIGNATURE_RULES;
  if (!named) return { ok: true, value: undefined };
  let text: string;
  try {
    text = await readFile(named, 'utf8');
  } catch (error) {
    return refused(
      `the rules in ${named} cannot be read (${(error as NodeJS.ErrnoException).code}): name another file`,
    );
  }
  const rules = await readRules(text);
  if (rules.ok) return rules;
  const { code, detail, pointer } = rules.failure;
  return refused(
    `the rules in ${named} cannot be used: ${code}: ${detail}${pointer === undefined ? '' : ` (${pointer})`}`,
  );
}

import { readFile } from 'node:fs/promises';
import { readRules, type SignatureRules } from '@headway/signatures';

/**
 * The rules for reading output in the file that `HEADWAY_SIGNATURE_RULES` names; `undefined` where it names none. Throws where
 * they cannot be used: what a signature means must not depend on whether the file could be read today.
 */
export async function rulesOf(file: string | undefined): Promise<SignatureRules | undefined> {
  if (file === undefined || file === '') return undefined;
  const rules = await readRules(await textOf(file));
  if (rules.ok) return rules.value;
  const { code, detail, pointer } = rules.failure;
  throw new Error(`HEADWAY_SIGNATURE_RULES=${file}: ${code}: ${detail}${pointer === undefined ? '' : ` (${pointer})`}`);
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `HEADWAY_SIGNATURE_RULES=${file}: invalid_rules: the file cannot be read (${code}). Name another, or none.`,
    );
  }
}

import { type PoliciesView, type PolicyNumbers, policyNumberNames, policyRanges } from '@headway/contracts';
import { type Context, failed, oneLine, print, printJson, say } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { readOwnWrites } from '../read-own-writes.ts';
import { columns } from '../table.ts';

/** Shows the numbers that the rules go by, with who set them and why. */
export async function showPolicy(
  context: Context,
  options: { readonly after?: string; readonly json?: boolean },
): Promise<number> {
  const answer = await readOwnWrites(context, options.after, (after) => context.reader.policies({ after }));
  if (!answer.ok) return failed(context, answer.failure);
  if (options.json === true) printJson(context, answer.value);
  else for (const line of linesOf(answer.value)) print(context, line);
  return exitCodes.ok;
}

function linesOf({ policies, defaults }: PoliciesView): string[] {
  const heading = (lane: string | null) => (lane === null ? 'all lanes' : `lane ${lane}`);
  const table = columns(
    ['NUMBER', 'DEFAULT', ...policies.map(({ lane }) => heading(lane).toUpperCase())],
    policyNumberNames.map((name) => [
      name,
      String(defaults[name]),
      ...policies.map(({ numbers, differs }) => `${numbers[name]}${name in differs ? ' *' : ''}`),
    ]),
  );
  const set = policies.flatMap(({ lane, version, by, why, setAt }) =>
    by === null ? [] : [oneLine(`${heading(lane)}: version ${version}, set by ${by} at ${setAt}: ${why}`)],
  );
  return [...table, '', ...(set.length === 0 ? ['Nobody has set a policy: these are the defaults.'] : set)];
}

export interface SetPolicyOptions {
  readonly lane?: string;
  readonly set?: readonly string[];
  readonly reset?: boolean;
  readonly by?: string;
  readonly why: string;
  readonly expect?: number;
  readonly json?: boolean;
}

/** Sets the numbers of the tenant or of one lane; what is not named has its default. */
export async function setPolicy(context: Context, options: SetPolicyOptions): Promise<number> {
  const numbers = options.reset === true ? null : readNumbers(options.set ?? []);
  if (typeof numbers === 'string' || (numbers !== null && Object.keys(numbers).length === 0)) {
    say(
      context,
      typeof numbers === 'string'
        ? numbers
        : 'what is to be set? Say it like --set sameFailure=4, or --reset for the defaults',
    );
    return exitCodes.usage;
  }
  const answer = await context.reader.setPolicy({
    lane: options.lane ?? null,
    numbers,
    by: options.by ?? context.environment.USER ?? 'operator',
    why: options.why,
    ...(options.expect === undefined ? {} : { expectedVersion: options.expect }),
  });
  if (!answer.ok) return failed(context, answer.failure);
  const { version, lane, unchanged, position } = answer.value;
  if (options.json === true) printJson(context, answer.value);
  else
    print(
      context,
      oneLine(
        `${lane === null ? 'all lanes' : `lane ${lane}`}: ${unchanged ? 'was so already,' : 'set,'} version ${version}; it holds for evidence after ${position}`,
      ),
    );
  return exitCodes.ok;
}

/** `name=number` pairs; a text says what is wrong with one. */
function readNumbers(pairs: readonly string[]): Partial<PolicyNumbers> | string {
  const numbers: Partial<Record<keyof PolicyNumbers, number>> = {};
  for (const pair of pairs) {
    const [name = '', value = ''] = pair.split('=', 2);
    if (!policyNumberNames.includes(name as keyof PolicyNumbers))
      return `${name} is no number of a policy: use one of ${policyNumberNames.join(', ')}`;
    const [least, most] = policyRanges[name as keyof PolicyNumbers];
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most)
      return `${name} has to be a whole number from ${least} to ${most}`;
    numbers[name as keyof PolicyNumbers] = number;
  }
  return numbers;
}

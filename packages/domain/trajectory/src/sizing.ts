import type { Sizing } from '@headway/contracts';

/** How many calls a gate attempt, and files a commit, stand for where the sizing does not say. */
const PER_ATTEMPT = 5;
const PER_COMMIT = 5;

/** The estimated gate attempts and commits of a sizing, `null` where it has none. */
export function baselines(sizing: Sizing): readonly [number | null, number | null] {
  const { gateAttempts, toolCalls, commits, files } = sizing;
  return [
    gateAttempts ?? (toolCalls === undefined ? null : Math.ceil(toolCalls / PER_ATTEMPT)),
    commits ?? (files === undefined ? null : Math.ceil(files / PER_COMMIT)),
  ];
}

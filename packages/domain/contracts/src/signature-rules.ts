import { z } from 'zod';

/** What bounds the rules a user may write for reading output. */
export const ruleLimits = { fileBytes: 64 * 1024, rules: 64, idChars: 64, patternChars: 1_000 } as const;

/**
 * One rule of a user: what a line that matches `pattern` means. The pattern is searched for anywhere in the line, as it
 * stands without escapes and CI prefixes; its syntax is RE2's.
 *
 * - `failing`: the line names a failing item. Its key is the rule's id and what the group `key` of the pattern matched
 *   (the whole match where there is none), with what the group `error` matched behind it, masked like other text.
 * - `ignore`: the line means nothing, whatever it says.
 */
export const signatureRuleSchema = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(ruleLimits.idChars)
    .regex(/^[\w./-]+$/),
  pattern: z.string().min(1).max(ruleLimits.patternChars),
  ignoreCase: z.boolean().default(false),
  means: z.enum(['failing', 'ignore']).default('failing'),
});
export type SignatureRule = z.infer<typeof signatureRuleSchema>;

/** A file of rules. The first rule that matches a line decides, before any tool is asked. */
export const signatureRulesSchema = z.strictObject({ rules: z.array(signatureRuleSchema).max(ruleLimits.rules) });

// scratch: finds and shrinks differences
import fc from 'fast-check';
import { firstDifference } from './compare.ts';
import { histories, tastes } from './histories.ts';
const [works, length, runs, seed] = process.argv.slice(2).map(Number);
const taste = (tastes as any)[process.argv[6] ?? 'any'];
const short = (e: any) => {
  const { type, data: d, subject, incarnation } = e;
  const x = `${subject ?? ''}${incarnation === undefined ? '' : '@' + incarnation} `;
  if (type === 'headway.gate.attempted') { const { gate, outcome, stage, failures, diff, ...r } = d; return `${x}${gate} ${outcome} ${stage ?? '-'} [${(failures ?? []).map((f: any) => f.key)}] ${diff ? diff.hash.slice(0, 8) + (diff.files ? '+' : '') : diff} ${JSON.stringify(r)}`; }
  return `${x}${type.slice(8)} ${JSON.stringify(d)} ${type.includes('monitor')?'':e.id}`;
};
const seen = new Map<string, number>(); let n = 0;
const out = fc.check(fc.property(histories(works!, length!, taste), (h) => { n++; return firstDifference(h, (p) => { for (const w of Object.values(p.works) as any[]) { const k = w.rule + '/' + w.signal; seen.set(k, (seen.get(k) ?? 0) + 1); } if ((p.shared as any).length) seen.set('shared', (seen.get('shared') ?? 0) + 1); }) === null; }), { numRuns: runs!, ...(seed ? { seed } : {}) });
if (!out.failed) console.log('none in', out.numRuns, process.env.SEEN ? [...seen].toSorted().map((x) => x.join(':')).join(' ') : '');
else {
  if (out.counterexample===null||out.errorInstance&&!String(out.errorInstance).includes('Property failed')) console.log(out.errorInstance);
  const d = firstDifference(out.counterexample![0])!;
  console.log('seed', out.seed, 'run', out.numRuns, 'shrinks', out.numShrinks);
  for (const e of d.events) console.log('  ' + short(e));
  const f: any = d.fold, r: any = d.reference;
  for (const w of Object.keys(r.works)) for (const k of Object.keys(r.works[w])) if (r.works[w][k] !== f.works[w][k]) console.log(`  ${w}.${k}: fold=${f.works[w][k]} ref=${r.works[w][k]}`);
  if (JSON.stringify(f.shared) !== JSON.stringify(r.shared)) console.log('  shared fold=', f.shared, 'ref=', r.shared);
  for (const k of Object.keys(r.counts)) if (f.counts[k] !== r.counts[k]) console.log(`  counts.${k}: fold=${f.counts[k]} ref=${r.counts[k]}`);
}

import { expect, test } from 'vitest';
import { assets, contentSecurityPolicy, FLEET_ROWS, renderFleet, renderWork } from '../src/index.ts';
import { assessment, brief, minutesAgo, page, signal, signals, timeline, work, works } from './example-fleet.ts';

const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>`;
const worksIn = (html: string): string[] =>
  [...html.matchAll(/data-work="([^"]*)" data-class/g)].map((match) => match[1] as string);
const rowOf = (html: string, id: string): string =>
  (html.split('<tr ').find((row) => row.includes(`data-work="${id}"`)) ?? '').split('</tr>')[0] as string;

test('red rows come first, then the longest in their class, then blocked ones, and finished works last', () => {
  const shuffled = [...works].reverse();
  expect(worksIn(renderFleet({ works: shuffled, signals, ...page }))).toEqual([
    'PAY-1184 migrate refunds to the ledger',
    'CHK-301',
    'CHK-302',
    'W-1',
    'DOC-77 rewrite the upgrade guide',
    'INF-9 pin base images',
    'API-42',
    'WEB-310 keyboard trap in the date picker',
    'WEB-311',
    'SRCH-12',
    'SRCH-13',
    'PAY-1180',
  ]);
});

test('a row has the work, its agent, phase, class, attempts, evidence, cost and reason, and the open redirect', () => {
  const row = rowOf(renderFleet({ works, signals, ...page }), 'W-1');
  for (const told of [
    'href="/works/W-1"',
    'claude-7',
    'claimed',
    'stagnating',
    '>5<',
    '12 min ago',
    'same-failure',
    '$3.07',
  ]) {
    expect(row).toContain(told);
  }
  expect(row).toContain('The gate test failed 3 times running with the same failing set on the same diff state.');
  expect(row).toContain('>3f9a12cd3f…<');
  expect(row).toContain(`data-copy="headway ack ${'3f9a12cd'.repeat(8)} --agree"`);
  expect(row).toContain('search/index.test.ts &gt; ranks exact matches first &gt; AssertionError');
});

test('a work that still shows what somebody acknowledged says who did and how long that holds, on both pages', () => {
  const answer = (over: object = {}) =>
    signal('old', ['W'], {
      state: 'acknowledged',
      closing: { from: 'lead <b>', intent: 'AGREE' },
      closedAt: minutesAgo(3),
      ...over,
    });
  const told = (of: 'stagnating' | 'slow', signals: ReturnType<typeof signal>[], openSignal: string | null = null) =>
    rowOf(renderFleet({ works: [work('W', of, { openSignal })], signals, ...page }), 'W');
  const row = told('stagnating', [answer()]);
  for (const words of ['Acknowledged', 'lead &lt;b&gt;', 'AGREE', '3 min ago', 'until new evidence'])
    expect(row).toContain(words);
  expect(row).not.toContain('headway ack');
  // Of another class, or with a new signal, the old answer says nothing.
  expect(told('slow', [answer()])).not.toContain('Acknowledged');
  expect(told('stagnating', [answer({ kind: 'thrashing' })])).not.toContain('Acknowledged');
  expect(told('stagnating', [answer({ state: 'withdrawn' })])).not.toContain('Acknowledged');
  expect(told('stagnating', [answer(), signal('new', ['W'])], 'new')).not.toContain('Acknowledged');
  // A shared failure is answered for all its members; the newest answer counts.
  const shared = answer({
    kind: 'shared-failure',
    closing: { from: 'ana', intent: 'REJECT' },
    closedAt: minutesAgo(1),
  });
  expect(told('stagnating', [shared, answer()])).toContain('ana');

  const own = { work: work('W', 'stagnating', { openSignal: null }), timeline: [], briefMarkdown: null, ...page };
  expect(renderWork({ ...own, signals: [answer()] })).toContain('Acknowledged');
  expect(renderWork({ ...own, signals: [] })).not.toContain('Acknowledged');
});

test('a missing number is a dash with its reason, and a measured zero is a zero', () => {
  const html = renderFleet({
    works: [
      work('none', 'slow', { costUsd: null, since: null, worker: null, assessment: null }),
      work('zero', 'slow', { costUsd: 0, attempts: 0 }),
      work('odd', 'slow', { costUsd: Number.NaN, since: 'yesterday' }),
    ],
    signals: [],
    ...page,
  });
  const none = rowOf(html, 'none');
  expect(none).not.toContain('$0');
  for (const reason of [
    'no cost was reported for this work',
    'the evidence behind this class carries no time',
    'no worker has claimed this work',
    'not assessed yet',
  ]) {
    expect(none).toMatch(new RegExp(`title="${reason}[^"]*"><span aria-hidden="true">–<`));
  }
  expect(rowOf(html, 'zero')).toContain('$0.00');
  expect(rowOf(html, 'odd')).not.toContain('NaN');
  expect(rowOf(html, 'odd')).toContain('the reported time cannot be read');
});

test('a shared failure is told once above the table, and its works only point to it', () => {
  const html = renderFleet({ works, signals, ...page });
  const id = '5ad2e09b'.repeat(8);
  expect(html.split(`data-copy="headway ack ${id} --agree"`)).toHaveLength(2);
  expect(html.indexOf(`id="shared-${id}"`)).toBeLessThan(html.indexOf('<table'));
  for (const member of ['CHK-301', 'CHK-302']) {
    expect(rowOf(html, member)).toContain(`href="#shared-${id}"`);
    expect(rowOf(html, member)).not.toContain('headway ack');
  }
});

test('a member that names no open signal itself still points to the shared failure', () => {
  const member = work('W-9', 'stagnating');
  const html = renderFleet({
    works: [member],
    signals: [signal('s1', ['W-9', 'W-8'], { kind: 'shared-failure' })],
    ...page,
  });
  expect(rowOf(html, 'W-9')).toContain('href="#shared-s1"');
});

test('a closed signal leaves no redirect, even where the work still names it', () => {
  const closed = signal('s1', ['W-1'], { state: 'withdrawn', closedAt: minutesAgo(1) });
  expect(
    renderFleet({ works: [work('W-1', 'stagnating', { openSignal: 's1' })], signals: [closed], ...page }),
  ).not.toContain('headway ack');
});

test('an open signal that is not among those given is still named with its command', () => {
  const html = renderFleet({ works: [work('W-1', 'stagnating', { openSignal: 'abc' })], signals: [], ...page });
  expect(rowOf(html, 'W-1')).toContain('headway ack abc --agree');
});

test('an empty fleet says what to do next', () => {
  const html = renderFleet({ works: [], signals: [], ...page });
  expect(html).toContain('headway gate test --work W-1 -- npm test');
  expect(html).toMatch(/<section id="empty">/);
  expect(html).toMatch(/<div id="fleet" hidden="">/);
  expect(renderFleet({ works, signals, ...page })).toMatch(/<section id="empty" hidden="">/);
});

test('what reporters write is text in every place of both pages', () => {
  const all = work(hostile, 'stagnating', {
    worker: hostile,
    orchestrator: hostile,
    lane: hostile,
    openSignal: hostile,
    assessment: assessment('stagnating', {
      gate: hostile,
      reason: hostile,
      failures: [hostile],
      delta: { added: 1, removed: 1 },
    }),
  });
  const told = [
    signal(hostile, [hostile], { gate: hostile, signature: hostile, reason: hostile, to: [hostile] }),
    signal(`${hostile}2`, [hostile, 'other'], { kind: 'shared-failure', reason: hostile }),
  ];
  const facts = timeline.map((entry) => ({
    ...entry,
    data: Object.fromEntries(Object.keys(entry.data as object).map((name) => [name, hostile])),
  }));
  const frame = { ...page, tenant: hostile, position: hostile };
  const pages = [
    renderFleet({ works: [all], signals: told, ...frame }),
    renderWork({ work: all, timeline: facts, signals: told, briefMarkdown: hostile, ...frame }),
  ];
  for (const html of pages) {
    expect(html).toContain('&lt;img src=x');
    expect(html).not.toContain('<img');
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).not.toMatch(/ on[a-z]+=(?!alert\(2\)&gt;)/);
  }
  expect(pages[0]).toContain(`href="/works/${encodeURIComponent(hostile).replaceAll("'", '&#39;')}"`);
});

test('any work id can be linked to, and a command is quoted for the shell', () => {
  const html = renderFleet({
    works: [work('\ud800/../a b', 'stagnating', { openSignal: "a'b; rm" })],
    signals: [],
    ...page,
  });
  expect(html).toContain('href="/works/%EF%BF%BD%2F..%2Fa%20b"');
  expect(html).toContain('headway ack &#39;a&#39;\\&#39;&#39;b; rm&#39; --agree');
});

test('nothing is inline and nothing comes from elsewhere: the strict policy holds', () => {
  for (const html of [
    renderFleet({ works, signals, ...page }),
    renderWork({ work: work('W-1', 'slow'), timeline, signals, briefMarkdown: brief, ...page }),
  ]) {
    expect(html).not.toMatch(/<style|style="|<script(?! type="module" src="\/assets\/)/);
    const asked = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]*)"/g)].map((match) => match[1] as string);
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.filter((path) => !assets.has(path))).toEqual([]);
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  }
  expect(contentSecurityPolicy).not.toContain('unsafe');
});

test('scripts import only what is served, under names that change with the content', () => {
  const scripts = [...assets].filter(([path]) => path.endsWith('.js'));
  const imported = scripts.flatMap(([, { body }]) =>
    [...body.matchAll(/from '([^']+)'/g)].map((match) => match[1] as string),
  );
  expect(imported.length).toBeGreaterThan(5);
  expect(imported.filter((path) => !assets.has(path))).toEqual([]);
  for (const [path, { cacheControl }] of assets) {
    expect(path).toMatch(/^\/assets\/[a-z-]+\.[0-9a-f]{16}\.(js|css|svg)$/);
    expect(cacheControl).toContain('immutable');
  }
});

test('more works than a browser can show are cut off at the least urgent, and the page says so', () => {
  const many = Array.from({ length: FLEET_ROWS + 3 }, (_none, index) =>
    work(`W-${index}`, index === FLEET_ROWS + 2 ? 'thrashing' : 'slow'),
  );
  const html = renderFleet({ works: many, signals: [], ...page });
  expect(worksIn(html)).toHaveLength(FLEET_ROWS);
  expect(worksIn(html)[0]).toBe(`W-${FLEET_ROWS + 2}`);
  expect(html).toContain(`The ${FLEET_ROWS} most urgent of ${FLEET_ROWS + 3} works are shown.`);
});

test('the page of a work shows class, redirect and every fact, the newest first', () => {
  const html = renderWork({
    work: works[1] ?? work('W-1', 'slow'),
    timeline: [...timeline].reverse(),
    signals,
    briefMarkdown: brief,
    ...page,
  });
  expect(html).toContain(`headway ack ${'3f9a12cd'.repeat(8)} --agree`);
  const order = [...html.matchAll(/data-entry="(\d+)"/g)].map((match) => Number(match[1]));
  expect(order).toEqual(timeline.map((entry) => entry.entry).sort((a, b) => b - a));
  for (const told of [
    'commit 8f31c0de9a',
    'checkpoint by worker',
    'signal raised',
    'cost not measured',
    'diff not observable',
    '# Trajectory redirect',
  ]) {
    expect(html).toContain(told);
  }
});

test('an assessment that says the same again is no entry of the timeline', () => {
  const again = { ...timeline[13], entry: 999 } as (typeof timeline)[number];
  const html = renderWork({
    work: work('W-1', 'slow'),
    timeline: [...timeline, again],
    signals: [],
    briefMarkdown: null,
    ...page,
  });
  expect(html).not.toContain('data-entry="999"');
  expect(html).not.toContain('Redirect');
});

test('facts without the members that are expected are shown without them', () => {
  const bare = timeline.map((entry) => ({ ...entry, data: null, time: null }));
  const html = renderWork({ work: work('W-1', 'slow'), timeline: bare, signals: [], briefMarkdown: null, ...page });
  expect(html).not.toMatch(/undefined|NaN|\[object/);
  expect(html).toContain('unnamed gate');
});

const luminance = (hex: string): number => {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a: string, b: string): number => {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
};

test('every colour of text has the contrast of WCAG AA on every ground, light and dark', () => {
  const style = [...assets].find(([path]) => path.endsWith('.css'))?.[1].body ?? '';
  const schemes = [...style.matchAll(/:root \{([^}]*)\}/g)].map((match) =>
    Object.fromEntries(
      [...(match[1] as string).matchAll(/--([a-z-]+): (#[0-9a-f]{6})/g)].map((one) => [one[1], one[2]]),
    ),
  );
  expect(schemes).toHaveLength(2);
  const texts = [
    'text',
    'muted',
    'accent',
    'thrashing',
    'stagnating',
    'awaiting-wake',
    'unknown',
    'slow',
    'productive',
    'finished',
  ];
  const weak = schemes.flatMap((scheme) =>
    ['ground', 'surface', 'raised', 'urgent-ground', 'row-ground', 'flash'].flatMap((ground) =>
      texts
        .filter((text) => !(contrast(scheme[text] as string, scheme[ground] as string) >= 4.5))
        .map((text) => `${text} on ${ground}`),
    ),
  );
  expect(weak).toEqual([]);
});
